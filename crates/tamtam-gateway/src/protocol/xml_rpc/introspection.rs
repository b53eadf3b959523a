//! What a server tells of its methods.

use crate::{Fault, FaultKind, Gateway, Method, Value};

/// The methods that each server has.
const OWN: [&str; 4] = [
    "system.listMethods",
    "system.methodHelp",
    "system.methodSignature",
    "system.multicall",
];

/// The answer of `system.NAME`.
pub(super) fn answer(gateway: &Gateway, name: &str, params: Vec<Value>) -> Result<Value, Fault> {
    match name {
        "listMethods" => {
            let own = OWN.into_iter().map(str::to_owned);
            let all = gateway.method_names().into_iter().chain(own);
            Ok(Value::List(all.map(Value::Text).collect()))
        }
        "methodHelp" => match about(gateway, params)? {
            About::Own(help) => Ok(Value::from(help)),
            About::Method(method) => Ok(Value::from(&*method.about)),
        },
        "methodSignature" => match about(gateway, params)? {
            // No signature is known of methods without fixed types.
            About::Own(_) => Ok(Value::from("undef")),
            About::Method(method) => Ok(signature(method)),
        },
        _ => {
            let known = OWN.join(", ");
            Err(Fault::of(
                FaultKind::NoMethod,
                format!("of the methods system.* there are {known}"),
            ))
        }
    }
}

enum About<'g> {
    Own(&'static str),
    Method(&'g Method),
}

fn about(gateway: &Gateway, params: Vec<Value>) -> Result<About<'_>, Fault> {
    let Ok([Value::Text(name)]) = <[Value; 1]>::try_from(params) else {
        return Err(Fault::arguments("it takes the name of a method"));
    };
    match &*name {
        "system.listMethods" => return Ok(About::Own("The names of all methods.")),
        "system.methodHelp" => return Ok(About::Own("What a method does, in words.")),
        "system.methodSignature" => {
            return Ok(About::Own(
                "The types of a method: its answer's, then its arguments'.",
            ));
        }
        "system.multicall" => {
            return Ok(About::Own(
                "Several calls in one: structs of methodName and params.",
            ));
        }
        _ => {}
    }
    let (service, method) = name.rsplit_once('.').unwrap_or(("", &name));
    gateway
        .find(service, method)
        .map(About::Method)
        .ok_or_else(|| Fault::of(FaultKind::NoMethod, "there is no method of that name"))
}

/// One signature: the type of the answer, then those of the arguments from left to right.
fn signature(method: &Method) -> Value {
    let mut types = vec![kind(method.gives.as_value())];
    let takes = method.takes.as_value();
    if let Some(fields) = &method.fields {
        let members = takes.get("properties");
        let of = |field: &&str| {
            members
                .and_then(|members| members.get(*field))
                .map_or("undef", kind)
        };
        types.extend(fields.iter().map(of));
    } else if let Some(places) = takes
        .get("prefixItems")
        .and_then(|places| places.as_array())
    {
        types.extend(places.iter().map(kind));
    }
    Value::List(vec![Value::List(
        types.into_iter().map(Value::from).collect(),
    )])
}

/// The type of XML-RPC for one of JSON Schema. What may be several things is `undef`.
fn kind(schema: &serde_json::Value) -> &'static str {
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(choice).and_then(|choices| choices.as_array()) {
            // The variants of an enum, or an option: a type beside null.
            return the_one(choices.iter().map(kind));
        }
    }
    match schema.get("type") {
        Some(serde_json::Value::String(name)) => named(name),
        Some(serde_json::Value::Array(names)) => {
            the_one(names.iter().filter_map(|name| name.as_str()).map(named))
        }
        _ => "undef",
    }
}

/// The one type that all are, but for those that are nothing.
fn the_one(kinds: impl Iterator<Item = &'static str>) -> &'static str {
    let mut some = kinds.filter(|kind| *kind != "nil");
    let Some(first) = some.next() else {
        return "nil";
    };
    if some.all(|kind| kind == first) {
        first
    } else {
        "undef"
    }
}

fn named(name: &str) -> &'static str {
    match name {
        "boolean" => "boolean",
        "integer" => "int",
        "number" => "double",
        "string" => "string",
        "array" => "array",
        "object" => "struct",
        "null" => "nil",
        _ => "undef",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::kind;

    #[test]
    fn a_choice_is_of_a_type_if_all_of_it_are() {
        let variants =
            json!({"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]});
        assert_eq!(kind(&variants), "string");
        let option = json!({"anyOf": [{"type": "object"}, {"type": "null"}]});
        assert_eq!(kind(&option), "struct");
        assert_eq!(kind(&json!({"type": ["integer", "null"]})), "int");
        assert_eq!(kind(&json!({"type": ["integer", "string"]})), "undef");
        assert_eq!(kind(&json!(true)), "undef");
    }
}
