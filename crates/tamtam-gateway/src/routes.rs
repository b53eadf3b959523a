//! The routes of a gateway, and what stands before them.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, CONTENT_TYPE, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method as HttpMethod, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};

use crate::admission::Ticket;
use crate::advice::Advisor;
use crate::describe;
use crate::gateway::{Gateway, Shared};
use crate::http::{Peer, admit, answer, caller_of, plain, receive, set};
use crate::measured::{Measuring, measured};
use crate::page;
use crate::protocol::{amf, json_rpc, rest, xml_rpc};
use crate::rest_answer::respond;
use crate::web_policy::Verdict;
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
        routes(Shared::new(self))
    }
}

pub(crate) fn routes(shared: Arc<Shared>) -> Router {
    if let Some(front) = shared.gateway.front.clone() {
        let respond = |State(shared): State<Arc<Shared>>, request| front.respond(shared, request);
        return Router::new()
            .fallback(respond)
            .layer(from_fn_with_state(Arc::clone(&shared), guard))
            .with_state(shared);
    }
    let gateway = &shared.gateway;
    let (has_page, one_in, threshold) = (
        gateway.has_page,
        gateway.advice_one_in,
        gateway.compression.0,
    );
    let measuring = Arc::new(Measuring {
        tells_times: has_page,
        advisor: (one_in > 0)
            .then(|| Advisor::start(one_in, threshold))
            .flatten(),
    });
    let mut routes = Router::new();
    if has_page {
        routes = routes.merge(page::routes());
    }
    if measuring.advisor.is_some() {
        let measuring = Arc::clone(&measuring);
        let told =
            move |State(shared): State<Arc<Shared>>, request| advice(shared, measuring, request);
        routes = routes.route("/advice", get(told));
    }
    let routes = routes
        .route("/jsonrpc", post(by_json_rpc))
        .route("/xmlrpc", post(by_xml_rpc))
        .route("/RPC2", post(by_xml_rpc))
        .route("/rest/{service}/{method}", get(by_get).post(by_post))
        .route("/amf", post(by_amf))
        .route("/socket", get(web_socket::open))
        .route("/link/{name}", get(web_socket::open_link))
        .route("/events/{name}", get(events::stream))
        .route("/services", get(services))
        .route("/metrics", get(metrics))
        .route("/crossdomain.xml", get(cross_domain))
        .fallback(nothing_here)
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared);
    if has_page || measuring.advisor.is_some() {
        routes.layer(from_fn_with_state(measuring, measured))
    } else {
        routes
    }
}

