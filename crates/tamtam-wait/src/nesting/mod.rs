//! Values that are nested no deeper than a limit, whatever the bytes say that they are read from.
//!
//! A format such as postcard reads a list in a list in a list by one call in another: a few megabytes of them are more calls than a stack has
//! room for, and a stack that overflows ends the process. So serde's traits are put between a value and its format here, in both directions,
//! and count the levels: an optional value that is there, a sequence, a tuple, a map, a struct and an enum are one each. What is no more than
//! another value with a name, such as `struct Meters(f64)`, is none. The count goes down by value; where a type does not contain itself, the
//! compiler knows it everywhere, and nothing of it is left.

mod reading;
mod writing;

use core::cell::Cell;
use core::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

/// So many levels a value may have.
pub const MOST_LEVELS: u8 = 128;

/// Why a value was not read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestingError<E> {
    /// It has more than [`MOST_LEVELS`].
    TooDeep,
    /// What its format says.
    Format(E),
}

impl<E: fmt::Display> fmt::Display for NestingError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NestingError::TooDeep => TooDeep.fmt(f),
            NestingError::Format(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for NestingError<E> {}

/// What a format is told, which may have no room for it.
struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is nested deeper than {MOST_LEVELS} levels")
    }
}

/// How many more levels there may be below a value.
#[derive(Clone, Copy)]
struct Level<'a> {
    left: u8,
    was_passed: &'a Cell<bool>,
}

impl Level<'_> {
    /// What is below.
    #[inline]
    fn below(self) -> Result<Self, TooDeep> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Level { left, ..self }),
            None => {
                self.was_passed.set(true);
                Err(TooDeep)
            }
        }
    }
}

/// Runs `work` at the top of a value.
#[inline]
fn from_the_top<R, E>(work: impl FnOnce(Level<'_>) -> Result<R, E>) -> Result<R, NestingError<E>> {
    let was_passed = Cell::new(false);
    let top = Level {
        left: MOST_LEVELS,
        was_passed: &was_passed,
    };
    work(top).map_err(|error| {
        if was_passed.get() {
            NestingError::TooDeep
        } else {
            NestingError::Format(error)
        }
    })
}

/// Reads a value.
///
/// # Errors
///
/// [`NestingError::TooDeep`] before the first level too many is read, and otherwise what the format says.
#[inline]
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, NestingError<D::Error>>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    from_the_top(|top| T::deserialize(reading::CountedInput::new(deserializer, top)))
}

