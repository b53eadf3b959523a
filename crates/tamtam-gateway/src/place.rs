//! What is at a path, and by which methods of HTTP it is reached.

use std::borrow::Cow;

use axum::http::Method as HttpMethod;
use percent_encoding::percent_decode_str;

/// What is at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place<'p> {
    JsonRpc,
    XmlRpc,
    Amf,
    /// A method of a service.
    Method(Cow<'p, str>, Cow<'p, str>),
    Socket,
    /// An actor that pages reach over a link.
    Link(Cow<'p, str>),
    /// A topic or property, as events of the server.
    Events(Cow<'p, str>),
    Services,
    Metrics,
    CrossDomain,
    Advice,
    /// The service browser.
    Page,
    PageStyle,
    PageScript,
    /// What the page reads Arrow and Parquet with, loaded when that is wanted.
    PageArrow,
    PageParquet,
    /// How large the answer of a method is in each form.
    Weigh(Cow<'p, str>, Cow<'p, str>),
    Nothing,
}

impl Place<'_> {
    /// What is at this path; also what a gateway may not have.
    pub(crate) fn at(path: &str) -> Place<'_> {
        match path {
            "/jsonrpc" => Place::JsonRpc,
            "/xmlrpc" | "/RPC2" => Place::XmlRpc,
            "/amf" => Place::Amf,
            "/socket" => Place::Socket,
            "/services" => Place::Services,
            "/metrics" => Place::Metrics,
            "/crossdomain.xml" => Place::CrossDomain,
            "/advice" => Place::Advice,
            "/" => Place::Page,
            "/page/style.css" => Place::PageStyle,
            "/page/page.js" => Place::PageScript,
            "/page/arrow.js" => Place::PageArrow,
            "/page/parquet.js" => Place::PageParquet,
            _ => Place::named(path).unwrap_or(Place::Nothing),
        }
    }

    /// What has names in its path.
    fn named(path: &str) -> Option<Place<'_>> {
        let (kind, rest) = split(path.strip_prefix('/')?)?;
        match kind {
            "rest" => {
                let (service, method) = split(rest)?;
                Some(Place::Method(decoded(service)?, decoded(method)?))
            }
            "link" => decoded(rest).map(Place::Link),
            "events" => decoded(rest).map(Place::Events),
            "page" => {
                let (service, method) = split(rest.strip_prefix("weigh/")?)?;
                Some(Place::Weigh(decoded(service)?, decoded(method)?))
            }
            _ => None,
        }
    }

    /// The methods of HTTP by which it is reached, as the header `Allow` has them.
    pub(crate) fn allows(&self) -> &'static str {
        match self {
            Place::JsonRpc | Place::XmlRpc | Place::Amf | Place::Weigh(..) => POST,
            Place::Method(..) => EITHER,
            _ => GET,
        }
    }

    /// Whether it is reached by this method of HTTP.
    pub(crate) fn takes(&self, method: &HttpMethod) -> bool {
        let reads = *method == HttpMethod::GET || *method == HttpMethod::HEAD;
        let calls = *method == HttpMethod::POST;
        match self.allows() {
            POST => calls,
            GET => reads,
            _ => reads || calls,
        }
    }
}

/// What the header `Allow` says.
const POST: &str = "POST";
const GET: &str = "GET,HEAD";
const EITHER: &str = "GET,HEAD,POST";

/// What is before the first `/`, and behind it. Names are short: a search made for long texts takes several times as long.
fn split(path: &str) -> Option<(&str, &str)> {
    let at = path.bytes().position(|byte| byte == b'/')?;
    Some((&path[..at], &path[at + 1..]))
}

/// A name in a path: none is empty, or goes over a `/`.
fn decoded(name: &str) -> Option<Cow<'_, str>> {
    let has = |mark| name.bytes().any(|byte| byte == mark);
    if name.is_empty() || has(b'/') {
        return None;
    }
    match has(b'%') {
        true => percent_decode_str(name).decode_utf8().ok(),
        false => Some(Cow::Borrowed(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_names_between_its_slashes() {
        let method = |service: &'static str, method: &'static str| {
            Place::Method(service.into(), method.into())
        };
        for (path, place) in [
            ("/", Place::Page),
            ("", Place::Nothing),
            ("/jsonrpc", Place::JsonRpc),
            ("/jsonrpc/", Place::Nothing),
            ("/RPC2", Place::XmlRpc),
            ("/rest/Tiles/list", method("Tiles", "list")),
            ("/rest/T%69les/l%20st", method("Tiles", "l st")),
            ("/rest/Tiles%2Flist/x", method("Tiles/list", "x")),
            ("/rest/Tiles", Place::Nothing),
            ("/rest/Tiles/", Place::Nothing),
            ("/rest//list", Place::Nothing),
            ("/rest/Tiles/list/", Place::Nothing),
            ("/rest/Tiles/%FF", Place::Nothing),
            ("/link/counter", Place::Link("counter".into())),
            ("/link/", Place::Nothing),
            ("/link", Place::Nothing),
            (
                "/events/Market.prices",
                Place::Events("Market.prices".into()),
            ),
            (
                "/page/weigh/Tiles/list",
                Place::Weigh("Tiles".into(), "list".into()),
            ),
            ("/page/weigh/Tiles", Place::Nothing),
            ("/page", Place::Nothing),
        ] {
            assert_eq!(Place::at(path), place, "{path}");
        }
    }

    #[test]
    fn a_place_takes_what_it_says_that_it_takes() {
        let (get, head, post, put) = (
            HttpMethod::GET,
            HttpMethod::HEAD,
            HttpMethod::POST,
            HttpMethod::PUT,
        );
        let takes = |path| [&get, &head, &post, &put].map(|method| Place::at(path).takes(method));
        assert_eq!(takes("/rest/Tiles/list"), [true, true, true, false]);
        assert_eq!(takes("/jsonrpc"), [false, false, true, false]);
        assert_eq!(takes("/services"), [true, true, false, false]);
    }
}
