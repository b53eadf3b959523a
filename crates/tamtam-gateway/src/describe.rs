//! What services there are, with the types of their methods, as a client can read it.

use serde_json::{Value as Json, json};

use crate::{Gateway, Method, Service};

/// All services: their methods with words, names of arguments, and types in JSON Schema.
pub(crate) fn services(gateway: &Gateway) -> Json {
    gateway.services.values().map(service).collect()
}

fn service(service: &Service) -> Json {
    let methods: Vec<Json> = service.methods.values().map(method).collect();
    json!({ "name": service.name, "about": service.about, "methods": methods })
}

fn method(method: &Method) -> Json {
    json!({
        "name": method.name,
        "about": method.about,
        "safe": method.is_safe,
        "arguments": method.fields.unwrap_or_default(),
        "takes": method.takes,
        "gives": method.gives,
    })
}
