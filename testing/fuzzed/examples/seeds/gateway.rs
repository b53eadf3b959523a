//! Requests to the gateway, of each kind that its clients send.

use tamtam_amf::packet::{Encoder, PacketEncodeError, Version};
use tamtam_amf::{amf0, amf3};

use super::seed;

pub(super) fn write() {
    for (name, body) in JSON_RPC {
        seed("gateway_json_rpc", name, body.as_bytes());
    }
    for (name, inside) in XML_RPC {
        let body = format!("<?xml version=\"1.0\"?>\n<methodCall>{inside}</methodCall>\n");
        seed("gateway_xml_rpc", name, body.as_bytes());
    }
    for (name, text) in REST {
        seed("gateway_rest", name, text.replace('\n', "\r\n").as_bytes());
    }
    for (name, body) in REST_BODIES {
        let text =
            format!("POST {name} HTTP/1.1\nhost: 127.0.0.1\ncontent-type: application/json\n\n");
        let text = text.replace('\n', "\r\n") + body;
        seed(
            "gateway_rest",
            &format!("post{}", name.replace('/', "-")),
            text.as_bytes(),
        );
    }
    for (name, manner, lines) in WEB_SOCKET {
        let bytes = [&[manner][..], lines.as_bytes()].concat();
        seed("gateway_web_socket", name, &bytes);
    }
    for (name, bytes) in web_socket_frames() {
        seed("gateway_web_socket", name, &[&[1 | 4], &bytes[..]].concat());
    }
    for (name, packet) in amf() {
        seed("gateway_amf", name, &packet);
    }
}

const JSON_RPC: [(&str, &str); 12] = [
    (
        "sum",
        r#"{"jsonrpc":"2.0","id":1,"method":"Sums.add","params":[40,2]}"#,
    ),
    (
        "sum-by-names",
        r#"{"jsonrpc":"2.0","id":"a","method":"Sums.add","params":{"left":40,"right":-2}}"#,
    ),
    (
        "sum-on-a-thread",
        r#"{"jsonrpc":"2.0","id":1.5,"method":"Sums.add_on_a_thread","params":[9223372036854775807,1]}"#,
    ),
    (
        "echo",
        r#"{"jsonrpc":"2.0","id":null,"method":"Echo.echo","params":[{"a":[1,-2.5e-7,true,null,"\u00e4\n"],"b":18446744073709551615}]}"#,
    ),
    (
        "echo-deep",
        r#"{"jsonrpc":"2.0","id":2,"method":"Echo.echo","params":{"value":[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]}}"#,
    ),
    (
        "notification",
        r#"{"jsonrpc":"2.0","method":"Sums.add","params":[1,2]}"#,
    ),
    (
        "batch",
        r#"[{"jsonrpc":"2.0","id":1,"method":"Sums.add","params":[1,2]},{"jsonrpc":"2.0","method":"Echo.echo","params":[1]},7,{"jsonrpc":"2.0","id":3,"method":"No.such"}]"#,
    ),
    ("batch-empty", "[]"),
    (
        "everything",
        r#"{"jsonrpc":"2.0","id":1,"method":"Kit.everything","params":{"flag":true,"small":-3,"large":7,"at":0.5,"letter":"x","text":"t","pair":[1,"p"],"shapes":["Point",{"Circle":1.5},{"Line":[1,2]},{"Box":{"width":3,"height":null}}],"names":{"a":1}}}"#,
    ),
    (
        "table",
        r#"{"jsonrpc":"2.0","id":1,"method":"Tables.list","params":{"table":"every-type","count":5}}"#,
    ),
    (
        "table-in-parts",
        r#"{"jsonrpc":"2.0","id":1,"method":"Tables.stream","params":["tiles",20]}"#,
    ),
    (
        "refused",
        r#"{"jsonrpc":"2.0","id":1,"method":"Kit.refuse","params":[{"why":"so"}]}"#,
    ),
];

