//! The routes of a gateway: which path is which protocol.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use axum::http::{Method as HttpMethod, StatusCode};
use axum::response::Response;

use crate::admission::Ticket;
use crate::advice::Advisor;
use crate::describe;
use crate::gateway::{Gateway, Shared};
use crate::guard::Passed;
use crate::http::{admit, answer, caller_of, plain, put, receive};
use crate::measured::{Measured, Measuring};
use crate::page;
use crate::place::Place;
use crate::protocol::{amf, json_rpc, rest, xml_rpc};
use crate::rest_answer::respond;
use crate::{Answer, Arguments, Caller, Fault, FaultKind, Protocol, events, web_socket};

const JSON: &str = "application/json";
const AMF: &str = "application/x-amf";
const XML: &str = "text/xml; charset=utf-8";

impl Gateway {
    /// The routes of the gateway, for a server of axum: `/jsonrpc`, `/xmlrpc`, `/amf`, `/rest/SERVICE/METHOD`, `/socket`,
    /// `/link/NAME`, `/events/NAME`, `/services`, `/metrics` and `/crossdomain.xml`; with [`page`](Gateway::page) `/`, with
    /// [`advice`](Gateway::advice) `/advice`.
    ///
    /// Limits of requests of one client need the client's address: serve them
    /// `into_make_service_with_connect_info::<SocketAddr>()`.
    pub fn router(self) -> Router {
        let routes = Routes::of(Shared::new(self));
        // One of a router's own for each path would cost each call a box, and a clone, for each layer around it.
        Router::new().fallback(move |request: Request| Arc::clone(&routes).respond(request))
    }
}

/// The routes of a gateway.
#[derive(Debug)]
pub(crate) struct Routes {
    shared: Arc<Shared>,
    measuring: Arc<Measuring>,
}

impl Routes {
    pub(crate) fn of(shared: Arc<Shared>) -> Arc<Routes> {
        let gateway = &shared.gateway;
        let (one_in, threshold) = (gateway.advice_one_in, gateway.compression.0);
        // Another server's calls are neither looked at nor timed.
        let is_own = gateway.front.is_none();
        let measuring = Arc::new(Measuring {
            tells_times: gateway.has_page && is_own,
            advisor: (one_in > 0 && is_own)
                .then(|| Advisor::start(one_in, threshold))
                .flatten(),
        });
        Arc::new(Routes { shared, measuring })
    }

    /// Answers a request.
    pub(crate) async fn respond(self: Arc<Self>, request: Request) -> Response {
        match Measured::begin(&self.measuring, &request) {
            None => self.guarded(request).await,
            Some(measured) => Box::pin(measured.answer(self.guarded(request))).await,
        }
    }

    /// Refuses requests of pages that may not call and for names that are not the server's; answers what browsers ask before.
    async fn guarded(&self, request: Request) -> Response {
        let passed = match Passed::of(&self.shared.gateway.web, &request) {
            Ok(passed) => passed,
            Err(response) => return *response,
        };
        let mut response = self.routed(request).await;
        passed.mark(&mut response);
        response
    }

    async fn routed(&self, request: Request) -> Response {
        let shared = &self.shared;
        if let Some(front) = &shared.gateway.front {
            return Arc::clone(front).respond(Arc::clone(shared), request).await;
        }
        let uri = request.uri().clone();
        let place = Place::at(uri.path());
        let is_here = match place {
            Place::Page | Place::PageStyle | Place::PageScript | Place::Weigh(..) => {
                shared.gateway.has_page
            }
            Place::Advice => self.measuring.advisor.is_some(),
            Place::Nothing => false,
            _ => true,
        };
        if !is_here {
            return nothing_here();
        }
        if !place.takes(request.method()) {
            return other_method(&place);
        }
        match place {
            Place::JsonRpc => by_json_rpc(shared, request).await,
            Place::Method(service, method) if request.method() == HttpMethod::POST => {
                by_post(shared, &service, &method, request).await
            }
            Place::Method(service, method) => by_get(shared, &service, &method, request).await,
            // A call over these is large beside its box, and the others are not to have room for them.
            Place::XmlRpc => Box::pin(by_xml_rpc(shared, request)).await,
            Place::Amf => Box::pin(by_amf(shared, request)).await,
            Place::Socket => Box::pin(web_socket::open(Arc::clone(shared), request)).await,
            Place::Link(name) => {
                let name = name.into_owned();
                Box::pin(web_socket::open_link(Arc::clone(shared), name, request)).await
            }
            Place::Events(name) => events::stream(Arc::clone(shared), &name, request),
            Place::Services => Box::pin(services(shared, request)).await,
            Place::Metrics => metrics(shared, request),
            Place::CrossDomain => cross_domain(shared),
            Place::Advice => Box::pin(advice(shared, &self.measuring, request)).await,
            Place::Page => page::page(request.headers()),
            Place::PageStyle => page::style(request.headers()),
            Place::PageScript => page::script(request.headers()),
            Place::Weigh(service, method) => {
                Box::pin(page::weighed(shared, &service, &method, request)).await
            }
            Place::Nothing => nothing_here(),
        }
    }
}

async fn by_json_rpc(shared: &Arc<Shared>, request: Request) -> Response {
    let types = [JSON, "application/json-rpc", "application/jsonrequest"];
    let received = match receive(shared, request, Protocol::JsonRpc, &types).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let calls = Admitted {
        shared,
        ticket: &received.ticket,
        caller: &received.caller,
    };
    let called = json_rpc::answer(&calls, &shared.gateway.limits, &received.body);
    match called.await {
        Some(body) => answer(shared, &received.headers, JSON, body).await.0,
        // Nothing but notifications.
        None => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
    }
}

