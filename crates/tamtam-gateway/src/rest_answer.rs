//! The answer to a call by URL: its form, its tag, its range of rows.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_RANGE, ETAG};
use axum::http::{HeaderValue, Method as HttpMethod, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use tamtam_rows::{CompressionKind, Rows};

use crate::cached_rows::{Encoded, tag_of};
use crate::content_type::ContentType;
use crate::exchange;
use crate::gateway::Shared;
use crate::head::{Head, text};
use crate::heavy_work::{is_large, worked};
use crate::http::{
    ReadyBody, accepted_compression, answer, answer_of, compression_for, made_ready, plain, put,
    set, tell_status, vary,
};
use crate::protocol::rest::{Accepted, Form, Picked, RowRange, encode_range, pick};
use crate::stream_answer::of_stream;
use crate::{Answer, CachedRows, Fault, FaultKind, Value, json};

/// The response to a call, in one of the forms that are accepted. A tag has only what changes nothing, and a range what is asked for by
/// GET.
///
/// # Errors
/// The fault that the client is to be told.
pub(crate) async fn respond(
    shared: &Shared,
    head: &Head<'_>,
    accepted: Accepted,
    method: &HttpMethod,
    answered: Answer,
) -> Result<Response, Fault> {
    let is_get = *method == HttpMethod::GET || *method == HttpMethod::HEAD;
    let form = accepted
        .iter()
        .copied()
        .find(|form| form.carries(&answered))
        .ok_or_else(|| {
            let reason =
                "the answer is no table, and comes as application/json or application/vnd.msgpack";
            Fault::of(FaultKind::NotCarried, reason).status(406)
        })?;
    let mut range = if *method == HttpMethod::GET {
        text(head.range).and_then(RowRange::read)
    } else {
        None
    };
    // Of a part the tag is that of the whole table, which is made only for a client that asks by it.
    let mut tag_of_whole = None;
    let is_asked_by_tag = head.if_range.is_some() || head.if_none_match.text().is_some();
    if range.is_some() && is_asked_by_tag {
        if let Some(whole) = Whole::of(form, &answered) {
            let (tag, bytes) = whole.tag(form).await?;
            // A client that has the whole table needs no part of it.
            if is_known(&tag, head) {
                return Ok(not_modified(&tag, compression_for(shared, head, bytes)));
            }
            tag_of_whole = Some(tag);
        }
        if let Some(condition) = head.if_range {
            tag_of_whole = tag_of_whole.filter(|tag| is_still(tag, condition));
            range = range.filter(|_| tag_of_whole.is_some());
        }
    }
    if range.is_some() {
        // It is a part of the answer.
        exchange::differs();
    }
    let (body, content_range) = match answered {
        Answer::Typed(typed) => (form.encode_typed(&typed)?, None),
        Answer::Value(Value::Rows(rows)) => of_rows(form, *rows, range).await?,
        Answer::Value(value) => (form.encode_value(&value)?, None),
        Answer::Rows(rows) => of_rows(form, rows, range).await?,
        Answer::Cached(table) if range.is_none() => {
            return of_cached(shared, head, form, is_get, table).await;
        }
        Answer::Cached(table) => of_rows(form, table.rows().clone(), range).await?,
        Answer::Stream(stream) => match range {
            Some(range) => {
                let picked = pick(stream, range, form.of_table()).await?;
                of_picked(form, picked, move |rows| encode_range(form, rows)).await?
            }
            None if form.takes_parts() => {
                return of_stream(shared, head, form, stream).await;
            }
            None => of_rows(form, stream.gather(form.of_table()).await?, None).await?,
        },
    };
    let of_all = |total: Option<usize>| total.map_or("*".to_owned(), |total| total.to_string());
    if let Some(RangeOf {
        total,
        selected: None,
    }) = content_range
    {
        let total = of_all(total);
        let mut response = *plain(
            StatusCode::RANGE_NOT_SATISFIABLE,
            format!("the table has {total} rows"),
        );
        set(&mut response, CONTENT_RANGE, &format!("rows */{total}"));
        return Ok(response);
    }
    let tag = match content_range {
        Some(_) => tag_of_whole,
        None => is_get.then(|| tag_of(&body)),
    };
    if let Some(tag) = &tag
        && content_range.is_none()
        && is_known(tag, head)
    {
        return Ok(not_modified(tag, compression_for(shared, head, body.len())));
    }
    let (mut response, kind) = answer(shared, head, form.content_type(), body).await;
    if is_get {
        put_tag(&mut response, tag.as_deref(), kind);
    }
    if let Some(RangeOf {
        total,
        selected: Some((first, last)),
    }) = content_range
    {
        let total = of_all(total);
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        set(
            &mut response,
            CONTENT_RANGE,
            &format!("rows {first}-{last}/{total}"),
        );
    }
    Ok(response)
}

/// A table that many calls get, whole.
async fn of_cached(
    shared: &Shared,
    head: &Head<'_>,
    form: Form,
    is_get: bool,
    table: CachedRows,
) -> Result<Response, Fault> {
    let (content_type, wanted) = (form.content_type(), accepted_compression(head));
    let name = content_type.name();
    let (encoded, compress) = match table.get(name, wanted) {
        Some(encoded) => (encoded, Duration::ZERO),
        None => {
            let body: Bytes = match table.get(name, CompressionKind::None) {
                Some(plain) => plain.body,
                None => {
                    let table = table.clone();
                    let is_large = is_large(table.rows(), form.of_table());
                    let encoded = worked(is_large, move || form.encode(table.rows()));
                    encoded.await??.into()
                }
            };
            let tag = tag_of(&body).into();
            let ready = made_ready(shared, head, body).await;
            let encoded = Encoded {
                body: ready.body,
                kind: ready.kind,
                plain_bytes: ready.plain_bytes,
                tag,
            };
            table.keep(name, wanted, &encoded);
            (encoded, ready.compress)
        }
    };
    if is_get && is_known(&encoded.tag, head) {
        return Ok(not_modified(&encoded.tag, encoded.kind));
    }
    let Encoded {
        body,
        kind,
        plain_bytes,
        tag,
    } = encoded;
    let ready = ReadyBody {
        body,
        kind,
        plain_bytes,
        compress,
    };
    let mut response = answer_of(head, content_type, ready);
    if is_get {
        put_tag(&mut response, Some(&tag), kind);
    }
    Ok(response)
}

/// A table by which its tag is known, or found.
enum Whole {
    /// And how many bytes it is without compression.
    Tag(String, usize),
    Rows(Rows),
}

impl Whole {
    /// Nothing of what comes part by part, whose tag is known when it has gone, and of what is no table.
    fn of(form: Form, answered: &Answer) -> Option<Whole> {
        match answered {
            Answer::Rows(rows) => Some(Whole::Rows(rows.clone())),
            Answer::Value(Value::Rows(rows)) => Some(Whole::Rows(Rows::clone(rows))),
            Answer::Cached(table) => {
                let kept = table.get(form.content_type().name(), CompressionKind::None);
                Some(match kept {
                    Some(kept) => Whole::Tag(kept.tag.to_string(), kept.plain_bytes),
                    None => Whole::Rows(table.rows().clone()),
                })
            }
            Answer::Stream(_) | Answer::Value(_) | Answer::Typed(_) => None,
        }
    }

    /// The tag of the table in this form, and how many bytes that is.
    async fn tag(self, form: Form) -> Result<(String, usize), Fault> {
        match self {
            Whole::Tag(tag, bytes) => Ok((tag, bytes)),
            Whole::Rows(rows) => {
                let body = encoded(form, rows).await?;
                Ok((tag_of(&body), body.len()))
            }
        }
    }
}

/// The answer to a client that has this one already, with what the whole one would say of itself.
fn not_modified(tag: &str, kind: CompressionKind) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    put_tag(&mut response, Some(tag), kind);
    vary(&mut response);
    response
}

