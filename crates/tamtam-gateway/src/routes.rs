//! The routes of a gateway: which path is which protocol.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{Method as HttpMethod, StatusCode};
use axum::response::Response;
use bytes::Bytes;

use crate::admission::Ticket;
use crate::advice::Advisor;
use crate::content_type::ContentType;
use crate::describe;
use crate::gateway::{Gateway, Shared, admitted};
use crate::guard::Passed;
use crate::head::{Head, without_body};
use crate::http::{
    Arrival, Carried, Envelope, Unreceived, admit, answer, caller_of, of_type, plain, plain_fault,
    put, receive, tell_status,
};
use crate::measured::{Measured, Measuring};
use crate::page;
use crate::place::Place;
use crate::protocol::{amf, json_rpc, rest, xml_rpc};
use crate::rest_answer::{of_fault, respond};
use crate::unsent::keeping;
use crate::{Answer, Arguments, Caller, Fault, FaultKind, Protocol, Value, events, web_socket};

const JSON: &str = ContentType::Json.name();

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
        Router::new().fallback(move |request: Request| {
            let routes = Arc::clone(&routes);
            async move { routes.respond(&mut Unread::of(request), None).await }
        })
    }
}

/// A request that is answered where it lies: each copy of it would cost what a look-up among its headers does.
pub(crate) struct Unread<B> {
    parts: Parts,
    /// Nothing once it was taken away.
    body: Option<B>,
}

impl<B: Carried> Unread<B> {
    pub(crate) fn of(request: hyper::Request<B>) -> Unread<B> {
        let (parts, body) = request.into_parts();
        let body = Some(body);
        Unread { parts, body }
    }

    /// The request as axum has it; what is left says nothing.
    fn take(&mut self) -> Request {
        let (nothing, ()) = hyper::Request::new(()).into_parts();
        let parts = std::mem::replace(&mut self.parts, nothing);
        Request::from_parts(parts, self.body.take().map_or_else(Body::empty, Body::new))
    }
}