/// Calls of one request.
struct Admitted<'r> {
    shared: &'r Shared,
    ticket: &'r Ticket,
    caller: &'r Caller,
}

impl json_rpc::Calls for Admitted<'_> {
    async fn call(&self, method: &str, arguments: Arguments) -> Result<Answer, Fault> {
        let called = self
            .shared
            .call_named(self.ticket, self.caller, method, arguments);
        called.await
    }
}

async fn by_xml_rpc(shared: &Arc<Shared>, request: Request) -> Response {
    let types = ["text/xml", "application/xml"];
    let received = match receive(shared, request, Protocol::XmlRpc, &types).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let body = xml_rpc::answer(shared, &received.ticket, &received.caller, &received.body).await;
    answer(shared, &received.headers, XML, body).await.0
}

async fn by_amf(shared: &Arc<Shared>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let rows = shared.gateway.amf_rows.of_query(query);
    let received = match receive(shared, request, Protocol::Amf, &[AMF]).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let called = amf::answer(
        shared,
        &received.ticket,
        received.caller,
        rows,
        &received.headers,
        &received.body,
    );
    match called.await {
        Ok(body) => answer(shared, &received.headers, AMF, body).await.0,
        Err(fault) => *plain(StatusCode::BAD_REQUEST, fault.description().to_owned()),
    }
}

async fn by_get(shared: &Arc<Shared>, service: &str, method: &str, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (mut caller, ticket) = admit(shared, &parts, Protocol::Rest);
    caller.only_safe = true;
    let arguments = rest::arguments_of_query(parts.uri.query().unwrap_or_default());
    let result = match unaccepted(&parts.headers) {
        Some(fault) => Err(fault),
        None => {
            shared
                .call(&ticket, &caller, service, method, arguments)
                .await
        }
    };
    respond(shared, ticket, &parts.headers, true, result).await
}

async fn by_post(shared: &Arc<Shared>, service: &str, method: &str, request: Request) -> Response {
    let received = match receive(shared, request, Protocol::Rest, &[JSON]).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let arguments = match unaccepted(&received.headers) {
        Some(fault) => Err(fault),
        None => rest::arguments_of_body(&received.body, &shared.gateway.limits),
    };
    let result = match arguments {
        Ok(arguments) => {
            shared
                .call(
                    &received.ticket,
                    &received.caller,
                    service,
                    method,
                    arguments,
                )
                .await
        }
        Err(fault) => Err(fault),
    };
    respond(shared, received.ticket, &received.headers, false, result).await
}

fn nothing_here() -> Response {
    let text = "there is nothing here; /services names what there is: POST to /jsonrpc, /xmlrpc or /amf, GET or POST \
                /rest/SERVICE/METHOD, a WebSocket at /socket, GET /events/NAME, a link at /link/NAME";
    *plain(StatusCode::NOT_FOUND, text)
}

/// What is there, and not by this method of HTTP.
fn other_method(place: &Place<'_>) -> Response {
    let text = "this is called by POST, and /rest/SERVICE/METHOD by GET, too";
    let mut response = *plain(StatusCode::METHOD_NOT_ALLOWED, text);
    put(&mut response, ALLOW, place.allows());
    response
}

/// Nothing is called for a client that could not read the answer.
fn unaccepted(headers: &axum::http::HeaderMap) -> Option<Fault> {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    rest::accepted(accept).is_empty().then(|| {
        let known = rest::Form::ALL.map(|form| form.media_types()[0]).join(", ");
        Fault::of(
            FaultKind::NotCarried,
            format!("there are these forms: {known}"),
        )
        .status(406)
    })
}

fn metrics(shared: &Shared, request: Request) -> Response {
    if let Some(refused) = refused(shared, request) {
        return refused;
    }
    let text = shared
        .metrics
        .text(shared.admission.level(), shared.gateway.kept_bytes());
    let mut response = Response::new(Body::from(text));
    put(
        &mut response,
        CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    );
    response
}

async fn services(shared: &Shared, request: Request) -> Response {
    let headers = request.headers().clone();
    if let Some(refused) = refused(shared, request) {
        return refused;
    }
    let body = describe::services(&shared.gateway).to_string().into_bytes();
    answer(shared, &headers, JSON, body).await.0
}

/// What would save bytes, time or CPU: see [`Gateway::advice`].
async fn advice(shared: &Shared, measuring: &Measuring, request: Request) -> Response {
    let headers = request.headers().clone();
    if let Some(refused) = refused(shared, request) {
        return refused;
    }
    let report = measuring.advisor.as_ref().map(Advisor::report);
    let body = report.unwrap_or_default().to_string().into_bytes();
    answer(shared, &headers, JSON, body).await.0
}

/// The answer for a client that the gateway's own check does not let pass: what names methods is for those who may call.
fn refused(shared: &Shared, request: Request) -> Option<Response> {
    let (parts, _) = request.into_parts();
    let caller = caller_of(shared, &parts, Protocol::Rest);
    let fault = shared.may(None, &caller, parts.uri.path()).err()?;
    let status = StatusCode::from_u16(fault.http_status()).unwrap_or(StatusCode::FORBIDDEN);
    Some(*plain(status, fault.description().to_owned()))
}

fn cross_domain(shared: &Shared) -> Response {
    let mut response = Response::new(Body::from(shared.gateway.web.cross_domain()));
    put(&mut response, CONTENT_TYPE, "text/x-cross-domain-policy");
    response
}
