//! `tamtam call`: calls a method of a gateway and prints the answer.

pub mod arguments;

use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::Value as Json;
use tamtam_gateway::Value;

use crate::client;
use crate::rows::print_table;
use arguments::CallArguments;

/// Calls the method, and prints its answer: a table, or JSON. A fault is printed as an error, and the program ends with 1.
///
/// # Errors
/// If the server cannot be reached, or its answer cannot be read.
pub fn command(arguments: &CallArguments) -> Result<ExitCode> {
    client::run(call(arguments), |fault, err| {
        writeln!(err, "{fault}")?;
        if let Some(detail) = fault.get_detail() {
            writeln!(err, "{}", detail.to_json())?;
        }
        Ok(())
    })
}

async fn call(arguments: &CallArguments) -> Result<()> {
    let sent = read(&arguments.arguments)?;
    let client = arguments.server.connect().await?;
    let Some(method) = &arguments.method else {
        return show_methods(&client.services().await?);
    };
    if let Some(form) = arguments.form {
        let answer = client.raw(method, &sent, form.media_type()).await?;
        let is_text =
            answer.content_type.starts_with("text/") || answer.content_type.contains("json");
        if !is_text && stdout().is_terminal() {
            bail!(
                "the answer is {}, which is nothing for a terminal: write it to a file",
                answer.content_type
            );
        }
        let mut out = stdout().lock();
        out.write_all(&answer.body)?;
        if is_text && !answer.body.ends_with(b"\n") {
            out.write_all(b"\n")?;
        }
        out.flush()?;
        return Ok(());
    }
    let answer = client.call(method, &sent).await?;
    let mut out = stdout().lock();
    match answer {
        Value::Rows(rows) => {
            let shown = rows.len().min(arguments.rows);
            print_table(&rows.part(0..shown), rows.len() as u64, &mut out)
        }
        other => {
            let json: Json = serde_json::from_str(&other.to_json())?;
            writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
            Ok(())
        }
    }
}

/// Each method with the names of its arguments, and what it does; each link.
fn show_methods(described: &Value) -> Result<()> {
    let Described { services, links } = described.clone().to()?;
    let mut out = stdout().lock();
    for service in services {
        for method in service.methods {
            let arguments = method.arguments.join(", ");
            let name = format!("{}.{}({arguments})", service.name, method.name);
            writeln!(out, "{name:<30} {}", method.about)?;
        }
    }
    for link in links {
        let path = format!("/link/{}", link.name);
        writeln!(out, "{path:<30} {}", link.about)?;
    }
    Ok(())
}

/// What there is, as a server describes it.
#[derive(Deserialize)]
struct Described {
    services: Vec<DescribedService>,
    links: Vec<DescribedLink>,
}

#[derive(Deserialize)]
struct DescribedService {
    name: String,
    methods: Vec<DescribedMethod>,
}

#[derive(Deserialize)]
struct DescribedLink {
    name: String,
    about: String,
}

#[derive(Deserialize)]
struct DescribedMethod {
    name: String,
    about: String,
    arguments: Vec<String>,
}

/// The arguments: a list by their places, or an object with their names.
fn read(words: &[String]) -> Result<Json> {
    let value =
        |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()));
    let named: Vec<(&str, &str)> = words.iter().filter_map(|word| name_of(word)).collect();
    if named.is_empty() {
        return Ok(Json::Array(words.iter().map(|word| value(word)).collect()));
    }
    if named.len() < words.len() {
        bail!("give all arguments by their names (NAME=VALUE), or none");
    }
    let members = named.into_iter();
    Ok(Json::Object(
        members
            .map(|(name, text)| (name.to_owned(), value(text)))
            .collect(),
    ))
}

/// Name and value of `NAME=VALUE`, if it begins as a name.
fn name_of(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn arguments_are_json_or_text_by_place_or_by_name() {
        let of = |words: &[&str]| {
            read(
                &words
                    .iter()
                    .map(|&word| word.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of(&[]).unwrap(), json!([]));
        let placed = of(&["palette", "5", "-1.5", "[1]", "\"5\"", "1=2", ""]).unwrap();
        assert_eq!(placed, json!(["palette", 5, -1.5, [1], "5", "1=2", ""]));
        assert_eq!(
            of(&["set=palette", "count=5", "a="]).unwrap(),
            json!({"set": "palette", "count": 5, "a": ""})
        );
        assert!(of(&["set=palette", "5"]).is_err());
    }
}
