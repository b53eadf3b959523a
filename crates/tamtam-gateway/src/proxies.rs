//! Proxies that pass requests on, and whose word on where these came from counts.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

use crate::head::Head;

/// The addresses whose first bits are these: `10.0.0.0/8`, `2001:db8::/32`, or one address.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::Network;
///
/// let network: Network = "10.1.0.0/16".parse()?;
/// assert!(network.contains("10.1.2.3".parse()?));
/// assert!(!network.contains("10.2.0.1".parse()?));
/// assert_eq!("127.0.0.1".parse::<Network>()?.to_string(), "127.0.0.1/32");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    /// Whose bits behind the first ones count for nothing.
    address: IpAddr,
    bits: u8,
}

/// A text that names no network.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::Network;
///
/// let error = "10.0.0.0/33".parse::<Network>().unwrap_err();
/// assert!(error.to_string().starts_with("\"10.0.0.0/33\" is no network"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no network: write an address, or ADDRESS/BITS as in 10.0.0.0/8")]
pub struct NetworkError(String);

impl Network {
    /// Whether an address is one of it. One of IPv4 within IPv6 is the one of IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits.into()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits.into()
            }
            _ => false,
        }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Network {
        let address = address.to_canonical();
        let bits = if address.is_ipv4() { 32 } else { 128 };
        Network { address, bits }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Network, NetworkError> {
        let read = || {
            let Some((address, bits)) = text.split_once('/') else {
                return Some(Network::from(text.parse::<IpAddr>().ok()?));
            };
            // As it is written, of whose bits the number is.
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.parse().ok().filter(|&bits| bits <= most)?;
            Some(Network { address, bits })
        };
        read().ok_or_else(|| NetworkError(text.to_owned()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// The header by which a proxy says for whom it passes a request on. A proxy has to write the one that is named, or to take it
/// away: where a client could write it, its address would be what it likes.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{ForwardedBy, Gateway};
///
/// let gateway = Gateway::new().trusted_proxy("10.0.0.0/8".parse()?).forwarded_by(ForwardedBy::Forwarded);
/// # drop(gateway);
/// # Ok::<(), tamtam_gateway::NetworkError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForwardedBy {
    /// `X-Forwarded-For`, a list of addresses, as most proxies write it.
    #[default]
    XForwardedFor,
    /// `Forwarded`, of RFC 7239.
    Forwarded,
}

/// Hops that are looked at, at most: behind so many trusted proxies the next one is the client.
const MOST_HOPS: usize = 32;

/// The proxies whose word counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    pub(crate) trusted: Vec<Network>,
    pub(crate) header: ForwardedBy,
}

impl Proxies {
    /// Whether a connection from this address is one of a trusted proxy. What reaches a Unix socket is one, if there are any.
    pub(crate) fn trusts(&self, peer: Option<IpAddr>) -> bool {
        match peer {
            _ if self.trusted.is_empty() => false,
            None => true,
            Some(peer) => self.trusted.iter().any(|network| network.contains(peer)),
        }
    }

    /// From where a request comes whose connection is from this address: from there, or, if that is a trusted proxy, from the
    /// last address in its header that is none. What a client has written itself stands before what the first proxy that is
    /// trusted has added.
    pub(crate) fn client(&self, peer: Option<IpAddr>, head: &Head<'_>) -> Option<IpAddr> {
        if !self.trusts(peer) {
            return peer;
        }
        let mut client = peer;
        let said = match self.header {
            ForwardedBy::XForwardedFor => head.x_forwarded_for.text().map(by_commas),
            ForwardedBy::Forwarded => head.forwarded.text().map(for_each_hop),
        };
        for hop in said.unwrap_or_default() {
            // Whom a proxy does not name is the proxy's own affair: it is the client then.
            let Some(hop) = hop.and_then(address_in) else {
                break;
            };
            client = Some(hop);
            if !self.trusts(client) {
                break;
            }
        }
        client
    }
}

/// What stands between the commas, from the last one on.
fn by_commas(text: &str) -> Vec<Option<&str>> {
    text.rsplit(',').take(MOST_HOPS).map(Some).collect()
}

/// What `for` says of each hop of RFC 7239, from the last one on; nothing where it says nothing, or that cannot be read.
///
/// What a trusted proxy has added stands at the end and is whole. Read from there, a text that a client has begun and not ended takes
/// nothing of it along.
fn for_each_hop(text: &str) -> Vec<Option<&str>> {
    let bytes = text.as_bytes();
    let is_mark = |at: usize| {
        let before = bytes[..at].iter().rev();
        bytes[at] == b'"' && before.take_while(|byte| **byte == b'\\').count() % 2 == 0
    };
    let (mut hops, mut end, mut is_quoted) = (Vec::new(), text.len(), false);
    for at in (0..text.len()).rev() {
        if is_mark(at) {
            is_quoted = !is_quoted;
        } else if bytes[at] == b',' && !is_quoted {
            hops.push(for_in(&text[at + 1..end]));
            end = at;
            if hops.len() == MOST_HOPS {
                return hops;
            }
        }
    }
    hops.push(if is_quoted {
        None
    } else {
        for_in(&text[..end])
    });
    hops
}

/// What `for` says of one hop.
fn for_in(hop: &str) -> Option<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_end = |byte: char| {
        match byte {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => return byte == ';' && !is_quoted,
        }
        false
    };
    let pairs = hop.split(is_end).filter_map(|pair| pair.split_once('='));
    let of_for = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let (_, value) = of_for.last()?;
    Some(value.trim().trim_matches('"'))
}

/// An address, perhaps with a port, as proxies write it.
fn address_in(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let address = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_number);
            address.parse().ok().filter(|_| is_port)
        }
        None => text.parse().ok().or_else(|| {
            let (address, port) = text.split_once(':')?;
            let address: std::net::Ipv4Addr = address.parse().ok()?;
            is_number(port).then_some(IpAddr::V4(address))
        }),
    };
    address.map(|address| address.to_canonical())
}

