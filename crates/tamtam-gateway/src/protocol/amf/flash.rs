//! Whether Flash Player sends a request: it counts what references of AMF0 mean otherwise than all others.
//!
//! The packet does not say so: its version is 0 or 3 for Flash Player, Ruffle, BlazeDS and Py3AMF alike, and most references
//! mean something in both numberings. The request does. Flash Player names itself in one of these headers, by the browser that it
//! runs in, and lets no program in it set any of them:
//!
//! | header | from |
//! |---|---|
//! | `x-flash-version` | Internet Explorer, and the player as a program |
//! | `User-Agent: Shockwave Flash` | the player as a program |
//! | `User-Agent: .. AdobeAIR/..` | AIR, which has the same runtime |
//! | `X-Requested-With: ShockwaveFlash/..` | Chrome |
//! | `Referer: ..swf` | Firefox and others: the program that asks, where an emulator names the page |

use hyper::HeaderMap;
use hyper::header::{HeaderName, REFERER, USER_AGENT};
use tamtam_amf::amf0::Numbering;

/// How the sender of a request with these headers counts.
pub(crate) fn numbering_of(headers: &HeaderMap) -> Numbering {
    numbering(is_flash_player(headers))
}

/// How the sender of a request counts, which is Flash Player or not.
pub(crate) fn numbering(from_flash_player: bool) -> Numbering {
    match from_flash_player {
        true => Numbering::FlashPlayer,
        false => Numbering::Specification,
    }
}

/// Whether these are the headers of a request of Flash Player.
pub(crate) fn is_flash_player(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let agent = text(USER_AGENT).unwrap_or_default();
    let asks = text(HeaderName::from_static("x-requested-with")).unwrap_or_default();
    headers.contains_key("x-flash-version")
        || agent == "Shockwave Flash"
        || agent.contains("AdobeAIR/")
        || asks.starts_with("ShockwaveFlash/")
        || text(REFERER).is_some_and(is_program)
}

/// Whether a URL is that of a program of Flash.
fn is_program(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let ending = path.len().checked_sub(4).and_then(|at| path.get(at..));
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(".swf"))
}
