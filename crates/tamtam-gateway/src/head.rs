//! What a gateway looks at in the head of a request, found in one pass over its headers; and the answer of which the head alone is asked for.

use axum::body::{Body, HttpBody};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

/// What a gateway looks at in the head of a request.
///
/// Of a header that is one value the first line counts; the lines of one that is a list are one list, as RFC 9110 has it.
#[derive(Debug, Default)]
pub(crate) struct Head<'r> {
    pub(crate) host: Option<&'r HeaderValue>,
    /// There is a second line of it, which makes the request none of HTTP.
    pub(crate) has_two_hosts: bool,
    pub(crate) origin: Option<&'r HeaderValue>,
    pub(crate) authorization: Option<&'r HeaderValue>,
    pub(crate) content_type: Option<&'r HeaderValue>,
    pub(crate) content_encoding: Listed<'r>,
    pub(crate) accept: Listed<'r>,
    pub(crate) accept_encoding: Listed<'r>,
    pub(crate) if_none_match: Listed<'r>,
    pub(crate) range: Option<&'r HeaderValue>,
    pub(crate) if_range: Option<&'r HeaderValue>,
    pub(crate) request_id: Option<&'r HeaderValue>,
    pub(crate) traceparent: Option<&'r HeaderValue>,
    pub(crate) forwarded: Listed<'r>,
    pub(crate) x_forwarded_for: Listed<'r>,
}

/// A header that is a list.
#[derive(Debug, Default)]
pub(crate) enum Listed<'r> {
    #[default]
    Absent,
    Line(&'r HeaderValue),
    /// Joined by commas. What is no text is left out.
    Lines(String),
}

impl<'r> Head<'r> {
    pub(crate) fn of(headers: &'r HeaderMap) -> Head<'r> {
        let mut head = Head::default();
        // One look at each header that has come costs less than a look-up of each that may have come.
        for (name, value) in headers {
            match name.as_str() {
                "host" => {
                    head.has_two_hosts = head.host.is_some();
                    first(&mut head.host, value);
                }
                "origin" => first(&mut head.origin, value),
                "authorization" => first(&mut head.authorization, value),
                "content-type" => first(&mut head.content_type, value),
                "content-encoding" => head.content_encoding.add(value),
                "accept" => head.accept.add(value),
                "accept-encoding" => head.accept_encoding.add(value),
                "if-none-match" => head.if_none_match.add(value),
                "range" => first(&mut head.range, value),
                "if-range" => first(&mut head.if_range, value),
                "x-request-id" => first(&mut head.request_id, value),
                "traceparent" => first(&mut head.traceparent, value),
                "forwarded" => head.forwarded.add(value),
                "x-forwarded-for" => head.x_forwarded_for.add(value),
                _ => {}
            }
        }
        head
    }
}

fn first<'r>(known: &mut Option<&'r HeaderValue>, value: &'r HeaderValue) {
    known.get_or_insert(value);
}

/// The text of a header; nothing if there is none, or it is no text.
pub(crate) fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok()
}

impl<'r> Listed<'r> {
    fn add(&mut self, value: &'r HeaderValue) {
        let next = match self {
            Listed::Absent => Listed::Line(value),
            Listed::Line(first) => {
                let lines = [text(Some(first)), text(Some(value))];
                Listed::Lines(lines.into_iter().flatten().collect::<Vec<_>>().join(","))
            }
            Listed::Lines(lines) => {
                if let Some(value) = text(Some(value)) {
                    lines.push(',');
                    lines.push_str(value);
                }
                return;
            }
        };
        *self = next;
    }

    /// The list; nothing if there is none, or it is no text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Listed::Absent => None,
            Listed::Line(value) => text(Some(value)),
            Listed::Lines(lines) => Some(lines),
        }
    }
}

/// The answer to HEAD: what the one to GET would say of itself, and nothing behind it. HTTP/1 leaves a body away by itself, HTTP/2 sends what it
/// is given, and its clients end such a stream as an error. What keeps a place for the body, or makes it, ends here.
pub(crate) fn without_body(mut answer: Response) -> Response {
    let length = answer.body().size_hint().exact();
    // A body of none says nothing of itself: it may be of a status that has no body.
    if let Some(length) = length.filter(|length| *length > 0) {
        let known = answer.headers_mut().entry(CONTENT_LENGTH);
        known.or_insert_with(|| length.into());
    }
    *answer.body_mut() = Body::empty();
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn each_header_that_counts_is_found_among_others() {
        let names = [
            "host",
            "origin",
            "authorization",
            "content-type",
            "content-encoding",
            "accept",
            "accept-encoding",
            "if-none-match",
            "range",
            "if-range",
            "x-request-id",
            "traceparent",
            "forwarded",
            "x-forwarded-for",
        ];
        let mut all = HeaderMap::new();
        for name in names {
            all.append(
                format!("x-{name}")
                    .parse::<axum::http::HeaderName>()
                    .unwrap(),
                HeaderValue::from_static("other"),
            );
            all.append(name, HeaderValue::from_static(name));
        }
        let head = Head::of(&all);
        let found = [
            text(head.host),
            text(head.origin),
            text(head.authorization),
            text(head.content_type),
            head.content_encoding.text(),
            head.accept.text(),
            head.accept_encoding.text(),
            head.if_none_match.text(),
            text(head.range),
            text(head.if_range),
            text(head.request_id),
            text(head.traceparent),
            head.forwarded.text(),
            head.x_forwarded_for.text(),
        ];
        assert_eq!(found, names.map(Some));
        let none = HeaderMap::new();
        let head = Head::of(&none);
        assert!(head.host.is_none() && !head.has_two_hosts && head.range.is_none());
        assert_eq!(head.accept.text(), None);
    }

    #[test]
    fn lines_of_a_list_are_one_list_and_of_a_value_the_first_counts() {
        let headers = headers(&[
            ("accept", b"text/csv;q=0.5"),
            ("host", b"one"),
            ("accept", b"application/json, text/html"),
            ("host", b"other"),
            ("accept", b"*/*;q=0.1"),
            ("if-none-match", b"\"a\""),
        ]);
        let head = Head::of(&headers);
        assert_eq!(
            head.accept.text(),
            Some("text/csv;q=0.5,application/json, text/html,*/*;q=0.1")
        );
        assert_eq!((text(head.host), head.has_two_hosts), (Some("one"), true));
        assert_eq!(head.if_none_match.text(), Some("\"a\""));
    }

    #[test]
    fn what_is_no_text_counts_as_absent() {
        let headers = headers(&[
            ("range", b"rows=\xFF"),
            ("accept", b"\xFF"),
            ("accept-encoding", b"\xFF"),
            ("accept-encoding", b"gzip"),
            ("accept-encoding", b"\xFF"),
        ]);
        let head = Head::of(&headers);
        assert_eq!(text(head.range), None);
        assert_eq!(head.accept.text(), None);
        assert_eq!(head.accept_encoding.text(), Some("gzip"));
    }
}
