//! XML-RPC: calls, faults, and what a server tells of itself.

use tamtam_gateway::bearer;

use crate::world::{Running, kit, run};

fn call(method: &str, params: &[&str]) -> String {
    let params: String = params
        .iter()
        .map(|value| format!("<param><value>{value}</value></param>"))
        .collect();
    format!(
        "<?xml version=\"1.0\"?>\n<methodCall><methodName>{method}</methodName><params>{params}</params></methodCall>"
    )
}

#[test]
fn every_type_comes_back_as_it_went() {
    run(|| async {
        let server = Running::of(kit()).await;
        for value in [
            "<int>-7</int>",
            "<i8>5000000000</i8>",
            "<boolean>1</boolean>",
            "<double>-0.25</double>",
            "<string>a &lt; b &amp;&#13;\n  c é</string>",
            "<string></string>",
            "<dateTime.iso8601>19980717T14:08:55</dateTime.iso8601>",
            "<base64>AP9A</base64>",
            "<nil/>",
            "<array><data><value><int>1</int></value><value><array><data></data></array></value></data></array>",
            "<struct><member><name>a&amp;b</name><value><boolean>0</boolean></value></member></struct>",
        ] {
            let answer = server.xml_rpc(call("Echo.echo", &[value])).await;
            let wanted = format!(
                "<methodResponse><params><param><value>{value}</value></param></params></methodResponse>"
            );
            assert!(answer.contains(&wanted), "{value}: {answer}");
        }
        // Ways to write that are read and not written.
        for (value, wanted) in [
            ("plain text", "<string>plain text</string>"),
            ("<![CDATA[<b>]]>", "<string>&lt;b&gt;</string>"),
            ("x&#233;&lt;y", "<string>xé&lt;y</string>"),
            ("<!-- a comment --><i4>\n 5 </i4>", "<int>5</int>"),
            ("<ex:nil/>", "<nil/>"),
            ("<base64>AP\n9A</base64>", "<base64>AP9A</base64>"),
            (
                "<dateTime.iso8601>1998-07-17T14:08:55+02:00</dateTime.iso8601>",
                "<dateTime.iso8601>19980717T12:08:55</dateTime.iso8601>",
            ),
        ] {
            let answer = server.xml_rpc(call("Echo.echo", &[value])).await;
            assert!(
                answer.contains(&format!("<value>{wanted}</value>")),
                "{value}: {answer}"
            );
        }
    });
}

#[test]
fn a_fault_has_a_number_and_a_text() {
    run(|| async {
        let server = Running::of(kit()).await;
        for (body, number, text) in [
            (
                call("Tiles.list", &["none"]),
                -32500,
                "Tiles.NoSet: there is no such set",
            ),
            (
                call(
                    "Sums.add",
                    &["<i8>9223372036854775807</i8>", "<int>1</int>"],
                ),
                7,
                "Sums.TooLarge",
            ),
            (call("Sums.none", &[]), -32601, "no method"),
            (call("Sums.add", &["<int>1</int>"]), -32602, "right"),
            (call("Kit.panic", &[]), -32603, "the method failed"),
            (
                "<methodCall><methodName>a</methodCall>".into(),
                -32700,
                "no call of XML-RPC",
            ),
            ("<methodResponse/>".into(), -32600, "&lt;methodCall&gt;"),
            (
                "<!DOCTYPE a [<!ENTITY b \"c\">]><methodCall/>".into(),
                -32600,
                "no call of XML-RPC",
            ),
            (
                call("Echo.echo", &["<string>&b;</string>"]),
                -32600,
                "reference",
            ),
            (call("Echo.echo", &["<int>x</int>"]), -32600, "type int"),
        ] {
            let answer = server.xml_rpc(body.clone()).await;
            assert!(
                answer.contains(&format!("<name>faultCode</name><value><int>{number}</int>")),
                "{body}: {answer}"
            );
            assert!(answer.contains(text), "{body}: {answer}");
            assert!(!answer.contains("secret"), "{answer}");
        }
    });
}

