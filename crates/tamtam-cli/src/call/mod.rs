//! `tamtam call`: calls a method of a gateway and prints the answer.

pub mod arguments;

use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use tamtam_gateway::{Client, RawStream, RowParts, Value};
use tamtam_rows::Rows;

use crate::client;
use crate::printable::{printable, printable_json, printable_lines};
use crate::rows::print_table;
use crate::standard_output;
use arguments::{CallArguments, Form};

/// Calls the method, and prints its answer: a table, or JSON. A fault is printed as an error, and the program ends with 1.
///
/// # Errors
/// If the server cannot be reached, or its answer cannot be read.
pub fn command(arguments: &CallArguments) -> Result<ExitCode> {
    client::run(call(arguments), |fault, err| {
        writeln!(err, "{}", printable_lines(&fault.to_string()))?;
        if let Some(detail) = fault.get_detail() {
            writeln!(err, "{}", printable_json(&detail.to_json()))?;
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
    match arguments.form {
        Some(form) => {
            let answer = client.raw_stream(method, &sent, form.media_type());
            write_as_it_comes(answer.await?).await
        }
        None => {
            let answer = client.raw_stream(method, &sent, TABLE_OR_JSON).await?;
            if answer.content_type() == Form::Rows.media_type() {
                show_table(answer.into_rows().await?, arguments.rows).await
            } else {
                show_json(answer).await
            }
        }
    }
}

/// A table comes packed, all else as JSON.
const TABLE_OR_JSON: &str = "application/vnd.tamtam.rows, application/json;q=0.9";

/// The bytes of the answer, however many there are.
async fn write_as_it_comes(mut answer: RawStream) -> Result<()> {
    let content_type = answer.content_type().to_owned();
    let is_text = content_type.starts_with("text/") || content_type.contains("json");
    if !is_text && stdout().is_terminal() {
        bail!("the answer is {content_type}, which is nothing for a terminal: write it to a file");
    }
    let mut out = standard_output::lock();
    let mut ends_line = false;
    while let Some(piece) = answer.next().await? {
        out.write_all(&piece)?;
        ends_line = piece.ends_with(b"\n");
    }
    if is_text && !ends_line {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// The first rows of a table, and how many it has: the others are counted and not kept.
async fn show_table(mut table: RowParts, most: usize) -> Result<()> {
    let mut shown = Rows::empty(table.schema().clone());
    let mut count = 0;
    while let Some(part) = table.next().await? {
        count += part.len() as u64;
        let wanted = part.len().min(most - shown.len());
        if wanted > 0 {
            shown.append(&part.part(0..wanted))?;
        }
    }
    print_table(&shown, count, &mut standard_output::lock())
}

async fn show_json(mut answer: RawStream) -> Result<()> {
    let mut text = Vec::new();
    while let Some(piece) = answer.next().await? {
        text.extend_from_slice(&piece);
        if text.len() > Client::USUAL_MOST_BYTES {
            bail!("the answer is too large to be shown: write it to a file by --as json");
        }
    }
    serde_json::from_slice::<IgnoredAny>(&text)?;
    let text = printable_json(str::from_utf8(&text)?);
    let mut out = BufWriter::new(standard_output::lock());
    write_indented(&text, &mut out)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// So many levels are indented; what is deeper stands below the last of them. A server may nest as deep as its answer is long.
const MOST_LEVELS: usize = 64;

/// Writes JSON with a line for each member and each item: in their order, and numbers and texts as the server has written them.
fn write_indented(json: &str, out: &mut impl Write) -> io::Result<()> {
    let (mut depth, mut in_text, mut is_escaped) = (0, false, false);
    let end_line = |out: &mut dyn Write, depth: usize| {
        let width = 2 * depth.min(MOST_LEVELS);
        write!(out, "\n{:width$}", "")
    };
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if in_text {
            put(letter, out)?;
            in_text = is_escaped || letter != '"';
            is_escaped = !is_escaped && letter == '\\';
            continue;
        }
        match letter {
            '{' | '[' => {
                put(letter, out)?;
                while letters.next_if(char::is_ascii_whitespace).is_some() {}
                match letters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => put(end, out)?,
                    None => {
                        depth += 1;
                        end_line(out, depth)?;
                    }
                }
            }
            '}' | ']' => {
                depth -= 1;
                end_line(out, depth)?;
                put(letter, out)?;
            }
            ',' => {
                put(letter, out)?;
                end_line(out, depth)?;
            }
            ':' => out.write_all(b": ")?,
            space if space.is_ascii_whitespace() => {}
            other => {
                in_text = other == '"';
                put(other, out)?;
            }
        }
    }
    Ok(())
}

fn put(letter: char, out: &mut impl Write) -> io::Result<()> {
    out.write_all(letter.encode_utf8(&mut [0; 4]).as_bytes())
}

/// Each method with the names of its arguments, and what it does; each link.
fn show_methods(described: &Value) -> Result<()> {
    let Described { services, links } = described.clone().to()?;
    let mut out = standard_output::lock();
    for service in services {
        for method in service.methods {
            let arguments = method.arguments.join(", ");
            let name = format!("{}.{}({arguments})", service.name, method.name);
            let (name, about) = (printable(&name), printable_lines(&method.about));
            writeln!(out, "{name:<30} {about}")?;
        }
    }
    for link in links {
        let path = format!("/link/{}", link.name);
        let (path, about) = (printable(&path), printable_lines(&link.about));
        writeln!(out, "{path:<30} {about}")?;
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

    use super::{MOST_LEVELS, read, write_indented};

    fn indented(json: &str) -> String {
        let mut out = Vec::new();
        write_indented(json, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_stay_in_their_order_and_numbers_as_they_were_written() {
        let json = r#"{"z":1.50e1,"a":[ ],"m":{"b":[1,{"x":null}],"a":"{\"[,:\\"},"e":{}}"#;
        let shown = r#"{
  "z": 1.50e1,
  "a": [],
  "m": {
    "b": [
      1,
      {
        "x": null
      }
    ],
    "a": "{\"[,:\\"
  },
  "e": {}
}"#;
        assert_eq!(indented(json), shown);
        // What is indented stays so.
        assert_eq!(indented(shown), shown);
        assert_eq!(indented("-7"), "-7");
    }

    #[test]
    fn an_answer_as_deep_as_it_is_long_is_shown_in_lines_of_bounded_length() {
        const DEPTH: usize = 100_000;
        let json = format!("{}7{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        let shown = indented(&json);
        assert_eq!(shown.lines().count(), 2 * DEPTH + 1);
        let longest = shown.lines().map(str::len).max();
        assert_eq!(longest, Some(2 * MOST_LEVELS + 1));
        let letters = |text: &str| text.replace([' ', '\n'], "");
        assert!(letters(&shown) == json);
    }

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