const XML_RPC: [(&str, &str); 10] = [
    (
        "sum",
        "<methodName>Sums.add</methodName><params><param><value><int>40</int></value></param><param><value><i4>2</i4></value></param></params>",
    ),
    (
        "echo",
        "<methodName>Echo.echo</methodName><params><param><value><struct><member><name>a</name><value><array><data><value>untyped &lt; &#228; \r\n</value><value><boolean>1</boolean></value><value><double>-0.5</double></value><value><i8>9007199254740993</i8></value><value><nil/></value></data></array></value></member></struct></value></param></params>",
    ),
    (
        "echo-bytes",
        "<methodName>Echo.echo</methodName><params><param><value><base64>AP8H\nAP8=</base64></value></param></params>",
    ),
    (
        "echo-date",
        "<methodName>Echo.echo</methodName><params><param><value><dateTime.iso8601>19980717T14:08:55</dateTime.iso8601></value></param></params>",
    ),
    (
        "echo-text",
        "<methodName>Echo.echo</methodName><params><param><value><![CDATA[a <b> ]]>&amp;<!-- no -->c</value></param></params>",
    ),
    (
        "echo-references",
        "<methodName>Echo.echo</methodName><params><param><value><array><data><value>&quot;a&quot; &apos;b&apos; &lt;c&gt; &amp;d</value><value><string>a &quot;b&quot;, &apos;c&apos;, &gt;&lt;&amp;&#x22;</string></value><value><int>-7</int></value><value><i4>-2147483648</i4></value><value><i8>-9007199254740993</i8></value></data></array></value></param></params>",
    ),
    (
        "multicall",
        "<methodName>system.multicall</methodName><params><param><value><array><data><value><struct><member><name>methodName</name><value><string>Sums.add</string></value></member><member><name>params</name><value><array><data><value><int>1</int></value><value><int>2</int></value></data></array></value></member></struct></value><value><int>7</int></value></data></array></value></param></params>",
    ),
    (
        "signature",
        "<methodName>system.methodSignature</methodName><params><param><value><string>Sums.add</string></value></param></params>",
    ),
    ("list", "<methodName>system.listMethods</methodName>"),
    (
        "table",
        "<methodName>Tables.list</methodName><params><param><value><string>every-type</string></value></param><param><value><int>3</int></value></param></params>",
    ),
];

const REST: [(&str, &str); 16] = [
    (
        "sum",
        "GET /rest/Sums/add?left=40&right=2 HTTP/1.1\nhost: 127.0.0.1\n\n",
    ),
    (
        "echo",
        "GET /rest/Echo/echo?value=%C3%A4+b HTTP/1.1\nhost: localhost:80\naccept: application/json;q=0.5, application/msgpack\n\n",
    ),
    (
        "table-packed",
        "GET /rest/Tables/list?table=every-type&count=3 HTTP/1.1\nhost: 127.0.0.1\naccept: application/vnd.tamtam.rows\n\n",
    ),
    (
        "table-arrow",
        "GET /rest/Tables/list?table=texts&count=9 HTTP/1.1\nhost: 127.0.0.1\naccept: application/vnd.apache.arrow.stream\n\n",
    ),
    (
        "table-parquet",
        "GET /rest/Tables/list?count=30 HTTP/1.1\nhost: 127.0.0.1\naccept: application/vnd.apache.parquet\n\n",
    ),
    (
        "table-lines",
        "GET /rest/Tables/stream?count=30 HTTP/1.1\nhost: 127.0.0.1\naccept: application/x-ndjson\n\n",
    ),
    (
        "table-message-pack",
        "GET /rest/Tables/stream?table=every-type&count=3 HTTP/1.1\nhost: 127.0.0.1\naccept: application/vnd.msgpack\n\n",
    ),
    (
        "table-csv",
        "GET /rest/Tables/list?table=every-type&count=3 HTTP/1.1\nhost: 127.0.0.1\naccept: text/csv\naccept-encoding: br\n\n",
    ),
    (
        "range",
        "GET /rest/Tables/list?count=100 HTTP/1.1\nhost: 127.0.0.1\nrange: rows=10-19\naccept-encoding: gzip;q=0.5, zstd\n\n",
    ),
    (
        "range-last",
        "GET /rest/Tables/stream?count=100 HTTP/1.1\nhost: 127.0.0.1\nrange: rows=-5\nif-none-match: \"00-gzip\", W/\"1\"\n\n",
    ),
    (
        "known",
        "GET /rest/Tables/list?count=1 HTTP/1.1\nhost: 127.0.0.1\nif-none-match: *\n\n",
    ),
    (
        "events",
        "GET /events/Market.slider?policy=latest&interval_ms=5 HTTP/1.1\nhost: 127.0.0.1\nlast-event-id: a.1\n\n",
    ),
    (
        "preflight",
        "OPTIONS /rest/Sums/add HTTP/1.1\nhost: 127.0.0.1\norigin: https://example.org\naccess-control-request-method: POST\naccess-control-request-headers: content-type\n\n",
    ),
    (
        "secret",
        "GET /rest/Kit/secret HTTP/1.1\nhost: 127.0.0.1\nauthorization: Basic YWRhOmxldCBtZSBpbg==\n\n",
    ),
    (
        "head",
        "HEAD /rest/Kit/secret HTTP/1.1\nhost: [::1]\nauthorization: Bearer let me in\n\n",
    ),
    (
        "services",
        "GET /services HTTP/1.1\nhost: 127.0.0.1\naccept-encoding: gzip\n\n",
    ),
];