fn is_number(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn proxies(header: ForwardedBy) -> Proxies {
        Proxies {
            trusted: ["10.0.0.0/8", "127.0.0.1", "2001:db8::/32"]
                .map(|text| text.parse().unwrap())
                .to_vec(),
            header,
        }
    }

    /// Of a request from this address with these lines of the header.
    fn client(proxies: &Proxies, peer: Option<&str>, lines: &[&[u8]]) -> Option<String> {
        let name = match proxies.header {
            ForwardedBy::XForwardedFor => "x-forwarded-for",
            ForwardedBy::Forwarded => "forwarded",
        };
        let mut headers = HeaderMap::new();
        for line in lines {
            let name = HeaderName::from_static(name);
            headers.append(name, HeaderValue::from_bytes(line).unwrap());
        }
        let client = proxies.client(peer.map(address), &Head::of(&headers));
        client.map(|client| client.to_string())
    }

    #[test]
    fn the_last_address_that_is_no_trusted_proxy_is_the_client() {
        let proxies = proxies(ForwardedBy::XForwardedFor);
        for (peer, lines, expected) in [
            // Nothing is trusted that a client sends itself.
            ("192.0.2.1", &["198.51.100.7"][..], "192.0.2.1"),
            ("127.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("::ffff:127.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            // What stands before was written by the client.
            (
                "127.0.0.1",
                &["1.1.1.1, 2.2.2.2, 198.51.100.7"],
                "198.51.100.7",
            ),
            ("127.0.0.1", &["1.1.1.1", "198.51.100.7"], "198.51.100.7"),
            (
                "127.0.0.1",
                &["1.1.1.1", "198.51.100.7, 10.1.2.3"],
                "198.51.100.7",
            ),
            (
                "127.0.0.1",
                &["198.51.100.7,10.1.2.3 ,2001:db8::1"],
                "198.51.100.7",
            ),
            // One of the trusted ones asks for itself.
            ("127.0.0.1", &["10.1.2.3"], "10.1.2.3"),
            ("127.0.0.1", &[], "127.0.0.1"),
            // With a port, and in brackets.
            ("127.0.0.1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("127.0.0.1", &["2001:db9::1"], "2001:db9::1"),
            ("127.0.0.1", &["[2001:db9::1]:4711"], "2001:db9::1"),
            ("127.0.0.1", &["[2001:db9::1]"], "2001:db9::1"),
            ("127.0.0.1", &["::ffff:198.51.100.7"], "198.51.100.7"),
        ] {
            let lines: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(
                client(&proxies, Some(peer), &lines).as_deref(),
                Some(expected),
                "{lines:?}"
            );
        }
        // Over a Unix socket.
        assert_eq!(
            client(&proxies, None, &[b"1.1.1.1, 198.51.100.7"]).as_deref(),
            Some("198.51.100.7")
        );
        assert_eq!(client(&proxies, None, &[]), None);
        let none = Proxies::default();
        assert_eq!(client(&none, None, &[b"198.51.100.7"]), None);
        assert_eq!(
            client(&none, Some("127.0.0.1"), &[b"198.51.100.7"]).as_deref(),
            Some("127.0.0.1")
        );
    }

    #[test]
    fn what_names_no_address_is_the_proxy_that_said_it() {
        let proxies = proxies(ForwardedBy::XForwardedFor);
        for said in [
            &b""[..],
            b",",
            b"unknown",
            b"198.51.100.7,",
            b"198.51.100.7, unknown",
            b"198.51.100.7, 300.1.1.1",
            b"198.51.100.7, [2001:db9::1",
            b"198.51.100.7, [2001:db9::1]:port",
            b"198.51.100.7, fe80::1%eth0",
            b"198.51.100.7, 1.2.3.4:99999",
            b"198.51.100.7, 1.2.3.4:80:80",
            b"198.51.100.7, \xFF",
            b"198.51.100.7 198.51.100.8",
        ] {
            let client = client(&proxies, Some("10.0.0.1"), &[said]);
            assert_eq!(client.as_deref(), Some("10.0.0.1"), "{said:?}");
        }
        // Behind a proxy that named the one before it.
        let behind = client(
            &proxies,
            Some("10.0.0.1"),
            &[b"198.51.100.7, unknown, 10.0.0.2"],
        );
        assert_eq!(behind.as_deref(), Some("10.0.0.2"));
        // However many there are.
        let many = "10.0.0.3, ".repeat(6_000) + "10.0.0.2";
        let behind = client(&proxies, Some("10.0.0.1"), &[many.as_bytes()]);
        assert_eq!(behind.as_deref(), Some("10.0.0.3"));
    }

    #[test]
    fn each_hop_of_forwarded_has_its_parts_and_texts() {
        let proxies = proxies(ForwardedBy::Forwarded);
        for (said, expected) in [
            ("for=198.51.100.7", "198.51.100.7"),
            (
                "For=\"198.51.100.7:80\";proto=http;by=10.0.0.1",
                "198.51.100.7",
            ),
            ("proto=https ; FOR = \"[2001:db9::1]:4711\"", "2001:db9::1"),
            ("for=1.1.1.1, for=198.51.100.7;by=10.0.0.9", "198.51.100.7"),
            ("for=198.51.100.7, for=10.0.0.9", "198.51.100.7"),
            // A text may hold what parts others.
            (
                "for=198.51.100.7, for=10.0.0.9;by=\"a,b;for=1.1.1.1\\\",\"",
                "198.51.100.7",
            ),
            // Whom a proxy hides, or does not name.
            ("for=198.51.100.7, for=_hidden", "127.0.0.1"),
            ("for=198.51.100.7, for=unknown", "127.0.0.1"),
            ("for=198.51.100.7, by=10.0.0.9", "127.0.0.1"),
            ("for=198.51.100.7, ", "127.0.0.1"),
            // A client begins a text that a proxy's part would be in.
            ("for=\"198.51.100.7, for=198.51.100.8", "198.51.100.8"),
            ("for=\", for=198.51.100.8", "198.51.100.8"),
            ("for=\";, for=\"[2001:db9::1]:4711\"", "2001:db9::1"),
            ("by=\"\\, for=198.51.100.8, for=10.0.0.9", "198.51.100.8"),
            // What no proxy has written.
            ("for=198.51.100.7, for=10.0.0.9;by=\"", "127.0.0.1"),
            ("198.51.100.7", "127.0.0.1"),
        ] {
            let client = client(&proxies, Some("127.0.0.1"), &[said.as_bytes()]);
            assert_eq!(client.as_deref(), Some(expected), "{said}");
        }
        // The other header is not looked at.
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", HeaderValue::from_static("198.51.100.7"));
        let peer = Some(address("127.0.0.1"));
        assert_eq!(proxies.client(peer, &Head::of(&headers)), peer);
    }

    #[test]
    fn a_network_is_an_address_and_the_bits_that_count() {
        for (network, inside, outside) in [
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("10.9.8.7/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.128/25", "192.0.2.255", "192.0.2.127"),
            ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
            ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(address(inside)), "{network} {inside}");
            assert!(!network.contains(address(outside)), "{network} {outside}");
        }
        for text in [
            "",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "10.0.0/8",
            "::/129",
            "host",
            "10.0.0.0/8/8",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
