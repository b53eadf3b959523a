//! XML-RPC: what others write is read, what is written is as the specification has it, and what cannot be read is said.

use tamtam_rows::encoding::XmlRpc;
use tamtam_rows::{
    Column, DecodeError, Encoding, Field, Kind, Limits, Rows, Schema, Unit, Value, Zone,
};

fn decode(text: &str, schema: &Schema) -> Result<Rows, DecodeError> {
    XmlRpc.decode(text.as_bytes(), Some(schema), &Limits::default())
}

/// An answer with these rows.
fn answer(rows: &str) -> String {
    format!(
        "<methodResponse><params><param><value><array><data>{rows}</data></array></value></param></params></methodResponse>"
    )
}

fn names() -> Schema {
    Schema::new([
        Field::new("n", Kind::I32),
        Field::nullable("name", Kind::Text),
    ])
    .unwrap()
}

/// Made by `xmlrpc.client.dumps` of Python 3 (with `allow_none`), which lets carriage returns stand as they are; a
/// reader of XML takes one with a line feed for a line feed.
#[test]
fn what_python_writes_is_read() {
    let schema = Schema::new([
        Field::new("yes", Kind::Bool),
        Field::new("n", Kind::I16),
        Field::nullable("name", Kind::Text),
        Field::new("real", Kind::F64),
        Field::new("raw", Kind::Bytes),
        Field::new("at", Kind::Timestamp(Unit::Second, Zone::Local)),
    ])
    .unwrap();
    let rows = decode(include_str!("../golden/xml_rpc_python.xml"), &schema).unwrap();
    let all: Vec<u8> = (0..100).collect();
    let found: Vec<Vec<Value>> = rows.iter().map(|row| row.values().collect()).collect();
    assert_eq!(
        found,
        [
            [
                Value::Bool(true),
                Value::Int(1),
                Value::Text("a <b> & \"c\"\n ä"),
                Value::F64(0.1),
                Value::Bytes(&all),
                Value::Timestamp(900_684_535),
            ],
            [
                Value::Bool(false),
                Value::Int(-5),
                Value::Null,
                Value::F64(-1e20),
                Value::Bytes(&[]),
                Value::Timestamp(0),
            ],
        ]
    );
}

#[test]
fn what_is_written_is_as_the_specification_has_it() {
    let schema = Schema::new([
        Field::new("n", Kind::U16),
        Field::new("large", Kind::U32),
        Field::new("real", Kind::F64),
        Field::nullable("a<b", Kind::Text),
        Field::new("day", Kind::Date),
    ])
    .unwrap();
    let rows = Rows::new(
        schema,
        [
            Column::from(vec![1_u16]),
            Column::from(vec![u32::MAX]),
            Column::from(vec![-1.5e-7]),
            Column::from_iter([Some("x & y\r>")]),
            Column::from(vec![-1_i32]),
        ],
    )
    .unwrap();
    let mut bytes = Vec::new();
    XmlRpc.encode(&rows, &mut bytes).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "<?xml version=\"1.0\"?>\n<methodResponse><params><param><value><array><data>\
         <value><struct>\
         <member><name>n</name><value><i4>1</i4></value></member>\
         <member><name>large</name><value><i8>4294967295</i8></value></member>\
         <member><name>real</name><value><double>-0.00000015</double></value></member>\
         <member><name>a&lt;b</name><value><string>x &amp; y&#13;&gt;</string></value></member>\
         <member><name>day</name><value><string>1969-12-31</string></value></member>\
         </struct></value>\
         </data></array></value></param></params></methodResponse>\n"
    );
}