const REST_BODIES: [(&str, &str); 3] = [
    ("/rest/Sums/add", "[40, 2]"),
    ("/rest/Kit/refuse", r#"{"value": [1, "why"]}"#),
    ("/rest/Tables/stream", r#"{"table": "tiles", "count": 40}"#),
];

const WEB_SOCKET: [(&str, u8, &str); 6] = [
    (
        "calls",
        0,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"Sums.add\",\"params\":[1,2]}\n[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"Kit.wait\"},{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"Echo.echo\",\"params\":[\"x\"]}]",
    ),
    (
        "subscribe",
        4,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscribe\",\"params\":{\"name\":\"Market.prices\",\"policy\":\"latest_of_each_key\",\"after\":0}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"unsubscribe\",\"params\":[1]}",
    ),
    (
        "subscribe-slow",
        6,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscribe\",\"params\":{\"name\":\"Market.prices\",\"most_messages\":2,\"most_bytes\":600,\"when_behind\":\"close\"}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"Market.publish\",\"params\":[\"tin\",7,\"note\"]}",
    ),
    (
        "batches",
        8,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscribe\",\"params\":{\"name\":\"Market.boards\",\"policy\":\"batches\",\"interval_ms\":1}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"Market.set\",\"params\":[9]}",
    ),
    (
        "authenticate",
        16,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"authenticate\",\"params\":{\"bearer\":\"let me in\"}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"Kit.secret\"}",
    ),
    (
        "waits",
        6,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"Kit.wait\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"Kit.wait\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"Tables.list\",\"params\":[\"tiles\",200]}",
    ),
];

/// Frames as they are, masked by zeros so that a fuzzer sees what they hold.
fn web_socket_frames() -> [(&'static str, Vec<u8>); 4] {
    let frame = |head: u8, content: &[u8]| {
        let length = u8::try_from(content.len()).expect("a short frame");
        assert!(length < 126, "a short frame");
        [&[head, 0x80 | length, 0, 0, 0, 0], content].concat()
    };
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"Sums.add","params":[1,2]}"#;
    [
        ("frames-call", frame(0x81, call)),
        (
            "frames-in-parts",
            [
                frame(1, &call[..20]),
                frame(0x89, b"ping"),
                frame(0x80, &call[20..]),
            ]
            .concat(),
        ),
        (
            "frames-close",
            [frame(0x81, call), frame(0x88, &[3, 0xe8])].concat(),
        ),
        (
            "frames-binary",
            [frame(0x8a, b"pong"), frame(0x82, b"rows")].concat(),
        ),
    ]
}

fn amf() -> Vec<(&'static str, Vec<u8>)> {
    type Write<'w> = &'w dyn Fn(&mut Encoder<'_>) -> Result<(), PacketEncodeError>;
    let packet = |version, write: Write<'_>| {
        let mut bytes = Vec::new();
        write(&mut Encoder::new(&mut bytes, version)).expect("these packets can be written");
        bytes
    };
    let list = |values: Vec<amf0::Value>| amf0::Value::from(values);
    let in_amf3 = |value: amf3::Value| amf0::Value::Avmplus(Box::new(value));
    let name = |text: &str| std::sync::Arc::<str>::from(text);
    let object = amf0::Value::Object(vec![
        (name("x"), 0.5.into()),
        (
            name("when"),
            amf0::Value::Date {
                milliseconds: 9e11,
                time_zone: 0,
            },
        ),
        (name("again"), amf0::Value::Reference(1)),
    ]);
    let credentials = amf0::Value::Object(vec![
        (name("userid"), "ada".into()),
        (name("password"), "let me in".into()),
    ]);
    let flex = |class: &str, members: Vec<(&str, amf3::Value)>| {
        let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let class = format!("flex.messaging.messages.{class}");
        let message = amf3::Object {
            traits: std::sync::Arc::new(amf3::Traits::sealed(&class, names)),
            sealed: values,
            dynamic: Vec::new(),
        };
        list(vec![in_amf3(message.into())])
    };
    let headers = amf3::Value::from(amf3::Object {
        traits: std::sync::Arc::new(amf3::Traits {
            class: name(""),
            dynamic: true,
            members: Vec::new(),
        }),
        sealed: Vec::new(),
        dynamic: vec![(name("DSId"), "nil".into())],
    });
    let many = amf3::Value::from(vec![
        amf3::Value::Integer(7),
        amf3::Value::Double(0.5),
        "text".into(),
        "text".into(),
        amf3::Value::Date(9e11),
        amf3::Value::ByteArray(vec![0, 255, 7]),
        amf3::Value::VectorInt(Box::new(amf3::Vector {
            fixed: true,
            values: vec![1, -1],
        })),
        amf3::Value::Array(Box::new(amf3::Array {
            associative: vec![(name("colour"), "red".into())],
            dense: vec![amf3::Value::Null, amf3::Value::Undefined],
        })),
        amf3::Value::Xml(name("<a/>")),
    ]);
    // The least and the greatest of each.
    let vectors = amf3::Value::from(vec![
        amf3::Value::VectorUint(Box::new(amf3::Vector {
            fixed: true,
            values: vec![1, u32::MAX - 1],
        })),
        amf3::Value::VectorInt(Box::new(amf3::Vector {
            fixed: false,
            values: vec![i32::MIN, i32::MAX],
        })),
        amf3::Value::VectorDouble(Box::new(amf3::Vector {
            fixed: false,
            values: vec![-0.0, 1e308, f64::from_bits(1)],
        })),
        amf3::Value::VectorObject {
            class: name("int"),
            vector: Box::new(amf3::Vector {
                fixed: false,
                values: vec![amf3::Value::Integer(1), amf3::Value::Integer(-1)],
            }),
        },
        amf3::Value::Dictionary(Box::new(amf3::Dictionary {
            weak_keys: false,
            entries: vec![
                ("ab".into(), amf3::Value::Boolean(false)),
                (amf3::Value::Integer(5), amf3::Value::Boolean(true)),
            ],
        })),
        amf3::Value::XmlDocument(name("<b/>")),
        amf3::Value::Array(Box::new(amf3::Array {
            associative: vec![(name("key"), "value".into())],
            dense: vec![amf3::Value::Undefined],
        })),
        amf3::Value::Integer(-(1 << 28)),
    ]);
    vec![
        (
            "sum",
            packet(Version::Amf0, &|packet| {
                packet.write_message("Sums.add", "/1", &list(vec![40.0.into(), 2.0.into()]))
            }),
        ),
        (
            "echo",
            packet(Version::Amf0, &|packet| {
                packet.write_header("Credentials", true, &credentials)?;
                packet.write_message("Echo/echo", "/1", &list(vec![object.clone()]))?;
                packet.write_message("Kit.secret", "/2", &amf0::Value::Null)?;
                packet.write_message("Kit.refuse", "null", &list(vec!["why".into()]))
            }),
        ),
        (
            "echo-amf3",
            packet(Version::Amf3, &|packet| {
                packet.write_message("Echo.echo", "/1", &list(vec![in_amf3(many.clone())]))
            }),
        ),
        (
            "echo-vectors",
            packet(Version::Amf3, &|packet| {
                packet.write_message("Echo.echo", "/1", &list(vec![in_amf3(vectors.clone())]))
            }),
        ),
        (
            "tables",
            packet(Version::Amf0, &|packet| {
                packet.write_message(
                    "Tables.list",
                    "/1",
                    &list(vec!["every-type".into(), 3.0.into()]),
                )?;
                packet.write_message(
                    "Tables.stream",
                    "/2",
                    &list(vec!["tiles".into(), 9.0.into()]),
                )
            }),
        ),
        (
            "header-unknown",
            packet(Version::Amf3, &|packet| {
                packet.write_header("Unknown", true, &amf0::Value::Null)?;
                packet.write_message("Tables.list", "/1", &list(vec!["texts".into(), 3.0.into()]))
            }),
        ),
        (
            "flex-ping",
            packet(Version::Amf3, &|packet| {
                let ping = flex(
                    "CommandMessage",
                    vec![
                        ("operation", amf3::Value::Integer(5)),
                        ("messageId", "A".into()),
                        ("headers", headers.clone()),
                    ],
                );
                packet.write_message("null", "/1", &ping)
            }),
        ),
        (
            "flex-login",
            packet(Version::Amf3, &|packet| {
                let login = flex(
                    "CommandMessage",
                    vec![
                        ("operation", amf3::Value::Integer(8)),
                        ("body", "YWRhOmxldCBtZSBpbg==".into()),
                        ("messageId", "B".into()),
                    ],
                );
                packet.write_message("null", "/1", &login)
            }),
        ),
        (
            "flex-call",
            packet(Version::Amf3, &|packet| {
                let call = |method: &str, body: Vec<amf3::Value>| {
                    flex(
                        "RemotingMessage",
                        vec![
                            ("operation", method.into()),
                            ("destination", "Sums".into()),
                            ("source", amf3::Value::Null),
                            ("messageId", "C".into()),
                            ("body", body.into()),
                        ],
                    )
                };
                let sum = vec![amf3::Value::Integer(40), amf3::Value::Integer(2)];
                packet.write_message("null", "/1", &call("add", sum))?;
                packet.write_message("null", "/2", &call("none", vec![many.clone()]))
            }),
        ),
    ]
}
