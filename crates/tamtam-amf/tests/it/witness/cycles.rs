//! What holds itself, by each kind of container, and two that hold each other.

use std::sync::Arc;

use tamtam_amf::amf3::{Array, Dictionary, Externalizable, Object, Traits, Vector};
use tamtam_amf::{Cause, Limits, amf0, amf3};

use super::what::{of_amf0, of_amf0_by, of_amf3};
use super::{Who, Witness, amf0_of, amf3_of};

fn held(class: &str, member: &str, value: amf3::Value) -> amf3::Value {
    amf3::Value::from(Externalizable {
        class: class.into(),
        members: vec![(member.into(), value)],
    })
}

fn object(class: &str, member: &str, value: amf3::Value) -> amf3::Value {
    amf3::Value::from(Object {
        traits: Arc::new(Traits::sealed(class, [member])),
        sealed: vec![value],
        dynamic: vec![],
    })
}

fn dynamic(name: &str, value: amf3::Value) -> amf3::Value {
    amf3::Value::from(Object {
        traits: Arc::new(Traits::dynamic("")),
        sealed: vec![],
        dynamic: vec![(name.into(), value)],
    })
}

/// Values of AMF3 that refer to the first of them, and are known to both witnesses.
fn of_both() -> Vec<amf3::Value> {
    use amf3::Value;
    let own = || Value::Reference(0);
    let list = |value: Value| Value::from(vec![value]);
    let named = |dense| {
        Value::Array(Box::new(Array {
            associative: vec![("own".into(), own()), ("7".into(), own())],
            dense,
        }))
    };
    vec![
        list(own()),
        named(vec![]),
        named(vec![own()]),
        object("demo.Tile", "own", own()),
        dynamic("own", own()),
        held("flex.messaging.io.ArrayCollection", "source", list(own())),
        held(
            "flex.messaging.io.ObjectProxy",
            "object",
            dynamic("own", own()),
        ),
        // Each other.
        list(dynamic("own", own())),
        object("demo.Tile", "list", list(own())),
        // The inner one, and both.
        list(list(Value::Reference(1))),
        vec![list(own()), Value::Reference(1), own()].into(),
    ]
}

/// Values of AMF3 that refer to the first of them, of the kinds that Py3AMF does not know.
fn of_blazeds() -> Vec<amf3::Value> {
    use amf3::Value;
    let own = || Value::Reference(0);
    let vector = |class: &str, fixed| Value::VectorObject {
        class: class.into(),
        vector: Box::new(Vector {
            fixed,
            values: vec![own(), "a".into()],
        }),
    };
    let dictionary = |entries| {
        let weak_keys = false;
        Value::Dictionary(Box::new(Dictionary { weak_keys, entries }))
    };
    vec![
        vector("", false),
        vector("", true),
        vector("demo.Tile", false),
        vector("demo.Tile", true),
        dictionary(vec![("own".into(), own()), (1.5.into(), own())]),
        // A key that is an array is told from others by being that one.
        dictionary(vec![(vec![own()].into(), 1.into())]),
        dictionary(vec![(
            vec![1.into()].into(),
            vec![own(), Value::Reference(1)].into(),
        )]),
        held("flex.messaging.io.ArrayList", "source", vec![own()].into()),
        vec![vector("demo.Tile", true), Value::Reference(1)].into(),
    ]
}

fn agree_on_amf3(witness: &mut Witness, who: Who, form: char, value: &amf3::Value) {
    let (what, written) = witness
        .ask(form, &amf3::encode(value).unwrap())
        .unwrap_or_else(|e| panic!("{e}{value:?}"));
    assert!(what.contains('^'), "{what}");
    assert_eq!(what, of_amf3(value, who), "{value:?}");
    assert_eq!(of_amf3(&amf3_of(&written), who), what, "{value:?}");
    let error = amf3::decode(&written, Limits::default()).unwrap_err();
    assert!(matches!(error.cause, Cause::Cycle { .. }), "{error}");
}

/// Each kind of AMF0, and each kind of AMF3 that the witness knows.
fn agree_on_cycles(who: Who, forms_of_amf0: &str, forms_of_amf3: &str) {
    use amf0::{TypedObject, Value};
    let mut witness = Witness::call(who);
    let own = || Value::Reference(0);
    let named = || vec![("own".into(), own()), ("7".into(), own())];
    let values = [
        Value::from(vec![own()]),
        Value::Object(named()),
        Value::EcmaArray(named()),
        Value::TypedObject(Box::new(TypedObject {
            class: "demo.Tile".into(),
            properties: named(),
        })),
        // Each other.
        Value::from(vec![Value::EcmaArray(named())]),
        Value::from(vec![Value::Object(named()), Value::Reference(1), own()]),
    ];
    for (value, form) in values
        .iter()
        .flat_map(|v| forms_of_amf0.chars().map(move |f| (v, f)))
    {
        let (what, written) = witness.ask(form, &amf0::encode(value).unwrap()).unwrap();
        assert!(what.contains('^'), "{what}");
        assert_eq!(what, of_amf0(value, who), "{value:?}");
        let again = amf0_of(&written);
        assert_eq!(of_amf0_by(&again, who, who.writes()), what, "{value:?}");
        let error = amf0::decode(&written, Limits::default()).unwrap_err();
        assert!(matches!(error.cause, Cause::Cycle { .. }), "{error}");
    }
    let mut values = of_both();
    if who == Who::BlazeDs {
        values.extend(of_blazeds());
    }
    for (value, form) in values
        .iter()
        .flat_map(|v| forms_of_amf3.chars().map(move |f| (v, f)))
    {
        agree_on_amf3(&mut witness, who, form, value);
    }
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_what_holds_itself() {
    agree_on_cycles(Who::BlazeDs, "0e", "3v");
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_what_holds_itself() {
    agree_on_cycles(Who::Py3Amf, "0", "3");
}
