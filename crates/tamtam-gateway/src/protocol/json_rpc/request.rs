//! What comes by JSON-RPC: one request, or a batch of them, read without a tree around their arguments.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::value::Within;
use crate::{Arguments, Fault, Limits, Value, json};

/// What has come.
pub(super) enum Came<'a> {
    One(Asked<'a>),
    Batch {
        /// As many as a batch may have, at most.
        requests: Vec<Asked<'a>>,
        /// How many there were.
        count: usize,
    },
}

/// What may be a request.
pub(super) enum Asked<'a> {
    Members(Members<'a>),
    /// It is no object.
    Other,
}

/// The members of a request that count, as they came: the last one of each name.
#[derive(Default)]
pub(super) struct Members<'a> {
    id: Option<Value>,
    /// What is not a text is `None` inside.
    version: Option<Option<Cow<'a, str>>>,
    method: Option<Option<Cow<'a, str>>>,
    params: Option<Value>,
}

/// One request.
pub(super) struct Request<'a> {
    /// Nothing: no answer is wanted.
    pub(super) id: Option<Value>,
    pub(super) method: Cow<'a, str>,
    pub(super) arguments: Arguments,
}

/// What is in a body.
///
/// # Errors
/// If it is no JSON, or exceeds the limits.
pub(super) fn read<'a>(body: &'a [u8], limits: &Limits) -> Result<Came<'a>, Fault> {
    json::read_within(body, limits, |within, source| {
        let most = limits.batch;
        OneOrMany { within, most }.deserialize(source)
    })
}

/// The number of the one request in a body that exceeds the limits, wherever it stands; `null` for a batch, or if there is none by which to
/// answer. No value of the body is made for it.
pub(super) fn id_of(body: &[u8]) -> Value {
    #[derive(serde::Deserialize)]
    struct Numbered<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    // A list would be read as the members of a request, from the first on.
    let begin = body.iter().find(|byte| !byte.is_ascii_whitespace());
    let is_one = begin == Some(&b'{');
    let numbered = is_one.then(|| serde_json::from_slice::<Numbered<'_>>(body).ok());
    let id = numbered.flatten().and_then(|Numbered { id }| {
        let one = Limits {
            values: 1,
            ..Limits::USUAL
        };
        json::read(id.get().as_bytes(), &one).ok()
    });
    id.filter(is_id).unwrap_or_default()
}

/// Whether a request may be answered by this.
fn is_id(id: &Value) -> bool {
    match id {
        Value::Null | Value::Text(_) | Value::Int(_) | Value::Unsigned(_) => true,
        // An integer of more bits would come back as another one.
        Value::Float(number) => number.abs() < i64::MAX as f64,
        _ => false,
    }
}

impl<'a> Asked<'a> {
    /// The request; otherwise the number by which to answer, and why it is none.
    pub(super) fn request(self) -> Result<Request<'a>, (Value, &'static str)> {
        let Asked::Members(members) = self else {
            return Err((Value::Null, "a request is an object"));
        };
        let Members {
            id,
            version,
            method,
            params,
        } = members;
        if id.as_ref().is_some_and(|id| !is_id(id)) {
            let reason = "the id is a text, a number of at most 64 bits or null";
            return Err((Value::Null, reason));
        }
        let known = |id: Option<Value>| id.unwrap_or_default();
        if version.flatten().as_deref() != Some("2.0") {
            return Err((known(id), r#"the member jsonrpc has to be "2.0""#));
        }
        let Some(Some(method)) = method else {
            return Err((known(id), "the member method has to be a text"));
        };
        let arguments = match params {
            None => Arguments::none(),
            Some(Value::List(values)) => Arguments::positional(values),
            Some(Value::Map(members)) => Arguments::named(members),
            Some(_) => return Err((known(id), "the member params is a list or an object")),
        };
        Ok(Request {
            id,
            method,
            arguments,
        })
    }
}

/// The visits of what is neither a list nor an object, nor a text where `$text` is not there.
macro_rules! visits_of_scalars {
    ($given:expr $(, $text:ident)?) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($given)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($given)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($given)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($given)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($given)
        }

        $(fn $text<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($given)
        })?
    };
}