#[test]
fn a_table_is_an_array_of_structs_also_among_other_answers() {
    run(|| async {
        let server = Running::of(kit()).await;
        let alone = server
            .xml_rpc(call("Tiles.list", &["palette", "<int>5</int>"]))
            .await;
        let row = "<struct><member><name>slot</name><value><i8>4</i8></value></member>\
            <member><name>color</name><value><nil/></value></member></struct>";
        assert!(alone.contains(row), "{alone}");
        let in_struct = |method: &str, params: &str| {
            format!(
                "<value><struct><member><name>methodName</name><value>{method}</value></member>\
                 <member><name>params</name><value><array><data>{params}</data></array></value></member></struct></value>"
            )
        };
        let calls = [
            in_struct(
                "Tiles.list",
                "<value>palette</value><value><int>5</int></value>",
            ),
            in_struct("Tiles.list", "<value>none</value>"),
            in_struct("system.multicall", ""),
            in_struct("Echo.echo", "<value>last</value>"),
        ];
        let list = format!("<array><data>{}</data></array>", calls.concat());
        let answer = server.xml_rpc(call("system.multicall", &[&list])).await;
        assert!(answer.contains(row), "{answer}");
        assert!(
            answer.contains("<array><data><value><string>last</string></value></data></array>"),
            "{answer}"
        );
        assert_eq!(answer.matches("faultCode").count(), 2, "{answer}");
    });
}

#[test]
fn a_server_tells_of_its_methods_only_those_who_may_call() {
    run(|| async {
        let server = Running::of(kit().authorize(bearer("let me in"))).await;
        for method in ["system.listMethods", "system.methodHelp", "system.none"] {
            let said = server.xml_rpc(call(method, &["Sums.add"])).await;
            assert!(said.contains("<name>faultCode</name>"), "{method}: {said}");
            assert!(
                !said.contains("Tiles") && !said.contains("-32601"),
                "{method}: {said}"
            );
        }
    });
}

#[test]
fn a_server_tells_of_its_methods() {
    run(|| async {
        let server = Running::of(kit()).await;
        let listed = server.xml_rpc(call("system.listMethods", &[])).await;
        for name in ["Tiles.list", "Sums.add", "system.multicall"] {
            assert!(
                listed.contains(&format!("<string>{name}</string>")),
                "{listed}"
            );
        }
        let help = server
            .xml_rpc(call("system.methodHelp", &["Tiles.list"]))
            .await;
        assert!(help.contains("Tiles &amp; more."), "{help}");
        let signature = server
            .xml_rpc(call("system.methodSignature", &["Tiles.list"]))
            .await;
        let types: Vec<&str> = signature
            .split("<string>")
            .skip(1)
            .filter_map(|rest| rest.split('<').next())
            .collect();
        assert_eq!(types, ["array", "string", "int"], "{signature}");
        let signature = server
            .xml_rpc(call("system.methodSignature", &["Sums.add"]))
            .await;
        assert!(signature.contains("<string>struct</string>"), "{signature}");
        let none = server
            .xml_rpc(call("system.methodHelp", &["No.method"]))
            .await;
        assert!(none.contains("-32601"), "{none}");
        let none = server.xml_rpc(call("system.shutdown", &[])).await;
        assert!(none.contains("-32601"), "{none}");
    });
}

#[test]
fn values_lie_no_deeper_in_each_other_than_a_thread_can_read() {
    run(|| async {
        let limits = tamtam_gateway::Limits {
            depth: usize::MAX,
            ..Default::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        for (depth, is_read) in [(100, true), (200, false), (20_000, false)] {
            let begin = "<value><array><data>".repeat(depth);
            let end = "</data></array></value>".repeat(depth);
            let call = format!(
                "<methodCall><methodName>Echo.echo</methodName><params><param>{begin}{end}</param></params></methodCall>"
            );
            let answer = server.xml_rpc(call).await;
            assert_eq!(answer.contains("<fault>"), !is_read, "{depth}");
        }
    });
}
