//! Any request by URL, through the whole gateway: its target, its headers, its body. The answer is in the form that it names, a tag is
//! known again, a range has as many rows as it says, and the gateway is then as it was.

use crate::gateway::{Answered, LIMITS, World, request, world};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use serde_json::Value as Json;
use tamtam_rows::{CompressionKind, Limits, decompress, encoding};

/// Bytes that a request takes, at most: the compressors and Parquet's writer have large tables of their own.
const MOST_BYTES: usize = 48 << 20;

/// Bytes of an answer, at most: some rows for each of the few bytes that ask for them.
const MOST_ANSWER_BYTES: usize = 1 << 20;

/// A request out of its text.
struct Asked<'b> {
    method: Method,
    target: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: &'b [u8],
}

impl<'b> Asked<'b> {
    fn of(text: &'b [u8]) -> Option<Asked<'b>> {
        let mut headers = [httparse::EMPTY_HEADER; 24];
        let mut parsed = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(head) = parsed.parse(text).ok()? else {
            return None;
        };
        let headers = parsed.headers.iter().map(|header| {
            let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_bytes(header.value).ok()?))
        });
        Some(Asked {
            method: Method::from_bytes(parsed.method?.as_bytes()).ok()?,
            target: parsed.path?.parse().ok()?,
            headers: headers.collect::<Option<_>>()?,
            body: &text[head..],
        })
    }

    fn request(&self) -> Request<Body> {
        let mut request = request("GET", "/", &[], Body::from(self.body.to_vec()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.target.clone();
        for (name, value) in &self.headers {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        request
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    fn is_call(&self) -> bool {
        self.target.path().starts_with("/rest/")
    }
}

fn header<'a>(answered: &'a Answered, name: &str) -> &'a str {
    let value = answered.headers.get(name);
    value.map_or("", |value| value.to_str().expect("headers are text"))
}

/// The body without its compression.
fn plain(answered: &Answered) -> Vec<u8> {
    let kind = match header(answered, "content-encoding") {
        "" => return answered.body.to_vec(),
        "zstd" => CompressionKind::Zstd,
        "gzip" => CompressionKind::Gzip,
        "br" => CompressionKind::Brotli,
        other => panic!("it is compressed by {other}"),
    };
    decompress(kind, &answered.body, MOST_ANSWER_BYTES).expect("it can be unpacked")
}

/// How many rows there are in a body of this type, as far as it says; a panic if it is none of the type.
fn rows_in(content_type: &str, body: &[u8]) -> Option<usize> {
    let rows = |form: &str| {
        let form = encoding::find(form).expect("this form is always there");
        let rows = form.decode(body, None, &Limits::default());
        Some(rows.expect("a table").len())
    };
    let text = || std::str::from_utf8(body).expect("it is text");
    let json = |text: &str| serde_json::from_str::<Json>(text).expect("it is JSON");
    match content_type.split(';').next().unwrap_or_default() {
        "application/json" => json(text()).as_array().map(Vec::len),
        "application/jsonl" => {
            let lines = text().lines().map(json);
            Some(lines.inspect(|line| assert!(line.is_object())).count())
        }
        "application/vnd.tamtam.rows" => rows("packed"),
        "application/vnd.apache.arrow.stream" => rows("arrow-ipc"),
        "application/vnd.apache.parquet" => rows("parquet"),
        "application/vnd.msgpack" => {
            let mut rest = body;
            let value = rmpv::decode::read_value(&mut rest).expect("it is MessagePack");
            assert!(rest.is_empty(), "more follows behind the value");
            value.as_array().map(Vec::len)
        }
        "text/event-stream" => {
            for line in text().lines() {
                let (name, _) = line.split_once(':').unwrap_or((line, ""));
                assert!(matches!(name, "" | "id" | "event" | "data"), "{line}");
            }
            None
        }
        _ => {
            text();
            None
        }
    }
}

fn checked(world: &World, asked: &Asked<'_>) {
    let answered = world.answer(asked.request(), MOST_BYTES);
    let status = answered.status;
    let is_known = matches!(
        status,
        200 | 204 | 206 | 304 | 400..=406 | 413 | 415 | 416 | 421 | 426 | 500
    );
    assert!(is_known, "the status is {status}");
    if asked.body.len() > LIMITS.body_bytes && asked.method == Method::POST && asked.is_call() {
        assert!(status >= 400);
    }
    let is_get = asked.method == Method::GET;
    if status == 204 || status == 304 || asked.method == Method::HEAD {
        assert!(answered.body.is_empty());
        assert!(status != 304 || asked.has("if-none-match"));
        return;
    }
    let content_type = header(&answered, "content-type");
    let rows = rows_in(content_type, &plain(&answered));
    if status == 500 {
        let fault: Json = serde_json::from_slice(&plain(&answered)).expect("a fault is JSON");
        assert_ne!(fault["code"], "Server.Internal", "{fault}");
    }
    if status == 206 {
        assert!(is_get && asked.has("range"));
        let range = header(&answered, "content-range");
        let range = range.strip_prefix("rows ").and_then(|range| {
            let (range, all) = range.split_once('/')?;
            let (first, last) = range.split_once('-')?;
            let number = |text: &str| text.parse::<usize>().ok();
            Some((number(first)?, number(last)?, number(all)?))
        });
        let (first, last, all) = range.expect("which rows these are");
        assert!(first <= last && last < all);
        // Delimited text does not say it.
        assert!(rows.is_none_or(|rows| rows == last - first + 1));
    }
    let tag = header(&answered, "etag");
    if !tag.is_empty() && status == 200 && !asked.has("range") {
        let mut again = asked.request();
        let tag = HeaderValue::from_str(tag).expect("it was a header");
        again.headers_mut().insert("if-none-match", tag);
        let again = world.answer(again, MOST_BYTES);
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
}

/// A gateway that has too much to do calls nothing.
fn refused(world: &World, asked: &Asked<'_>) {
    let answered = world.answer_when_full(asked.request());
    if asked.is_call() {
        assert!(answered.status == 204 || answered.status >= 400);
    }
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(text: &[u8]) {
    let Some(asked) = Asked::of(text) else {
        return;
    };
    let world = world(false);
    checked(world, &asked);
    refused(world, &asked);
    // It goes on as if nothing had been.
    let sum = request("GET", "/rest/Sums/add?left=40&right=2", &[], Body::empty());
    let answered = world.answer(sum, MOST_BYTES);
    let sum: Json = serde_json::from_slice(&answered.body).expect("it is JSON");
    assert_eq!((answered.status, &sum["sum"]), (200, &42.into()));
    // It was asked for again if it has a tag.
    world.rests(1..=if asked.is_call() { 3 } else { 1 });
}