/// The routes of a gateway.
#[derive(Debug)]
pub(crate) struct Routes {
    shared: Arc<Shared>,
    measuring: Arc<Measuring>,
    /// What there is to call, once it was asked for: all answers share it.
    description: OnceLock<Bytes>,
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
                .then(|| Advisor::start(one_in, threshold, gateway.amf_classes.clone()))
                .flatten(),
        });
        Arc::new(Routes {
            shared,
            measuring,
            description: OnceLock::new(),
        })
    }

    /// Answers a request, which has come over a connection of ours if its arrival is known.
    pub(crate) async fn respond(
        &self,
        request: &mut Unread<impl Carried>,
        arrival: Option<&Arc<Arrival>>,
    ) -> Response {
        let way = arrival.map(|arrival| &**arrival);
        let is_head = request.parts.method == HttpMethod::HEAD;
        let response = match Measured::begin(&self.measuring, &request.parts, way) {
            None => self.guarded(request, arrival).await,
            Some(measured) => apart(|| measured.answer(self.guarded(request, arrival))).await,
        };
        if is_head {
            return without_body(response);
        }
        response
    }

    /// Refuses requests of pages that may not call and for names that are not the server's; answers what browsers ask before.
    async fn guarded(
        &self,
        request: &mut Unread<impl Carried>,
        arrival: Option<&Arc<Arrival>>,
    ) -> Response {
        let Unread { parts, body } = request;
        let head = Head::of(&parts.headers);
        let envelope = Envelope {
            parts,
            head: &head,
            arrival: arrival.map(|arrival| &**arrival),
        };
        let passed = match Passed::of(&self.shared.gateway.web, &envelope) {
            Ok(passed) => passed,
            Err(response) => return *response,
        };
        let mut response = match self.place_of(parts) {
            Err(response) => *response,
            Ok(Place::JsonRpc) => by_json_rpc(&self.shared, &envelope, body).await,
            Ok(Place::Method(service, method)) if parts.method == HttpMethod::POST => {
                by_post(&self.shared, &service, &method, &envelope, body).await
            }
            Ok(Place::Method(service, method)) => {
                by_get(&self.shared, &service, &method, &envelope).await
            }
            // A call over these is large beside its box, and the others are not to have room for them.
            Ok(Place::XmlRpc) => apart(|| by_xml_rpc(&self.shared, &envelope, body)).await,
            Ok(Place::Amf) => apart(|| by_amf(&self.shared, &envelope, body)).await,
            Ok(Place::Weigh(service, method)) => {
                apart(|| page::weighed(&self.shared, &service, &method, &envelope, body)).await
            }
            // These take the request apart themselves.
            Ok(_) => {
                let mut request = request.take();
                if let Some(arrival) = arrival {
                    request.extensions_mut().insert(Arc::clone(arrival));
                }
                apart(|| self.other(request)).await
            }
        };
        passed.mark(&mut response);
        response
    }

    /// What a request is for.
    ///
    /// # Errors
    /// The answer, if there is nothing, or it is not reached by this method of HTTP.
    fn place_of<'r>(&self, parts: &'r Parts) -> Result<Place<'r>, Box<Response>> {
        if self.shared.gateway.front.is_some() {
            return Ok(Place::Nothing);
        }
        let place = Place::at(parts.uri.path());
        let is_here = match place {
            Place::Page
            | Place::PageStyle
            | Place::PageScript
            | Place::PageArrow
            | Place::PageParquet
            | Place::Weigh(..) => self.shared.gateway.has_page,
            Place::Advice => self.measuring.advisor.is_some(),
            Place::Nothing => false,
            _ => true,
        };
        if !is_here {
            return Err(nothing_here());
        }
        if !place.takes(&parts.method) {
            return Err(other_method(&place));
        }
        Ok(place)
    }

    /// Answers a request that is not for one of the services' methods.
    async fn other(&self, request: Request) -> Response {
        let shared = &self.shared;
        if let Some(front) = &shared.gateway.front {
            return Arc::clone(front).respond(Arc::clone(shared), request).await;
        }
        let uri = request.uri().clone();
        match Place::at(uri.path()) {
            Place::Socket => web_socket::open(Arc::clone(shared), request).await,
            Place::Link(name) => {
                web_socket::open_link(Arc::clone(shared), name.into_owned(), request).await
            }
            Place::Events(name) => events::stream(Arc::clone(shared), &name, request),
            Place::Services => {
                let describe = || describe::services(&shared.gateway).to_string().into();
                let description = || self.description.get_or_init(describe).clone();
                told(shared, request, description).await
            }
            Place::Metrics => metrics(shared, request),
            Place::CrossDomain => cross_domain(shared),
            Place::Advice => {
                let report = || {
                    let report = self.measuring.advisor.as_ref().map(Advisor::report);
                    report.unwrap_or_default().to_string().into()
                };
                told(shared, request, report).await
            }
            Place::Page => page::page(request.headers()),
            Place::PageStyle => page::style(request.headers()),
            Place::PageScript => page::script(request.headers(), page::SCRIPT),
            Place::PageArrow => page::script(request.headers(), page::ARROW),
            Place::PageParquet => page::script(request.headers(), page::PARQUET),
            _ => *nothing_here(),
        }
    }
}

/// What seldom comes, in a box. It is made on a stack of its own first, where what comes often would otherwise have to step over it.
#[inline(never)]
fn apart<F: Future<Output = Response>>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(make())
}