/// What an answer that changes nothing says of itself.
fn put_tag(response: &mut Response, tag: Option<&str>, kind: CompressionKind) {
    let tag = tag.map(|tag| match kind {
        CompressionKind::None => format!("\"{tag}\""),
        kind => format!("\"{tag}-{}\"", kind.name()),
    });
    if let Some(tag) = tag {
        set(response, ETAG, &tag);
    }
    // It may be kept, and has to be asked for again.
    put(response, CACHE_CONTROL, "private, no-cache");
    put(response, ACCEPT_RANGES, "rows");
}

/// Which rows of how many an answer has, if that is known: none where the table has none of those that were asked for.
struct RangeOf {
    total: Option<usize>,
    selected: Option<(usize, usize)>,
}

async fn of_rows(
    form: Form,
    rows: Rows,
    range: Option<RowRange>,
) -> Result<(Vec<u8>, Option<RangeOf>), Fault> {
    let total = Some(rows.len());
    let Some(range) = range else {
        return Ok((encoded(form, rows).await?, None));
    };
    let range = range.of(rows.len()).unwrap_or(0..0);
    let before = range.start;
    let rows = rows.part(range);
    let picked = Picked {
        rows,
        before,
        total,
    };
    of_picked(form, picked, move |rows| form.encode(rows)).await
}