#[test]
fn types_may_be_missing_and_what_is_missing_is_null() {
    let text = answer(
        "<value><struct><member><name>name</name><value>plain</value></member>
         <member><name>n</name><value> <int> 7 </int> </value></member></struct></value>
         <!-- a comment -->
         <value><struct><member><name>n</name><value><i8>8</i8></value></member></struct></value>
         <value><struct><member><name>n</name><value><i4>9</i4></value></member>
         <member><name>name</name><value><string/></value></member></struct></value>
         <value><struct><member><name>n</name><value><i4>10</i4></value></member>
         <member><name>name</name><value><string><![CDATA[<x>]]>&#228;&amp;</string></value></member></struct></value>",
    );
    let rows = decode(&text, &names()).unwrap();
    let found: Vec<Value> = rows.iter().map(|row| row.value(1)).collect();
    assert_eq!(
        found,
        [
            Value::Text("plain"),
            Value::Null,
            Value::Text(""),
            Value::Text("<x>ä&")
        ]
    );
    assert_eq!(
        rows.column("n").unwrap().slice::<i32>().unwrap(),
        [7, 8, 9, 10]
    );
}

#[test]
fn errors_say_what_is_wrong() {
    let said = |rows: &str| decode(&answer(rows), &names()).unwrap_err().to_string();
    let row = |members: &str| format!("<value><struct>{members}</struct></value>");
    let expected = [
        (
            row("<member><name>m</name><value>1</value></member>"),
            "it has a column \"m\", which the schema does not have",
        ),
        (
            row("<member><name>n</name><value>1</value></member>"),
            "the value 1 in column \"n\", row 0, is not of type i32",
        ),
        (
            row("<member><name>n</name><value><i4>1.0</i4></value></member>"),
            "the value 1.0 in column \"n\", row 0, is not of type i32",
        ),
        (
            row("<member><name>n</name><value><nil/></value></member>"),
            "the value  in column \"n\", row 0, is not of type i32",
        ),
        (row(""), "row 0 has no \"n\", a column without nulls"),
        (
            row(&"<member><name>n</name><value><i4>1</i4></value></member>".repeat(2)),
            "row 0 has \"n\" twice",
        ),
        (
            row("<member><name>n</name><value><array/></value></member>"),
            "is not of type i32",
        ),
        (
            row("<member><name>n</name><value><i4><b/></i4></value></member>"),
            "<b> stands where text is expected",
        ),
        (
            "<value><i4>1</i4></value>".into(),
            "<i4> stands where <struct> is expected",
        ),
        (
            row("<member><name>&bomb;</name><value/></member>"),
            "there is no character &bomb;",
        ),
        ("x".into(), "text stands where <value> is expected"),
    ];
    for (rows, expected) in expected {
        let said = said(&rows);
        assert!(said.ends_with(expected), "{rows}: {said}");
    }
    let said = |text: &str| decode(text, &names()).unwrap_err().to_string();
    let fault = "<methodResponse><fault><value><struct></struct></value></fault></methodResponse>";
    assert!(
        said(fault).ends_with("the answer is a fault, not a table"),
        "{}",
        said(fault)
    );
    let bomb = format!("<!DOCTYPE x [<!ENTITY bomb \"boom\">]>{}", answer(""));
    assert!(
        said(&bomb).ends_with("a document type stands where <methodResponse> is expected"),
        "{}",
        said(&bomb)
    );
    assert!(said("").contains("ends too early"));
    assert!(said(&(answer("") + "<more/>")).ends_with("more follows behind the answer"));
}

#[test]
fn a_number_beyond_the_range_of_a_float_is_not_infinity() {
    for (kind, text) in [(Kind::F64, "1e999"), (Kind::F32, "3.5e38")] {
        let schema = Schema::new([Field::new("x", kind)]).unwrap();
        let xml = format!(
            "<methodResponse><params><param><value><array><data><value><struct><member><name>x</name>\
             <value><double>{text}</double></value></member></struct></value></data></array></value></param></params>\
             </methodResponse>"
        );
        let error = XmlRpc
            .decode(xml.as_bytes(), Some(&schema), &Limits::default())
            .unwrap_err();
        assert!(matches!(error, DecodeError::Value { .. }), "{error}");
    }
}
