//! `tamtam serve --token` for clients that can set no header of HTTP.

use std::sync::Arc;

use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::amf3::{Object, Traits, Value as Amf3};
use tamtam_amf::packet::{Header, Message, Packet, Version};

use crate::serve::Serving;

/// The target and the value of the answer to one call by AMF, with these headers of the packet.
fn answer(server: &Serving, headers: Vec<Header>, target: &str, value: Amf0) -> (String, Amf3) {
    let packet = Packet {
        version: Version::Amf3,
        headers,
        messages: vec![Message {
            target: target.into(),
            response: "/1".into(),
            value: vec![value].into(),
        }],
    };
    let head = "Content-Type: application/x-amf\r\n";
    let (_, body) = server.ask("POST", "/amf", head, &packet.encode().unwrap());
    let mut answered = Packet::decode(&body, Default::default()).unwrap().messages;
    let answered = answered.remove(0);
    match answered.value {
        Amf0::Avmplus(value) => (answered.target, *value),
        other => panic!("it is in AMF0: {other:?}"),
    }
}

/// Who calls, as Flash says it.
fn credentials(name: &str, password: &str) -> Vec<Header> {
    let members = vec![
        ("userid".into(), name.into()),
        ("password".into(), password.into()),
    ];
    vec![Header {
        name: "Credentials".into(),
        must_understand: false,
        value: Amf0::EcmaArray(members),
    }]
}

fn object(traits: Traits, members: &[(&str, Amf3)]) -> Amf3 {
    let (mut sealed, mut dynamic) = (vec![], vec![]);
    for (name, value) in members {
        if traits.dynamic {
            dynamic.push(((*name).into(), value.clone()));
        } else {
            sealed.push(value.clone());
        }
    }
    Amf3::from(Object {
        traits: Arc::new(traits),
        sealed,
        dynamic,
    })
}

/// The session of Flex.
const SESSION: &str = "5A1F0C52-0F0E-4C57-9B7C-2F8A7A9D3E11";

/// A message of Flex in its session.
fn flex(class: &str, members: &[(&str, Amf3)]) -> Amf0 {
    let session = object(Traits::dynamic(""), &[("DSId", SESSION.into())]);
    let members = [members, &[("headers", session)]].concat();
    let names = members.iter().map(|(name, _)| *name);
    let traits = Traits::sealed(&format!("flex.messaging.messages.{class}"), names);
    Amf0::Avmplus(Box::new(object(traits, &members)))
}

#[test]
fn clients_of_amf_give_the_token_as_the_password_of_whatever_name() {
    let server = Serving::with(&["--token", "let me in"]);
    let echo = |headers| answer(&server, headers, "Echo.echo", 7.0.into());
    for name in ["token", "ada", ""] {
        let (target, value) = echo(credentials(name, "let me in"));
        assert_eq!((&*target, value), ("/1/onResult", 7.0.into()), "{name:?}");
    }
    for headers in [vec![], credentials("let me in", "let me out")] {
        let (target, fault) = echo(headers);
        let code = fault.get("code");
        assert_eq!(
            (&*target, code),
            ("/1/onStatus", Some(&"Client.Authentication".into())),
            "{fault:?}"
        );
    }
    // `ada:let me out`, `ada:let me in`.
    for (password, outcome) in [
        ("YWRhOmxldCBtZSBvdXQ=", "/1/onStatus"),
        ("YWRhOmxldCBtZSBpbg==", "/1/onResult"),
    ] {
        let login = [("operation", 8.into()), ("body", password.into())];
        let (target, told) = answer(&server, vec![], "null", flex("CommandMessage", &login));
        assert_eq!(target, outcome, "{told:?}");
        // The session of the login is let pass, and that of none is not.
        let call = [
            ("destination", "Echo".into()),
            ("operation", "echo".into()),
            ("body", vec![Amf3::from(7)].into()),
        ];
        let (target, told) = answer(&server, vec![], "null", flex("RemotingMessage", &call));
        assert_eq!(target, outcome, "{told:?}");
    }
    // By other protocols it is a header: browsers send those of `Basic` by themselves. `token:let me in`.
    let basic = "Authorization: Basic dG9rZW46bGV0IG1lIGlu\r\n";
    let (head, _) = server.ask("GET", "/services", basic, b"");
    assert!(head.starts_with("HTTP/1.1 401"), "{head}");
}