async fn of_picked(
    form: Form,
    picked: Picked,
    encode: impl FnOnce(&Rows) -> Result<Vec<u8>, Fault> + Send + 'static,
) -> Result<(Vec<u8>, Option<RangeOf>), Fault> {
    let Picked {
        rows,
        before,
        total,
    } = picked;
    if rows.is_empty() {
        let selected = None;
        return Ok((Vec::new(), Some(RangeOf { total, selected })));
    }
    let selected = Some((before, before + rows.len() - 1));
    let is_large = is_large(&rows, form.of_table());
    let body = worked(is_large, move || encode(&rows)).await??;
    Ok((body, Some(RangeOf { total, selected })))
}

/// A table in this form.
async fn encoded(form: Form, rows: Rows) -> Result<Vec<u8>, Fault> {
    let is_large = is_large(&rows, form.of_table());
    worked(is_large, move || form.encode(&rows)).await?
}

/// Whether the table of a client that has a part of it is this one still, however it was compressed. A weak tag and a date say nothing of that.
fn is_still(tag: &str, condition: &HeaderValue) -> bool {
    let known = text(Some(condition)).map(str::trim);
    let known = known.and_then(|known| known.strip_prefix('"')?.strip_suffix('"'));
    known.is_some_and(|known| known.split_once('-').map_or(known, |(plain, _)| plain) == tag)
}

/// Whether a client says that it knows this tag, however it was compressed.
fn is_known(tag: &str, head: &Head<'_>) -> bool {
    let Some(known) = head.if_none_match.text() else {
        return false;
    };
    known.split(',').any(|known| {
        let known = known.trim();
        let known = known.strip_prefix("W/").unwrap_or(known).trim_matches('"');
        let plain = known.split_once('-').map_or(known, |(plain, _)| plain);
        known == "*" || plain == tag
    })
}

/// The response to a call that failed.
pub(crate) async fn of_fault(shared: &Shared, head: &Head<'_>, fault: &Fault) -> Response {
    let mut members = vec![
        ("code".to_owned(), Value::from(fault.code())),
        ("description".to_owned(), Value::from(fault.description())),
    ];
    if let Some(detail) = fault.get_detail() {
        members.push(("detail".to_owned(), detail.clone()));
    }
    let mut body = Vec::new();
    if json::write_value(&Value::Map(members), &mut body).is_err() {
        body = br#"{"code":"Server.Internal","description":"the method failed"}"#.to_vec();
    }
    let (mut response, _) = answer(shared, head, ContentType::Json, body).await;
    tell_status(&mut response, fault);
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        put(&mut response, ALLOW, "POST");
    }
    response
}