/// What lies one deeper.
fn inner<'b>(within: &Within<'b>) -> Within<'b> {
    Within {
        budget: within.budget,
        depth: within.depth + 1,
    }
}

/// Reads a request, or a batch.
struct OneOrMany<'b> {
    within: Within<'b>,
    most: usize,
}

impl<'de> DeserializeSeed<'de> for OneOrMany<'_> {
    type Value = Came<'de>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Came<'de>, D::Error> {
        let Within { budget, depth } = self.within;
        budget.take(depth).map_err(D::Error::custom)?;
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneOrMany<'_> {
    type Value = Came<'de>;

    visits_of_scalars!(Came::One(Asked::Other), visit_str);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a request or a batch")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Came<'de>, A::Error> {
        One(self.within).visit_map(members).map(Came::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Came<'de>, A::Error> {
        let (mut requests, mut count) = (Vec::new(), 0);
        while let Some(request) = list.next_element_seed(One(inner(&self.within)))? {
            count += 1;
            // A batch of more is refused, whatever is in it.
            if count <= self.most {
                requests.push(request);
            }
        }
        Ok(Came::Batch { requests, count })
    }
}

/// Reads what may be a request.
struct One<'b>(Within<'b>);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Asked<'de>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Asked<'de>, D::Error> {
        let Within { budget, depth } = self.0;
        budget.take(depth).map_err(D::Error::custom)?;
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = Asked<'de>;

    visits_of_scalars!(Asked::Other, visit_str);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Asked<'de>, A::Error> {
        let mut read = Members::default();
        while let Some(name) = members.next_key()? {
            let within = inner(&self.0);
            match name {
                Name::Id => read.id = Some(members.next_value_seed(within)?),
                Name::Version => read.version = Some(members.next_value_seed(Text(within))?),
                Name::Method => read.method = Some(members.next_value_seed(Text(within))?),
                Name::Params => read.params = Some(members.next_value_seed(within)?),
                // Others add members of their own.
                Name::Other => drop(members.next_value_seed(within)?),
            }
        }
        Ok(Asked::Members(read))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Asked<'de>, A::Error> {
        while list.next_element_seed(inner(&self.0))?.is_some() {}
        Ok(Asked::Other)
    }
}

/// The name of a member.
enum Name {
    Id,
    Version,
    Method,
    Params,
    Other,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Name, D::Error> {
        struct Names;

        impl Visitor<'_> for Names {
            type Value = Name;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a member")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(match name {
                    "id" => Name::Id,
                    "jsonrpc" => Name::Version,
                    "method" => Name::Method,
                    "params" => Name::Params,
                    _ => Name::Other,
                })
            }
        }

        source.deserialize_identifier(Names)
    }
}

