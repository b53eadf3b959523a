//! What services and links there are, with the types of methods, as a client can read it.

use serde_json::{Value as Json, json};

use crate::{Gateway, LinkRoot, Method, Publication, Service};

/// All services: their methods with words, names of arguments, and types in JSON Schema; their topics and properties. All links,
/// with words: each is at `/link/NAME`.
pub(crate) fn services(gateway: &Gateway) -> Json {
    let services: Vec<Json> = gateway.services.values().map(service).collect();
    let links: Vec<Json> = gateway.links.values().map(link).collect();
    json!({ "services": services, "links": links })
}

fn link(link: &LinkRoot) -> Json {
    json!({ "name": link.name, "about": link.about })
}

fn service(service: &Service) -> Json {
    let methods: Vec<Json> = service.methods.values().map(method).collect();
    let publications: Vec<Json> = service.publications.values().map(publication).collect();
    json!({
        "name": service.name,
        "about": service.about,
        "methods": methods,
        "publications": publications,
    })
}

fn method(method: &Method) -> Json {
    json!({
        "name": method.name,
        "about": method.about,
        "safe": method.is_safe,
        "arguments": method.fields.as_deref().unwrap_or_default(),
        "takes": method.takes,
        "gives": method.gives,
    })
}

fn publication(publication: &Publication) -> Json {
    json!({
        "name": publication.name,
        "about": publication.about,
        "kind": publication.kind.name(),
        "keys": publication.has_keys(),
        "table": publication.is_table,
        "gives": publication.gives,
    })
}