async fn by_json_rpc(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let types = [JSON, "application/json-rpc", "application/jsonrequest"];
    let received = match receive(&shared, request, Protocol::JsonRpc, &types).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let calls = Admitted {
        shared: &shared,
        ticket: &received.ticket,
        caller: &received.caller,
    };
    let called = json_rpc::answer(&calls, &shared.gateway.limits, &received.body);
    match called.await {
        Some(body) => answer(&shared, &received.headers, JSON, body).await.0,
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

async fn by_xml_rpc(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let types = ["text/xml", "application/xml"];
    let received = match receive(&shared, request, Protocol::XmlRpc, &types).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let body = xml_rpc::answer(&shared, &received.ticket, &received.caller, &received.body).await;
    answer(&shared, &received.headers, XML, body).await.0
}

async fn by_amf(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let rows = shared.gateway.amf_rows.of_query(query);
    let received = match receive(&shared, request, Protocol::Amf, &[AMF]).await {
        Ok(received) => received,
        Err(response) => return *response,
    };
    let called = amf::answer(
        &shared,
        &received.ticket,
        received.caller,
        rows,
        &received.headers,
        &received.body,
    );
    match called.await {
        Ok(body) => answer(&shared, &received.headers, AMF, body).await.0,
        Err(fault) => *plain(StatusCode::BAD_REQUEST, fault.description().to_owned()),
    }
}

async fn by_get(
    State(shared): State<Arc<Shared>>,
    Path((service, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let (mut caller, ticket) = admit(&shared, &parts, Protocol::Rest);
    caller.only_safe = true;
    let arguments = rest::arguments_of_query(parts.uri.query().unwrap_or_default());
    let result = match unaccepted(&parts.headers) {
        Some(fault) => Err(fault),
        None => {
            shared
                .call(&ticket, &caller, &service, &method, arguments)
                .await
        }
    };
    respond(&shared, ticket, &parts.headers, true, result).await
}

async fn by_post(
    State(shared): State<Arc<Shared>>,
    Path((service, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    let received = match receive(&shared, request, Protocol::Rest, &[JSON]).await {
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
                    &service,
                    &method,
                    arguments,
                )
                .await
        }
        Err(fault) => Err(fault),
    };
    respond(&shared, received.ticket, &received.headers, false, result).await
}

async fn nothing_here() -> Response {
    let text = "there is nothing here; /services names what there is: POST to /jsonrpc, /xmlrpc or /amf, GET or POST \
                /rest/SERVICE/METHOD, a WebSocket at /socket, GET /events/NAME, a link at /link/NAME";
    *plain(StatusCode::NOT_FOUND, text)
}

async fn other_method() -> Response {
    *plain(
        StatusCode::METHOD_NOT_ALLOWED,
        "this is called by POST, and /rest/SERVICE/METHOD by GET, too",
    )
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

async fn metrics(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    if let Some(refused) = refused(&shared, request) {
        return refused;
    }
    let text = shared
        .metrics
        .text(shared.admission.level(), shared.gateway.kept_bytes());
    let mut response = Response::new(Body::from(text));
    set(
        &mut response,
        CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    );
    response
}

async fn services(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let headers = request.headers().clone();
    if let Some(refused) = refused(&shared, request) {
        return refused;
    }
    let body = describe::services(&shared.gateway).to_string().into_bytes();
    answer(&shared, &headers, JSON, body).await.0
}

/// What would save bytes, time or CPU: see [`Gateway::advice`].
async fn advice(shared: Arc<Shared>, measuring: Arc<Measuring>, request: Request) -> Response {
    let headers = request.headers().clone();
    if let Some(refused) = refused(&shared, request) {
        return refused;
    }
    let report = measuring.advisor.as_ref().map(Advisor::report);
    let body = report.unwrap_or_default().to_string().into_bytes();
    answer(&shared, &headers, JSON, body).await.0
}

/// The answer for a client that the gateway's own check does not let pass: what names methods is for those who may call.
fn refused(shared: &Shared, request: Request) -> Option<Response> {
    let caller = caller_of(shared, &request.into_parts().0, Protocol::Rest);
    let fault = shared.check(&caller).err()?;
    let status = StatusCode::from_u16(fault.http_status()).unwrap_or(StatusCode::FORBIDDEN);
    Some(*plain(status, fault.description().to_owned()))
}

async fn cross_domain(State(shared): State<Arc<Shared>>) -> Response {
    let mut response = Response::new(Body::from(shared.gateway.web.cross_domain()));
    set(&mut response, CONTENT_TYPE, "text/x-cross-domain-policy");
    response
}

/// Refuses requests of pages that may not call and for names that are not the server's; answers what browsers ask before.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let is_local = matches!(request.extensions().get::<Peer>(), Some(Peer(None)));
    let origin = match shared
        .gateway
        .web
        .judge(request.uri(), request.headers(), is_local)
    {
        Verdict::Fine => None,
        Verdict::From(origin) => Some(origin),
        Verdict::WrongHost => {
            let reason = "the server is not known by this name; whoever runs it can name it";
            return *plain(StatusCode::MISDIRECTED_REQUEST, reason);
        }
        Verdict::WrongOrigin => {
            let reason = "pages of this origin may not call; whoever runs the server can allow it";
            return *plain(StatusCode::FORBIDDEN, reason);
        }
    };
    let is_preflight = request.method() == HttpMethod::OPTIONS
        && request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if is_preflight && origin.is_some() {
        let wanted = request
            .headers()
            .get(ACCESS_CONTROL_REQUEST_HEADERS)
            .cloned();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        set(&mut response, ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
        set(&mut response, ACCESS_CONTROL_MAX_AGE, "600");
        if let Some(wanted) = wanted {
            response
                .headers_mut()
                .insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted);
        }
        response
    } else {
        next.run(request).await
    };
    if let Some(origin) = origin {
        set(&mut response, ACCESS_CONTROL_ALLOW_ORIGIN, &origin);
        set(
            &mut response,
            ACCESS_CONTROL_EXPOSE_HEADERS,
            "etag, content-range, accept-ranges",
        );
        if !response.headers().contains_key(VARY) {
            set(&mut response, VARY, "origin");
        }
    }
    // What is JSON is not to be taken for a page.
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}
