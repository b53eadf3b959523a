//! Types that are classes of AMF, and one that writes itself: what one tries a client of Flash with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam_gateway::amf::EncodeError;
use tamtam_gateway::amf::amf3::Value;
use tamtam_gateway::{AmfClasses, Fault, Gateway, Method, Service};

/// `com.example.Circle`.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Circle {
    radius: f64,
}

/// `com.example.Square`.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Square {
    side: f64,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Shape {
    Circle(Circle),
    Square(Square),
}

/// `com.example.Place`, which writes itself.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Spot {
    x: i32,
    label: String,
}

#[derive(Deserialize, JsonSchema)]
struct GrowArgs {
    shape: Shape,
    factor: f64,
}

#[derive(Deserialize, JsonSchema)]
struct MoveArgs {
    place: Spot,
    by: i32,
}

/// Adds the service, and its classes.
pub(super) fn shapes(gateway: Gateway) -> Gateway {
    let grow = Method::new("grow", |GrowArgs { shape, factor }| async move {
        Ok::<Shape, Fault>(match shape {
            Shape::Circle(Circle { radius }) => Shape::Circle(Circle {
                radius: radius * factor,
            }),
            Shape::Square(Square { side }) => Shape::Square(Square {
                side: side * factor,
            }),
        })
    });
    let shift = Method::new("shift", |MoveArgs { place, by }| async move {
        let x = place.x.checked_add(by);
        let x = x.ok_or_else(|| Fault::new("Shapes.TooFar", "x has 32 bits"))?;
        Ok::<Spot, Fault>(Spot { x, ..place })
    });
    let service = Service::new("Shapes")
        .about(
            "Objects of classes in AMF: com.example.Circle, com.example.Square, com.example.Place.",
        )
        .with(grow.about("The shape, so many times as large.").safe())
        .with(shift.about("The place, moved by so much.").safe());
    gateway.service(service).amf_classes(classes())
}

fn classes() -> AmfClasses {
    AmfClasses::new()
        .class("Circle", "com.example.Circle")
        .class("Square", "com.example.Square")
        .class("Shape::Circle", "com.example.Circle")
        .class("Shape::Square", "com.example.Square")
        .class("Spot", "com.example.Place")
        // In ActionScript: output.writeInt(x); output.writeObject(label);
        .externalizable(
            "com.example.Place",
            |input| {
                let x = i32::from_be_bytes(input.array()?);
                input.set("x", x.into())?;
                input.value("label")
            },
            |place, encoder| {
                let x = match place.get("x") {
                    Some(Value::Integer(x)) => *x,
                    // An integer of more than 29 bits.
                    Some(Value::Double(x)) => *x as i32,
                    _ => return Err(EncodeError::Refused("a Place has a number x".into())),
                };
                encoder.write_raw(&x.to_be_bytes())?;
                encoder.write_value(place.get("label").unwrap_or(&Value::Null))
            },
        )
}
