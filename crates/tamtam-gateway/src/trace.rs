//! By which names a request goes elsewhere, for those who follow it through several programs.

use axum::http::HeaderValue;

use crate::head::text;

/// Bytes of the name of a request, at most: what is longer is none.
const MOST_BYTES: usize = 128;

/// By which names a request goes elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    /// What the header `X-Request-Id` says.
    pub(crate) request_id: Option<Box<str>>,
    /// What the header `traceparent` says, by W3C's Trace Context.
    pub(crate) parent: Option<Box<str>>,
}

impl Trace {
    /// Of these headers. What no program would write that means well is left out: it goes into a log.
    pub(crate) fn of(request_id: Option<&HeaderValue>, parent: Option<&HeaderValue>) -> Trace {
        let kept = |value: Option<&HeaderValue>, is_fine: fn(&str) -> bool| {
            text(value).filter(|said| is_fine(said)).map(Box::from)
        };
        Trace {
            request_id: kept(request_id, is_name),
            parent: kept(parent, is_parent),
        }
    }
}

fn is_name(said: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(&byte);
    !said.is_empty() && said.len() <= MOST_BYTES && said.bytes().all(is_fine)
}

/// Version, trace, span and flags in lower figures of base 16; trace and span are not all zeros. A later version may have more.
fn is_parent(said: &str) -> bool {
    let is_figures = |part: &str, length: usize| {
        let is_figure = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        part.len() == length && part.bytes().all(is_figure)
    };
    let is_some = |part: &str| part.bytes().any(|byte| byte != b'0');
    let parts: Vec<&str> = said.splitn(5, '-').collect();
    let [version, trace, span, flags, ref more @ ..] = parts[..] else {
        return false;
    };
    is_figures(version, 2)
        && version != "ff"
        && (more.is_empty() || version != "00")
        && said.len() <= MOST_BYTES
        && is_figures(trace, 32)
        && is_some(trace)
        && is_figures(span, 16)
        && is_some(span)
        && is_figures(flags, 2)
        && more.iter().all(|more| is_name(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_of_a_request_is_left_out() {
        let longest = "x".repeat(MOST_BYTES);
        for (said, is_kept) in [
            ("4bf92f35-77b3-4da6", true),
            ("Root=1-67891233-abcdef012345678912345678", true),
            (&*longest, true),
            (&*format!("{longest}x"), false),
            ("", false),
            ("a b", false),
            ("a\tb", false),
            ("\u{1b}[31m", false),
        ] {
            let value = HeaderValue::from_bytes(said.as_bytes());
            let kept = value
                .ok()
                .and_then(|value| Trace::of(Some(&value), None).request_id);
            assert_eq!(kept.as_deref(), is_kept.then_some(said), "{said:?}");
        }
    }

    #[test]
    fn what_is_no_parent_of_a_trace_is_left_out() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        for (said, is_kept) in [
            (format!("00-{trace}-{span}-01"), true),
            (format!("cc-{trace}-{span}-01-what.comes"), true),
            (format!("00-{trace}-{span}-01-what.comes"), false),
            (format!("ff-{trace}-{span}-01"), false),
            (format!("00-{}-{span}-01", "0".repeat(32)), false),
            (format!("00-{trace}-{}-01", "0".repeat(16)), false),
            (format!("00-{}-{span}-01", trace.to_uppercase()), false),
            (format!("00-{trace}-{span}"), false),
            (format!("00-{trace}-{span}-0"), false),
            (format!("cc-{trace}-{span}-01-{}", "x".repeat(100)), false),
            (String::new(), false),
        ] {
            let value = HeaderValue::from_str(&said).unwrap();
            let kept = Trace::of(None, Some(&value)).parent;
            assert_eq!(kept.as_deref(), is_kept.then_some(&*said), "{said}");
        }
    }
}
