//! The types of answers, and with what the head of all answers of one type begins.

use axum::http::header::{CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue};

/// The type of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentType {
    Json,
    Packed,
    Arrow,
    Parquet,
    JsonLines,
    MessagePack,
    Csv,
    Xml,
    Amf,
}

impl ContentType {
    /// What the header `Content-Type` says.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ContentType::Json => "application/json",
            ContentType::Packed => "application/vnd.tamtam.rows",
            ContentType::Arrow => "application/vnd.apache.arrow.stream",
            ContentType::Parquet => "application/vnd.apache.parquet",
            ContentType::JsonLines => "application/jsonl",
            ContentType::MessagePack => "application/vnd.msgpack",
            ContentType::Csv => "text/csv; charset=utf-8; header=present",
            ContentType::Xml => "text/xml; charset=utf-8",
            ContentType::Amf => "application/x-amf",
        }
    }

    const fn value(self) -> HeaderValue {
        macro_rules! constant {
            ($($kind:ident),*) => {
                match self {
                    // Made when this is compiled: each byte is looked at then.
                    $(ContentType::$kind => const { HeaderValue::from_static(ContentType::$kind.name()) },)*
                }
            };
        }
        constant!(
            Json,
            Packed,
            Arrow,
            Parquet,
            JsonLines,
            MessagePack,
            Csv,
            Xml,
            Amf
        )
    }

    /// The head of an answer of this type: the type, that it is not to be taken for another, and on what it depends.
    pub(crate) fn head(self) -> HeaderMap {
        // HTTP keeps it for the next request of the connection, which has room in it as it is.
        let mut head = HeaderMap::with_capacity(USUAL_LINES);
        // The first, by which the head is known to have it.
        head.insert(
            X_CONTENT_TYPE_OPTIONS,
            const { HeaderValue::from_static(NOSNIFF) },
        );
        head.insert(CONTENT_TYPE, self.value());
        head.insert(VARY, const { HeaderValue::from_static(VARYING) });
        head
    }
}

/// So many lines most heads of requests do not exceed.
const USUAL_LINES: usize = 6;

/// On what an answer depends.
pub(crate) const VARYING: &str = "accept, accept-encoding, origin";

/// What is JSON is not to be taken for a page.
pub(crate) const NOSNIFF: &str = "nosniff";

/// Whether a head says already that its answer is not to be taken for another type, as those of [`ContentType::head`] do.
pub(crate) fn is_marked(head: &HeaderMap) -> bool {
    head.keys().next() == Some(&X_CONTENT_TYPE_OPTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_its_type_and_is_marked() {
        for kind in [ContentType::Json, ContentType::Csv, ContentType::Amf] {
            let head = kind.head();
            assert_eq!(head[CONTENT_TYPE], kind.name());
            assert_eq!(head[VARY], VARYING);
            assert_eq!(head[X_CONTENT_TYPE_OPTIONS], "nosniff");
            assert!(is_marked(&head) && head.len() == 3);
        }
        assert!(!is_marked(&HeaderMap::new()));
    }
}