/// Writes a value.
///
/// # Errors
///
/// [`NestingError::TooDeep`] before the first level too many is written, and otherwise what the format says.
#[inline]
pub fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, NestingError<S::Error>>
where
    T: Serialize + ?Sized,
    S: Serializer,
{
    from_the_top(|top| value.serialize(writing::CountedOutput::new(serializer, top)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// One level each, but for the name and the end.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    enum Node {
        End,
        Value(Box<Node>),
        Tuple(u8, Box<Node>),
        Fields { next: Box<Node> },
        List(Vec<Node>),
        Map(BTreeMap<u8, Node>),
        Maybe(Option<Box<Node>>),
        Pair((u8, Box<Node>)),
        Struct(Inner),
        Named(Name),
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Inner {
        next: Box<Node>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Name(Box<Node>);

    /// What is around a node, and how many levels that is.
    type Wrap = (fn(Node) -> Node, usize);

    fn wraps() -> [Wrap; 9] {
        [
            (|node| Node::Value(Box::new(node)), 1),
            (|node| Node::Tuple(1, Box::new(node)), 1),
            (
                |node| Node::Fields {
                    next: Box::new(node),
                },
                1,
            ),
            (|node| Node::List(vec![node]), 2),
            (|node| Node::Map(BTreeMap::from([(1, node)])), 2),
            (|node| Node::Maybe(Some(Box::new(node))), 2),
            (|node| Node::Pair((1, Box::new(node))), 2),
            (
                |node| {
                    Node::Struct(Inner {
                        next: Box::new(node),
                    })
                },
                2,
            ),
            (|node| Node::Named(Name(Box::new(node))), 1),
        ]
    }

    /// Of so many levels, the last of which is the end.
    fn nested(levels: usize, wrap: fn(Node) -> Node, each: usize) -> Node {
        let mut node = Node::End;
        let mut left = levels - 1;
        while left >= each {
            node = wrap(node);
            left -= each;
        }
        (0..left).fold(node, |node, _| Node::Value(Box::new(node)))
    }

    fn to_bytes(node: &Node) -> Result<Vec<u8>, NestingError<postcard::Error>> {
        let mut output = postcard::Serializer {
            output: postcard::ser_flavors::AllocVec::new(),
        };
        serialize(node, &mut output)?;
        Ok(postcard::ser_flavors::Flavor::finalize(output.output).unwrap())
    }

    fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, NestingError<postcard::Error>> {
        deserialize(&mut postcard::Deserializer::from_bytes(bytes))
    }

    #[test]
    fn so_many_levels_come_back_and_one_more_is_an_error_in_both_directions() {
        for (wrap, each) in wraps() {
            let most = nested(MOST_LEVELS.into(), wrap, each);
            let bytes = to_bytes(&most).unwrap();
            assert_eq!(bytes, postcard::to_allocvec(&most).unwrap());
            assert_eq!(from_bytes(&bytes), Ok(most));
            let more = nested(usize::from(MOST_LEVELS) + 1, wrap, each);
            assert_eq!(
                to_bytes(&more),
                Err(NestingError::TooDeep),
                "{each}: {more:?}"
            );
            let bytes = postcard::to_allocvec(&more).unwrap();
            assert_eq!(
                from_bytes::<Node>(&bytes),
                Err(NestingError::TooDeep),
                "{more:?}"
            );
        }
    }

    #[test]
    fn so_many_levels_go_as_text() {
        for (wrap, each) in wraps() {
            // The format's own limit counts brackets, of which there are up to two for a level.
            let some = nested(60, wrap, each);
            let mut text = Vec::new();
            serialize(&some, &mut serde_json::Serializer::new(&mut text)).unwrap();
            assert_eq!(text, serde_json::to_vec(&some).unwrap());
            let mut input = serde_json::Deserializer::from_slice(&text);
            assert_eq!(deserialize::<Node, _>(&mut input).unwrap(), some);
            let more = nested(usize::from(MOST_LEVELS) + 1, wrap, each);
            let mut output = serde_json::Serializer::new(Vec::new());
            assert!(matches!(
                serialize(&more, &mut output),
                Err(NestingError::TooDeep)
            ));
        }
    }

    #[test]
    fn megabytes_of_levels_are_an_error() {
        // Variants with one value, which are a byte each.
        let bytes = vec![1; 4 << 20];
        assert_eq!(from_bytes::<Node>(&bytes), Err(NestingError::TooDeep));
        #[derive(Debug, PartialEq, Deserialize)]
        struct Chain(Option<Box<Chain>>);
        assert_eq!(from_bytes::<Chain>(&bytes), Err(NestingError::TooDeep));
        // A value that is there is a level that text does not show: any is one in one in one.
        let mut input = serde_json::Deserializer::from_slice(b"1");
        assert!(matches!(
            deserialize::<Chain, _>(&mut input),
            Err(NestingError::TooDeep)
        ));
    }

    #[test]
    fn what_a_format_says_is_said() {
        let nothing = from_bytes::<Node>(&[]).unwrap_err();
        assert_eq!(
            nothing,
            NestingError::Format(postcard::Error::DeserializeUnexpectedEnd)
        );
        assert_eq!(
            nothing.to_string(),
            postcard::Error::DeserializeUnexpectedEnd.to_string()
        );
        assert_eq!(
            NestingError::<postcard::Error>::TooDeep.to_string(),
            "it is nested deeper than 128 levels"
        );
    }

    /// What says itself what it is, or is passed over, is as it is without a count.
    #[test]
    fn formats_that_say_what_a_value_is_are_understood() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(untagged)]
        enum Any {
            Number(i64),
            Text(String),
            List(Vec<Any>),
            Map(BTreeMap<String, Any>),
        }
        let text = r#"{"a":[1,"x",{"b":[]}],"c":-7}"#;
        let mut input = serde_json::Deserializer::from_str(text);
        let any: Any = deserialize(&mut input).unwrap();
        assert_eq!(any, serde_json::from_str(text).unwrap());
        let mut output = serde_json::Serializer::new(Vec::new());
        serialize(&any, &mut output).unwrap();
        assert_eq!(output.into_inner(), text.as_bytes());
        let mut input = serde_json::Deserializer::from_str(text);
        assert!(deserialize::<IgnoredAny, _>(&mut input).is_ok());
    }
}