async fn by_json_rpc(
    shared: &Shared,
    envelope: &Envelope<'_>,
    body: &mut Option<impl Carried>,
) -> Response {
    let types = [JSON, "application/json-rpc", "application/jsonrequest"];
    let received = match receive(shared, envelope, body, Protocol::JsonRpc, &types).await {
        Ok(received) => received,
        Err(Unreceived::Answered(response)) => return *response,
        Err(Unreceived::Refused { fault, .. }) => {
            // What was asked is not known, and so is told to no id.
            let mut body = Vec::new();
            json_rpc::write_fault(&fault, &Value::Null, &mut body);
            let mut response = of_type(ContentType::Json, body.into());
            tell_status(&mut response, &fault);
            return response;
        }
    };
    let calls = Admitted {
        shared,
        ticket: &received.ticket,
        caller: &received.caller,
    };
    let called = json_rpc::answer(&calls, &shared.gateway.limits, &received.body);
    match called.await {
        Some(body) => {
            let answered = answer(shared, envelope.head, ContentType::Json, body).await;
            keeping(received.ticket, answered.0)
        }
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

async fn by_xml_rpc(
    shared: &Shared,
    envelope: &Envelope<'_>,
    body: &mut Option<impl Carried>,
) -> Response {
    let types = ["text/xml", "application/xml"];
    let received = match receive(shared, envelope, body, Protocol::XmlRpc, &types).await {
        Ok(received) => received,
        Err(Unreceived::Answered(response)) => return *response,
        // Its clients look at a fault where the status is 200.
        Err(Unreceived::Refused { fault, .. }) => {
            return of_type(ContentType::Xml, xml_rpc::fault(&fault).into());
        }
    };
    let body = xml_rpc::answer(shared, &received.ticket, &received.caller, &received.body).await;
    let answered = answer(shared, envelope.head, ContentType::Xml, body).await;
    keeping(received.ticket, answered.0)
}

async fn by_amf(
    shared: &Shared,
    envelope: &Envelope<'_>,
    body: &mut Option<impl Carried>,
) -> Response {
    let query = envelope.parts.uri.query().unwrap_or_default();
    let rows = shared.gateway.amf_rows.of_query(query);
    let types = [ContentType::Amf.name()];
    let received = match receive(shared, envelope, body, Protocol::Amf, &types).await {
        Ok(received) => received,
        Err(Unreceived::Answered(response)) => return *response,
        Err(Unreceived::Refused { fault, begin }) => {
            return amf_refusal(shared, envelope, &begin, &fault);
        }
    };
    let called = amf::answer(
        shared,
        &received.ticket,
        received.caller,
        rows,
        &envelope.parts.headers,
        &received.body,
    );
    match called.await {
        Ok(body) => {
            let answered = answer(shared, envelope.head, ContentType::Amf, body).await;
            keeping(received.ticket, answered.0)
        }
        Err(fault) => amf_refusal(shared, envelope, &received.body, &fault),
    }
}

/// What is told of a packet that is not read: to its calls, where their places are known, and to people otherwise. Flash looks at
/// an answer where the status is 200.
fn amf_refusal(shared: &Shared, envelope: &Envelope<'_>, begin: &[u8], fault: &Fault) -> Response {
    match amf::refusal(begin, &envelope.parts.headers, shared, fault) {
        Some(body) => of_type(ContentType::Amf, body.into()),
        None => *plain_fault(fault),
    }
}

async fn by_get(shared: &Shared, service: &str, method: &str, envelope: &Envelope<'_>) -> Response {
    let (mut caller, ticket) = admit(shared, envelope, Protocol::Rest);
    caller.only_safe = true;
    let arguments = rest::arguments_of_query(envelope.parts.uri.query().unwrap_or_default());
    let call = MethodCall {
        caller: &caller,
        service,
        method,
        http_method: &envelope.parts.method,
    };
    call.respond(shared, ticket, envelope.head, || Ok(arguments))
        .await
}

async fn by_post(
    shared: &Shared,
    service: &str,
    method: &str,
    envelope: &Envelope<'_>,
    body: &mut Option<impl Carried>,
) -> Response {
    let received = match receive(shared, envelope, body, Protocol::Rest, &[JSON]).await {
        Ok(received) => received,
        Err(Unreceived::Answered(response)) => return *response,
        Err(Unreceived::Refused { fault, .. }) => {
            return of_fault(shared, envelope.head, &fault).await;
        }
    };
    let call = MethodCall {
        caller: &received.caller,
        service,
        method,
        http_method: &envelope.parts.method,
    };
    let arguments = || rest::arguments_of_body(&received.body, &shared.gateway.limits);
    call.respond(shared, received.ticket, envelope.head, arguments)
        .await
}

/// A call by URL.
struct MethodCall<'c> {
    caller: &'c Caller,
    service: &'c str,
    method: &'c str,
    http_method: &'c HttpMethod,
}

impl MethodCall<'_> {
    async fn respond(
        &self,
        shared: &Shared,
        ticket: Ticket,
        head: &Head<'_>,
        arguments: impl FnOnce() -> Result<Arguments, Fault>,
    ) -> Response {
        let responding = async {
            let accepted = rest::accepted(head.accept.text());
            // Nothing is called for a client that could not read the answer.
            if accepted.is_empty() {
                return Err(none_accepted());
            }
            let called = shared.call(
                &ticket,
                self.caller,
                self.service,
                self.method,
                arguments()?,
            );
            let answered = called.await?;
            respond(shared, head, accepted, self.http_method, answered).await
        };
        let response = match responding.await {
            Ok(response) => response,
            Err(fault) => of_fault(shared, head, &fault).await,
        };
        keeping(ticket, response)
    }
}

