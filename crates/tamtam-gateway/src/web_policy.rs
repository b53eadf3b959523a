//! Which pages may call, and under which names the server is known.

use axum::http::{HeaderValue, Uri};
use std::net::IpAddr;

/// Which pages may call, and under which names the server is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebPolicy {
    pub(crate) origins: Vec<String>,
    pub(crate) hosts: Vec<String>,
}

/// Why a request is refused, or of which page it comes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// From no page of another origin.
    Fine,
    /// From a page of this origin, which may call.
    From(String),
    /// For a name that is not the server's.
    WrongHost,
    /// From a page that may not call.
    WrongOrigin,
}

impl WebPolicy {
    /// What becomes of a request for the server of this [name](host_of), from a page of this origin if it is from one; the name may
    /// need no look.
    pub(crate) fn judge(
        &self,
        host: &str,
        origin: Option<&HeaderValue>,
        is_trusted: bool,
    ) -> Verdict {
        if !is_trusted && !self.knows_host(host) {
            return Verdict::WrongHost;
        }
        let Some(origin) = origin else {
            return Verdict::Fine;
        };
        let Ok(origin) = origin.to_str() else {
            return Verdict::WrongOrigin;
        };
        if self.allows(origin) {
            return Verdict::From(origin.to_owned());
        }
        let own = origin.split_once("://");
        if own.is_some_and(|(_, own)| own.eq_ignore_ascii_case(host)) {
            return Verdict::Fine;
        }
        Verdict::WrongOrigin
    }

    fn allows(&self, origin: &str) -> bool {
        self.origins
            .iter()
            .any(|known| known == "*" || known.eq_ignore_ascii_case(origin))
    }

    /// A name can be given to this machine by the owner of a domain, an address cannot.
    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        let address = name.trim_start_matches('[').trim_end_matches(']');
        let is_known = |known: &String| known == "*" || known.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok()
            || self.hosts.iter().any(is_known)
    }

    /// What Flash's player asks before it calls another server.
    pub(crate) fn cross_domain(&self) -> String {
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE cross-domain-policy SYSTEM \
             \"http://www.adobe.com/xml/dtds/cross-domain-policy.dtd\">\n<cross-domain-policy>\n  \
             <site-control permitted-cross-domain-policies=\"master-only\"/>\n",
        );
        for origin in &self.origins {
            let (scheme, authority) = origin.split_once("://").unwrap_or(("", origin));
            let domain = without_port(authority);
            let is_plain =
                |letter: char| letter.is_ascii_alphanumeric() || ".-*[]:".contains(letter);
            if domain.is_empty() || !domain.chars().all(is_plain) {
                continue;
            }
            let secure = scheme == "https";
            text.push_str(&format!(
                "  <allow-access-from domain=\"{domain}\" secure=\"{secure}\"/>\n  \
                 <allow-http-request-headers-from domain=\"{domain}\" headers=\"*\" secure=\"{secure}\"/>\n"
            ));
        }
        text.push_str("</cross-domain-policy>\n");
        text
    }
}

/// The name of the server that a request is for; empty if it has none.
pub(crate) fn host_of<'r>(uri: &'r Uri, host: Option<&'r HeaderValue>) -> &'r str {
    // HTTP/2 has it in the target.
    uri.authority()
        .map(|authority| authority.as_str())
        .or_else(|| host?.to_str().ok())
        .unwrap_or_default()
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port))
            if !name.is_empty()
                && port.chars().all(|digit| digit.is_ascii_digit())
                && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(policy: &WebPolicy, host: &str, origin: Option<&str>) -> Verdict {
        let value = |text: &str| text.parse::<HeaderValue>().unwrap();
        let (host, origin) = (value(host), origin.map(value));
        let target = Uri::from_static("/jsonrpc");
        policy.judge(host_of(&target, Some(&host)), origin.as_ref(), false)
    }

    #[test]
    fn a_name_that_was_given_to_this_machine_is_refused() {
        let policy = WebPolicy {
            hosts: vec!["example.org".into()],
            ..WebPolicy::default()
        };
        for host in [
            "localhost",
            "localhost:80",
            "127.0.0.1:8787",
            "[::1]:80",
            "[::1]",
            "example.org:1",
            "Example.ORG",
        ] {
            assert_eq!(judged(&policy, host, None), Verdict::Fine, "{host}");
        }
        for host in [
            "attacker.example",
            "attacker.example:8787",
            "localhost.attacker.example",
            "",
        ] {
            assert_eq!(judged(&policy, host, None), Verdict::WrongHost, "{host}");
        }
    }

    #[test]
    fn a_page_of_another_origin_is_refused_unless_it_is_named() {
        let policy = WebPolicy {
            origins: vec!["https://game.example".into()],
            ..WebPolicy::default()
        };
        let local = "127.0.0.1:8787";
        assert_eq!(
            judged(&policy, local, Some("http://127.0.0.1:8787")),
            Verdict::Fine
        );
        let game = "https://game.example";
        assert_eq!(
            judged(&policy, local, Some(game)),
            Verdict::From(game.into())
        );
        for origin in [
            "http://127.0.0.1:9999",
            "http://game.example",
            "null",
            "https://game.example.evil",
        ] {
            assert_eq!(
                judged(&policy, local, Some(origin)),
                Verdict::WrongOrigin,
                "{origin}"
            );
        }
    }

    #[test]
    fn the_player_learns_which_domains_may_call() {
        let policy = WebPolicy {
            origins: vec![
                "https://game.example:8443".into(),
                "*".into(),
                "x\"><evil".into(),
            ],
            ..WebPolicy::default()
        };
        let text = policy.cross_domain();
        assert!(
            text.contains("<allow-access-from domain=\"game.example\" secure=\"true\"/>"),
            "{text}"
        );
        assert!(text.contains("domain=\"*\" secure=\"false\""), "{text}");
        assert!(!text.contains("evil"), "{text}");
    }
}
