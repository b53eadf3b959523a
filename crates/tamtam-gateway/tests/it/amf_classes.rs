//! The classes that a program has for its types, in AMF0, AMF3 and the messages of Flex.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam_gateway::amf::amf0::{TypedObject, Value as Amf0};
use tamtam_gateway::amf::amf3::{Classes, Externalizable, Object, Traits, Value as Amf3};
use tamtam_gateway::amf::packet::{Decoder, Encoder, Version};
use tamtam_gateway::amf::{EncodeError, amf3};
use tamtam_gateway::{AmfClasses, Fault, Gateway, Method, Service, bearer};

use crate::amf::{amf3_in, flex, in_amf3, packet, send};
use crate::world::{Running, kit, run};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Circle {
    radius: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Square {
    side: f64,
    name: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Shape {
    Circle(Circle),
    Square(Square),
    Line { length: f64 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    x: i32,
    label: String,
}

#[derive(Serialize, JsonSchema)]
struct Board {
    shapes: Vec<Shape>,
    at: Option<Place>,
}

/// In ActionScript: `output.writeInt(x); output.writeObject(label);`
fn with_place(classes: AmfClasses) -> AmfClasses {
    classes.externalizable("com.example.Place", read_place, write_place)
}

fn read_place(
    input: &mut amf3::ExternalInput<'_, '_>,
) -> Result<(), tamtam_gateway::amf::DecodeError> {
    let x = i32::from_be_bytes(input.array()?);
    if x == 13 {
        panic!("the secret of the house");
    }
    input.set("x", x.into())?;
    input.value("label")
}

fn write_place(
    object: &Externalizable,
    encoder: &mut amf3::Encoder<'_>,
) -> Result<(), EncodeError> {
    let x = match object.get("x") {
        Some(Amf3::Integer(14)) => panic!("the secret of the house"),
        Some(Amf3::Integer(x)) => *x,
        Some(Amf3::Double(x)) => *x as i32,
        _ => return Err(EncodeError::Refused("a Place has a number x".into())),
    };
    encoder.write_raw(&x.to_be_bytes())?;
    encoder.write_value(object.get("label").unwrap_or(&Amf3::Null))
}

/// Places write themselves.
pub(crate) fn classes() -> AmfClasses {
    with_place(AmfClasses::new().class("Place", "com.example.Place"))
}

pub(crate) fn gateway() -> Gateway {
    let classes = AmfClasses::new()
        .class("Circle", "com.example.Circle")
        .class("Square", "com.example.Square")
        .class("Shape::Circle", "com.example.Circle")
        .class("Shape::Square", "com.example.Square")
        .class("Shape::Line", "com.example.Line")
        .class("Board", "com.example.Board")
        .class("Place", "com.example.Place");
    let grown = Method::blocking("grown", |(shape, factor): (Shape, f64)| {
        Ok::<Shape, Fault>(match shape {
            Shape::Circle(circle) => Shape::Circle(Circle {
                radius: circle.radius * factor,
            }),
            Shape::Square(square) => Shape::Square(Square {
                side: square.side * factor,
                ..square
            }),
            Shape::Line { length } => Shape::Line {
                length: length * factor,
            },
        })
    });
    let area = Method::blocking("area", |(square,): (Square,)| {
        Ok::<f64, Fault>(square.side * square.side)
    });
    let moved = Method::blocking("moved", |(place, by): (Place, i32)| {
        Ok::<Place, Fault>(Place {
            x: place.x + by,
            ..place
        })
    });
    let at = Method::blocking("at", |(x, label): (i32, String)| {
        Ok::<Place, Fault>(Place { x, label })
    });
    let board = Method::blocking("board", |(place,): (Place,)| {
        let line = Shape::Line { length: 1.5 };
        let square = Shape::Square(Square {
            side: 2.0,
            name: None,
        });
        Ok::<Board, Fault>(Board {
            shapes: vec![line, square],
            at: Some(place),
        })
    });
    let service = Service::new("Shapes")
        .with(grown)
        .with(area)
        .with(moved)
        .with(at)
        .with(board);
    kit().service(service).amf_classes(with_place(classes))
}

fn object0(class: &str, properties: &[(&str, Amf0)]) -> Amf0 {
    let properties = properties.iter();
    Amf0::TypedObject(Box::new(TypedObject {
        class: class.into(),
        properties: properties
            .map(|(name, value)| ((*name).into(), value.clone()))
            .collect(),
    }))
}

fn object3(class: &str, members: &[(&str, Amf3)]) -> Amf3 {
    Amf3::from(Object {
        traits: Arc::new(Traits::sealed(class, members.iter().map(|(name, _)| *name))),
        sealed: members.iter().map(|(_, value)| value.clone()).collect(),
        dynamic: Vec::new(),
    })
}

pub(crate) fn place3(x: i32, label: &str) -> Amf3 {
    Amf3::from(Externalizable {
        class: "com.example.Place".into(),
        members: vec![("x".into(), x.into()), ("label".into(), label.into())],
    })
}

/// The classes of the other side.
fn classes3() -> Classes {
    Classes::flex().with("com.example.Place", read_place, |object, encoder| {
        let x = match object.get("x") {
            Some(Amf3::Integer(x)) => *x,
            Some(Amf3::Double(x)) => *x as i32,
            other => panic!("{other:?}"),
        };
        encoder.write_raw(&x.to_be_bytes())?;
        encoder.write_value(object.get("label").unwrap())
    })
}

/// Calls in AMF3, numbered from here on.
pub(crate) fn packet3(first: usize, calls: Vec<(&str, Amf3)>) -> Vec<u8> {
    let classes = classes3();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, Version::Amf3).with_classes(&classes);
    for (index, (target, value)) in (first..).zip(calls) {
        let written = encoder.write_message(target, &format!("/{index}"), &in_amf3(value));
        written.unwrap();
    }
    bytes
}

/// Calls in AMF3; where the answers go, and what they are.
async fn call3(server: &Running, calls: Vec<(&str, Amf3)>) -> Vec<(String, Amf3)> {
    post3(server, packet3(0, calls)).await
}

/// A packet of AMF3; where the answers go, and what they are.
pub(crate) async fn post3(server: &Running, packet: Vec<u8>) -> Vec<(String, Amf3)> {
    let classes = classes3();
    let answered = server.post("/amf", "application/x-amf", packet).await;
    assert_eq!(answered.status, 200, "{:?}", answered.body);
    let decoder = Decoder::new(&answered.body, Default::default()).unwrap();
    let mut decoder = decoder.with_classes(&classes);
    assert!(decoder.next_header().unwrap().is_none());
    let mut answers = Vec::new();
    while let Some(message) = decoder.next_message().unwrap() {
        let target = message.target.to_owned();
        let value = decoder.value().unwrap();
        answers.push((target, amf3_in(&value).clone()));
    }
    answers
}

#[test]
fn types_are_objects_of_their_classes_in_amf0() {
    run(|| async {
        let server = Running::of(gateway()).await;
        let circle = |radius: f64| object0("com.example.Circle", &[("radius", radius.into())]);
        let line = |length: f64| object0("com.example.Line", &[("length", length.into())]);
        let named = Amf0::Object(vec![("side".into(), 3.0.into())]);
        let calls = vec![
            ("Shapes.grown", vec![circle(1.5), 2.0.into()].into()),
            ("Shapes.grown", vec![line(1.0), 2.0.into()].into()),
            // An object without a class is taken, one of another class is not.
            ("Shapes.area", vec![named].into()),
            ("Shapes.area", vec![circle(1.0)].into()),
            (
                "Shapes.grown",
                vec![object0("com.example.Other", &[]), 2.0.into()].into(),
            ),
        ];
        let answer = send(&server, &packet(Version::Amf0, calls)).await;
        let values: Vec<_> = answer
            .messages
            .iter()
            .map(|message| &message.value)
            .collect();
        assert_eq!(values[..3], [&circle(3.0), &line(2.0), &9.0.into()]);
        for (message, words) in answer.messages[3..].iter().zip([
            r#"an object of the class "com.example.Circle" came in place of a com.example.Square"#,
            "an object is no variant",
        ]) {
            assert!(message.target.ends_with("/onStatus"), "{message:?}");
            let Some(Amf0::String(said)) = message.value.get("description") else {
                panic!("{message:?}");
            };
            assert!(said.contains(words), "{said}");
        }
    });
}

#[test]
fn types_are_objects_of_their_classes_in_amf3_and_classes_write_themselves() {
    run(|| async {
        let server = Running::of(gateway()).await;
        let square = |side: f64| {
            object3(
                "com.example.Square",
                &[("side", side.into()), ("name", Amf3::Null)],
            )
        };
        let calls = vec![
            ("Shapes.grown", vec![square(1.5), 3.0.into()].into()),
            ("Shapes.moved", vec![place3(5, "here"), 2.into()].into()),
            ("Shapes.board", vec![place3(1 << 30, "far")].into()),
            // A value keeps the members and the class.
            ("Echo.echo", vec![vec![place3(-1, "é")].into()].into()),
        ];
        let answers = call3(&server, calls).await;
        assert_eq!(answers[0], ("/0/onResult".into(), square(4.5)));
        assert_eq!(answers[1], ("/1/onResult".into(), place3(7, "here")));
        let line = object3("com.example.Line", &[("length", 1.5.into())]);
        let shapes = vec![line, square(2.0)].into();
        let far = Amf3::from(Externalizable {
            class: "com.example.Place".into(),
            members: vec![
                ("x".into(), (1 << 30).into()),
                ("label".into(), "far".into()),
            ],
        });
        let board = object3("com.example.Board", &[("shapes", shapes), ("at", far)]);
        assert_eq!(answers[2], ("/2/onResult".into(), board));
        assert_eq!(answers[3].1, vec![place3(-1, "é")].into());
        // In other protocols they are objects of no class.
        let call = r#"{"jsonrpc":"2.0","method":"Shapes.grown","params":[{"Circle":{"radius":1}},2],"id":1}"#;
        let told = server.json_rpc(call).await;
        assert_eq!(told["result"]["Circle"]["radius"], 2.0);
    });
}

#[test]
fn a_remote_object_of_flex_has_the_same_classes() {
    run(|| async {
        let server = Running::of(gateway()).await;
        let message = |operation: &str, body: Amf3| {
            let members = [
                ("destination", "Shapes".into()),
                ("operation", operation.into()),
                ("body", body),
            ];
            vec![flex("RemotingMessage", &members)].into()
        };
        let circle = |radius: f64| object3("com.example.Circle", &[("radius", radius.into())]);
        let calls = vec![
            (
                "null",
                message("grown", vec![circle(2.0), 2.0.into()].into()),
            ),
            (
                "null",
                message("moved", vec![place3(1, "a"), 1.into()].into()),
            ),
            ("null", message("area", vec![circle(2.0)].into())),
        ];
        let answers = call3(&server, calls).await;
        assert_eq!(answers[0].1.get("body"), Some(&circle(4.0)));
        assert_eq!(answers[1].1.get("body"), Some(&place3(2, "a")));
        assert_eq!(answers[2].0, "/2/onStatus");
        assert_eq!(
            answers[2].1.get("faultCode"),
            Some(&"Client.Arguments".into())
        );
    });
}

#[test]
fn a_class_that_fails_ends_its_call_and_tells_nothing() {
    run(|| async {
        let server = Running::of(gateway()).await;
        let calls = vec![
            ("Shapes.moved", vec![place3(7, "a"), 7.into()].into()),
            ("Shapes.moved", vec![place3(7, "a"), 8.into()].into()),
        ];
        let answers = call3(&server, calls).await;
        // The one whose function panics, and one behind it.
        assert_eq!(answers[0].0, "/0/onStatus");
        let said = format!("{:?}", answers[0].1);
        assert!(
            said.contains("the class failed") && !said.contains("secret"),
            "{said}"
        );
        assert_eq!(answers[1].1, place3(15, "a"));
        // Where a packet cannot be read none of its calls begins.
        let mut bytes = Vec::new();
        let classes = classes3();
        let mut encoder = Encoder::new(&mut bytes, Version::Amf3).with_classes(&classes);
        let place: Amf3 = vec![place3(13, "a"), 7.into()].into();
        encoder
            .write_message("Shapes.moved", "/1", &in_amf3(place))
            .unwrap();
        let answered = server.post("/amf", "application/x-amf", bytes).await;
        let said = String::from_utf8_lossy(&answered.body);
        assert!(
            said.contains("the class failed") && !said.contains("secret"),
            "{said}"
        );
    });
}

#[test]
fn a_class_that_is_not_known_is_named() {
    run(|| async {
        let server = Running::of(kit().authorize(bearer("let me in"))).await;
        let mut bytes = Vec::new();
        let classes = classes3();
        let mut encoder = Encoder::new(&mut bytes, Version::Amf3).with_classes(&classes);
        let place: Amf3 = vec![place3(1, "a")].into();
        encoder
            .write_message("Echo.echo", "/1", &in_amf3(place))
            .unwrap();
        let answered = server.post("/amf", "application/x-amf", bytes).await;
        let said = String::from_utf8_lossy(&answered.body);
        assert!(said.contains("com.example.Place"), "{said}");
    });
}