fn nothing_here() -> Box<Response> {
    let text = "there is nothing here; /services names what there is: POST to /jsonrpc, /xmlrpc or /amf, GET or POST \
                /rest/SERVICE/METHOD, a WebSocket at /socket, GET /events/NAME, a link at /link/NAME";
    plain(StatusCode::NOT_FOUND, text)
}

/// What is there, and not by this method of HTTP.
fn other_method(place: &Place<'_>) -> Box<Response> {
    let text = "this is called by POST, and /rest/SERVICE/METHOD by GET, too";
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, text);
    put(&mut response, ALLOW, place.allows());
    response
}

/// None of the forms of an answer is one that the client takes.
fn none_accepted() -> Fault {
    let known = rest::Form::ALL.map(|form| form.media_types()[0]).join(", ");
    let reason = format!("there are these forms: {known}");
    Fault::of(FaultKind::NotCarried, reason).status(406)
}

/// What is counted, for whom the gateway's own check lets pass. It takes no place: where there is too much to do, it tells that.
fn metrics(shared: &Shared, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let head = Head::of(&parts.headers);
    let envelope = Envelope::of(&parts, &head);
    let caller = caller_of(shared, &envelope, Protocol::Rest);
    if let Err(fault) = shared.may(None, &caller, parts.uri.path()) {
        return *plain_fault(&fault);
    }
    let text = shared.metrics.answer(Instant::now(), || {
        shared.metrics.text(
            shared.admission.level(),
            shared.connections.level(),
            shared.gateway.kept_bytes(),
        )
    });
    let mut response = Response::new(Body::from(text));
    put(
        &mut response,
        CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    );
    response
}

/// What the server tells of itself in JSON: it names methods, and so is for whom the gateway's own check lets pass.
async fn told(shared: &Shared, request: Request, tell: impl FnOnce() -> Bytes) -> Response {
    let (parts, _) = request.into_parts();
    let head = Head::of(&parts.headers);
    let (caller, ticket) = admit(shared, &Envelope::of(&parts, &head), Protocol::Rest);
    let may = admitted(&ticket).and_then(|()| shared.may(None, &caller, parts.uri.path()));
    if let Err(fault) = may {
        return *plain_fault(&fault);
    }
    let answered = answer(shared, &head, ContentType::Json, tell()).await;
    keeping(ticket, answered.0)
}

fn cross_domain(shared: &Shared) -> Response {
    let mut response = Response::new(Body::from(shared.gateway.web.cross_domain()));
    put(&mut response, CONTENT_TYPE, "text/x-cross-domain-policy");
    response
}