/// Reads a text without a copy where it has no escapes; nothing if it is something else.
struct Text<'b>(Within<'b>);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        let Within { budget, depth } = self.0;
        budget.take(depth).map_err(D::Error::custom)?;
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = Option<Cow<'de, str>>;

    visits_of_scalars!(None);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_key::<Name>()?.is_some() {
            members.next_value_seed(inner(&self.0))?;
        }
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element_seed(inner(&self.0))?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            values: 12,
            depth: 3,
            batch: 2,
            ..Limits::default()
        }
    }

    /// The id and the reason by which a request is refused, or its method and arguments.
    fn one(body: &str) -> String {
        match read(body.as_bytes(), &limits()) {
            Ok(Came::One(asked)) => match asked.request() {
                Ok(Request {
                    id,
                    method,
                    arguments,
                }) => {
                    let id = id.map(|id| id.to_json());
                    let arguments = arguments.into_value().to_json();
                    format!("{method} {arguments} {}", id.as_deref().unwrap_or("-"))
                }
                Err((id, reason)) => format!("{}: {reason}", id.to_json()),
            },
            Ok(Came::Batch { requests, count }) => format!("{} of {count}", requests.len()),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn a_request_is_read_or_refused_by_its_number() {
        let version = r#"the member jsonrpc has to be "2.0""#;
        for (body, read) in [
            (
                r#"{"jsonrpc":"2.0","method":"m","id":7}"#,
                "m [] 7".to_owned(),
            ),
            (
                r#"{"id":"a","params":{"x":1},"method":"\u006d","jsonrpc":"2.0"}"#,
                r#"m {"x":1} "a""#.to_owned(),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":[1],"more":{"of":[]}}"#,
                "m [1] -".to_owned(),
            ),
            (
                r#"{"jsonrpc":"1.0","jsonrpc":"2.0","method":"n","method":"m","id":null}"#,
                "m [] null".to_owned(),
            ),
            (r#"{"method":"m","id":7}"#, format!("7: {version}")),
            (
                r#"{"jsonrpc":{"2.0":1},"method":"m","id":7}"#,
                format!("7: {version}"),
            ),
            (
                r#"{"jsonrpc":2.0,"method":"m","id":7}"#,
                format!("7: {version}"),
            ),
            (
                r#"{"jsonrpc":"2.0","method":["m"],"id":7}"#,
                "7: the member method has to be a text".to_owned(),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":"x","id":7}"#,
                "7: the member params is a list or an object".to_owned(),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","id":[7]}"#,
                "null: the id is a text, a number of at most 64 bits or null".to_owned(),
            ),
            ("null", "null: a request is an object".to_owned()),
            (r#""m""#, "null: a request is an object".to_owned()),
            ("-1", "null: a request is an object".to_owned()),
            ("[]", "0 of 0".to_owned()),
            ("[1,[2],{}]", "2 of 3".to_owned()),
        ] {
            assert_eq!(one(body), read, "{body}");
        }
    }

    #[test]
    fn what_exceeds_the_limits_is_refused_wherever_it_stands() {
        let many = "[1,2,3,4,5,6,7,8,9,10,11,12]";
        let deep = "[[[[1]]]]";
        for (inside, reason) in [(many, "too many values"), (deep, "too deep")] {
            for body in [
                inside.to_owned(),
                format!(r#"{{"id":{inside}}}"#),
                format!(r#"{{"jsonrpc":{inside}}}"#),
                format!(r#"{{"method":{{"m":{inside}}}}}"#),
                format!(r#"{{"params":{inside}}}"#),
                format!(r#"{{"more":{inside}}}"#),
                format!(r#"[{{"params":{inside}}}]"#),
            ] {
                let told = one(&body);
                assert!(told.contains(reason), "{body}: {told}");
            }
        }
    }

    #[test]
    fn the_number_of_what_exceeds_the_limits_is_found_wherever_it_stands() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        for (body, id) in [
            (format!(r#"{{"id":7,"params":{deep}}}"#), "7"),
            (
                format!(r#" {{"params":{deep},"id":"a\u0062"}} "#),
                r#""ab""#,
            ),
            (format!(r#"{{"params":{deep},"id":-1.5}}"#), "-1.5"),
            (format!(r#"{{"params":{deep}}}"#), "null"),
            (
                format!(r#"{{"params":[{{"id":7}}],"more":{deep}}}"#),
                "null",
            ),
            (format!(r#"{{"id":{deep}}}"#), "null"),
            (r#"{"id":[]}"#.to_owned(), "null"),
            (format!(r#"[{{"id":7,"params":{deep}}}]"#), "null"),
            // It is no JSON behind what exceeds them.
            (format!(r#"{{"id":7,"params":{deep}"#), "null"),
        ] {
            let found = id_of(body.as_bytes());
            assert_eq!(found.to_json(), id, "{:.40}", body);
        }
    }
}
