//! The services of a program, and what holds for calls of them whatever the protocol.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use tracing::{Instrument, Span};

use crate::admission::{Admission, Ticket};
use crate::caller::Authorize;
use crate::exchange::{self, Sample, Source, Step};
use crate::lasting::Lasting;
use crate::metrics::Metrics;
use crate::patient::in_time;
use crate::proxies::{ForwardedBy, Network, Proxies};
use crate::push::Encoders;
use crate::service::check_name;
use crate::sessions::Sessions;
use crate::value::shortened;
use crate::web_policy::WebPolicy;
use crate::{
    AmfClasses, AmfRows, Answer, Arguments, Caller, Fault, FaultKind, Limits, LinkRoot, Method,
    Publication, Service, Value,
};

/// The services of a program, to be called by whatever protocol a client speaks.
///
/// It is served by a [`Server`](crate::Server), or stands as routes in a web server of axum: see
/// [`router`](Gateway::router).
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Caller, Fault, Gateway, Service};
///
/// let clock = Service::new("Clock").blocking("hours", |_: ()| Ok::<u8, Fault>(12));
/// let gateway = Gateway::new()
///     .service(clock)
///     .origin("https://example.org")
///     .authorize(|caller: &Caller| match caller.bearer() {
///         Some("let me in") => Ok(()),
///         _ => Err(Fault::unauthenticated("send the token as `Authorization: Bearer TOKEN`")),
///     });
/// assert_eq!(gateway.method_names(), ["Clock.hours"]);
/// ```
#[derive(Default)]
pub struct Gateway {
    pub(crate) services: BTreeMap<String, Service>,
    pub(crate) links: BTreeMap<String, LinkRoot>,
    pub(crate) limits: Limits,
    pub(crate) web: WebPolicy,
    pub(crate) proxies: Proxies,
    pub(crate) compression: Threshold,
    pub(crate) amf_rows: AmfRows,
    pub(crate) amf_classes: AmfClasses,
    /// Whether the service browser is at `/`.
    pub(crate) has_page: bool,
    /// One call in so many is looked at; none if it is 0.
    pub(crate) advice_one_in: u64,
    /// What answers all requests in place of the services.
    pub(crate) front: Option<Arc<dyn Front>>,
    authorize: Option<Authorize>,
}

/// What answers all requests of a gateway in place of its services.
pub(crate) trait Front: Send + Sync {
    /// The answer to a request that has passed the checks of Host and Origin.
    fn respond(
        self: Arc<Self>,
        shared: Arc<Shared>,
        request: axum::extract::Request,
    ) -> futures_util::future::BoxFuture<'static, axum::response::Response>;
}

/// The fewest bytes of an answer that is compressed, where the client reads that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold(pub(crate) usize);

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold(tamtam_rows::Compression::USUAL_THRESHOLD_BYTES)
    }
}

impl Gateway {
    /// One without services.
    pub fn new() -> Gateway {
        Gateway::default()
    }

    /// With this service.
    ///
    /// # Panics
    /// If there is one of that name.
    #[must_use]
    pub fn service(mut self, service: Service) -> Gateway {
        let before = self.services.insert(service.name.clone(), service);
        if let Some(before) = before {
            panic!("there are two services {:?}", before.name);
        }
        self
    }

    /// With an actor that pages reach over a link, at `/link/NAME`.
    ///
    /// # Panics
    /// If there is one of that name, or the name is not made of letters, digits, `_`, `-` and `.`.
    #[must_use]
    pub fn link(mut self, root: LinkRoot) -> Gateway {
        check_name(&root.name, "link", ".-");
        let before = self.links.insert(root.name.clone(), root);
        if let Some(before) = before {
            panic!("there are two links {:?}", before.name);
        }
        self
    }

    /// With these limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Gateway {
        self.limits = limits.within_reason();
        self
    }

    /// Asked before each call of a method whose own check, and its service's, there is not.
    #[must_use]
    pub fn authorize(
        mut self,
        check: impl Fn(&Caller) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Gateway {
        self.authorize = Some(Arc::new(check));
        self
    }

    /// Pages of this origin may call: `https://example.org`; `*` is any. Without one only pages from this server itself may.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Gateway {
        self.web.origins.push(origin.into());
        self
    }

    /// The server is known by this name, without a port: `example.org`; `*` is any. `localhost` and addresses in figures need
    /// not be named; a request for another host is refused, since a page elsewhere may have given that name to this machine.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Gateway {
        self.web.hosts.push(host.into().to_ascii_lowercase());
        self
    }

    /// Requests over connections from these addresses are passed on by a proxy, which says in a header for whom
    /// ([`forwarded_by`](Gateway::forwarded_by)): the last address there that is of no trusted proxy is the client's, whose
    /// limits count, and which [`Caller::peer`] gives. Its connections are those of many, and count among all alone. A server at
    /// a Unix socket that trusts any proxy takes all who reach it for one.
    #[must_use]
    pub fn trusted_proxy(mut self, network: Network) -> Gateway {
        self.proxies.trusted.push(network);
        self
    }

    /// By which header the trusted proxies say for whom they pass a request on. `X-Forwarded-For`.
    #[must_use]
    pub fn forwarded_by(mut self, header: ForwardedBy) -> Gateway {
        self.proxies.header = header;
        self
    }

    /// Answers of at most so many bytes are sent plain. 25 KiB. With more than 1 MiB here no table that comes part by part is
    /// compressed.
    #[must_use]
    pub fn compress_above(mut self, bytes: usize) -> Gateway {
        self.compression = Threshold(bytes);
        self
    }

    /// In which form AMF's clients get tables, unless they choose.
    #[must_use]
    pub fn amf_rows(mut self, form: AmfRows) -> Gateway {
        self.amf_rows = form;
        self
    }

    /// With these classes of AMF for the types of methods, in place of those that were named before.
    #[must_use]
    pub fn amf_classes(mut self, classes: AmfClasses) -> Gateway {
        self.amf_classes = classes;
        self
    }

    /// Shows the service browser at `/`: a page on which people read what there is to call, call it, and see what each form of
    /// an answer costs. Pages of this server are told the times of their calls (`Server-Timing`).
    #[must_use]
    pub fn page(mut self) -> Gateway {
        self.has_page = true;
        self
    }

    /// Looks at the answer of one call in so many, after it was sent, and tells at `/advice` what another form of it would
    /// save. 0 looks at none, which is the default. However many calls there are, looking takes at most a 400th of one
    /// processor's time, over a while: what comes beyond that is left out, and counted.
    #[must_use]
    pub fn advice(mut self, one_call_in: u64) -> Gateway {
        self.advice_one_in = one_call_in;
        self
    }

    /// The topic or property of this name, `SERVICE.NAME`.
    pub(crate) fn publication(&self, name: &str) -> Option<&Publication> {
        let (service, name) = name.rsplit_once('.')?;
        self.services.get(service)?.publications.get(name)
    }

    /// Bytes of the values of topics and properties that are kept.
    pub(crate) fn kept_bytes(&self) -> usize {
        let services = self.services.values();
        let publications = services.flat_map(|service| service.publications.values());
        publications.map(Publication::bytes).sum()
    }

    /// The names of all methods, `SERVICE.METHOD`, in the order of the alphabet.
    pub fn method_names(&self) -> Vec<String> {
        let services = self.services.values();
        services
            .flat_map(|service| {
                let methods = service.methods.keys();
                methods.map(|method| format!("{}.{method}", service.name))
            })
            .collect()
    }

    pub(crate) fn find(&self, service: &str, method: &str) -> Option<&Method> {
        self.services.get(service)?.methods.get(method)
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("services", &self.services.keys())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A gateway at work.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) gateway: Gateway,
    pub(crate) admission: Arc<Admission>,
    pub(crate) metrics: Metrics,
    pub(crate) sessions: Sessions,
    /// Who may have a connection.
    pub(crate) connections: Arc<Admission>,
    /// Who may subscribe.
    pub(crate) subscriptions: Arc<Admission>,
    /// Who may have a link.
    pub(crate) links: Arc<Admission>,
    /// What outlives the requests by which it came.
    pub(crate) lasting: Lasting,
    /// Behind the gateway, whose topics have actors there: these are told to stop first.
    pub(crate) encoders: Encoders,
}

impl Shared {
    pub(crate) fn new(gateway: Gateway) -> Arc<Shared> {
        let limits = &gateway.limits;
        let metrics = Metrics::new();
        for name in gateway.links.keys() {
            // None is known, too.
            let _ = metrics.links(name);
        }
        Arc::new(Shared {
            admission: Admission::new(limits.requests, limits.requests_of_client),
            metrics,
            sessions: Sessions::default(),
            connections: Admission::new(limits.connections, limits.connections_of_client),
            subscriptions: Admission::new(limits.subscriptions, limits.subscriptions_of_client),
            links: Admission::new(limits.links, limits.links_of_client),
            lasting: Lasting::default(),
            encoders: Encoders::default(),
            gateway,
        })
    }

    /// A place for a connection from this address, if there is one.
    pub(crate) fn connect(&self, peer: Option<IpAddr>) -> Ticket {
        let is_of_many = self.gateway.proxies.trusts(peer);
        self.connections.admit(peer.filter(|_| !is_of_many))
    }

    /// Calls a method by its full name, `SERVICE.METHOD`.
    pub(crate) async fn call_named(
        &self,
        ticket: &Ticket,
        caller: &Caller,
        name: &str,
        arguments: Arguments,
    ) -> Result<Answer, Fault> {
        let (service, method) = name.rsplit_once('.').unwrap_or(("", name));
        self.call(ticket, caller, service, method, arguments).await
    }

    /// Calls a method, within the limits, if the caller may.
    pub(crate) async fn call(
        &self,
        ticket: &Ticket,
        caller: &Caller,
        service: &str,
        method: &str,
        arguments: Arguments,
    ) -> Result<Answer, Fault> {
        let found = self.gateway.find(service, method);
        let span = tracing::info_span!(
            "call",
            protocol = caller.protocol.name(),
            // Names from outside are not told.
            service = found.map(|_| service),
            method = found.map(|found| &*found.full_name),
            request_id = caller.trace.request_id.as_deref(),
            traceparent = caller.trace.parent.as_deref(),
            status = tracing::field::Empty,
            took = tracing::field::Empty,
        );
        let call = Call {
            service,
            method,
            found,
        };
        // Made where it is awaited: it is large, and one that is moved is copied.
        if span.is_disabled() {
            return self.answered(ticket, caller, call, arguments, &span).await;
        }
        Box::pin(self.answered(ticket, caller, call, arguments, &span))
            .instrument(span.clone())
            .await
    }

    /// Calls a method, and says so.
    async fn answered(
        &self,
        ticket: &Ticket,
        caller: &Caller,
        call: Call<'_>,
        arguments: Arguments,
        span: &Span,
    ) -> Result<Answer, Fault> {
        let found = call.found;
        let begun = Instant::now();
        // It is the same for all calls of a request.
        let first_begun = *caller.begun.get_or_init(|| begun);
        let result = match (admitted(ticket), found) {
            (Err(busy), _) => Err(busy),
            (Ok(()), None) => Err(self.no_method(call.service, call.method)),
            (Ok(()), Some(found)) => {
                let times = (first_begun, begun);
                self.invoke(found, caller, times, arguments).await
            }
        };
        let took = begun.elapsed();
        exchange::add(Step::Call, took);
        if let (Ok(answer), Some(found)) = (&result, found) {
            exchange::called(|| Shared::sample(answer, &found.full_name, caller));
        }
        let name = found.map(|found| &*found.full_name);
        let fault = result.as_ref().err();
        match fault {
            None => tracing::debug!(
                protocol = caller.protocol.name(),
                method = name,
                ?took,
                "answered"
            ),
            Some(fault) => tracing::debug!(
                protocol = caller.protocol.name(),
                method = name,
                ?took,
                code = fault.code(),
                "failed"
            ),
        }
        if !span.is_disabled() {
            span.record("status", fault.map_or("ok", Fault::code));
            span.record("took", tracing::field::debug(took));
        }
        let method = found.map(|found| (&*found.full_name, &found.figures));
        self.metrics.answered(caller.protocol, method, took, fault);
        result
    }

    /// The answer of a call that is to be looked at later.
    fn sample(answer: &Answer, method: &str, caller: &Caller) -> Sample {
        let source = match answer {
            Answer::Rows(rows) => Source::of_table(rows),
            Answer::Cached(table) => Source::of_table(table.rows()),
            Answer::Value(Value::Rows(rows)) => Source::of_table(rows),
            Answer::Value(value) => Source::Value(value.clone()),
            Answer::Typed(_) | Answer::Stream(_) => Source::Unwritten,
        };
        Sample {
            method: method.to_owned(),
            protocol: caller.protocol.name(),
            source,
        }
    }

    async fn invoke(
        &self,
        method: &Method,
        caller: &Caller,
        (first_begun, begun): (Instant, Instant),
        arguments: Arguments,
    ) -> Result<Answer, Fault> {
        if caller.only_safe && !method.is_safe {
            return Err(
                Fault::forbidden("the method may change something: call it by POST").status(405),
            );
        }
        // A handler that blocks a thread goes on when its call is given up: none begins for a request whose time is over.
        let waited = begun.saturating_duration_since(first_begun);
        if !waited.is_zero() && waited >= self.gateway.limits.time {
            return Err(Fault::not_begun());
        }
        self.may(method.authorize.as_ref(), caller, &method.full_name)?;
        // The handler is the user's: it does not take the server down.
        let guarded = AssertUnwindSafe(async { method.invoke(arguments).await });
        let deadline = || first_begun + self.gateway.limits.time;
        match in_time(deadline, guarded.catch_unwind()).await {
            Some(Ok(Ok(Answer::Stream(mut stream)))) => {
                let place = Arc::clone(&method.sources).try_acquire_owned();
                stream.place = Some(place.map_err(|_| {
                    Fault::busy("too many tables of this method have not ended; try again later")
                })?);
                stream.deadline = Some(deadline());
                stream.span = Span::current();
                Ok(Answer::Stream(stream))
            }
            Some(Ok(result)) => result,
            Some(Err(panic)) => {
                tracing::error!(
                    method = method.full_name,
                    panic = words_of(&*panic),
                    "the handler of a method panicked"
                );
                Err(Fault::of(FaultKind::Internal, "the method failed"))
            }
            None => Err(Fault::timed_out()),
        }
    }

    /// Whether this caller may have what has this name: its own check says so, or that of its service, or else the gateway's. All
    /// that is asked of who may is asked here.
    ///
    /// # Errors
    /// What the check says, or that it panicked.
    pub(crate) fn may(
        &self,
        own: Option<&Authorize>,
        caller: &Caller,
        name: &str,
    ) -> Result<(), Fault> {
        let Some(check) = own.or(self.gateway.authorize.as_ref()) else {
            return Ok(());
        };
        // The check is the user's: it does not take the server down, and what it panics with stays here.
        catch_unwind(AssertUnwindSafe(|| check(caller))).unwrap_or_else(|panic| {
            tracing::error!(
                name,
                panic = words_of(&*panic),
                "the check of who may panicked"
            );
            let reason = "whether you may could not be found out";
            Err(Fault::of(FaultKind::Internal, reason))
        })
    }

    /// Whether a login with the credentials of this caller is one: the gateway's check lets it pass, or, where it has none, one of those that
    /// services and methods have. Without any check each login is.
    ///
    /// # Errors
    /// What the check says, the first one of those that are asked.
    pub(crate) fn may_log_in(&self, caller: &Caller) -> Result<(), Fault> {
        if self.gateway.authorize.is_some() {
            return self.may(None, caller, "login");
        }
        let services = self.gateway.services.values();
        let methods = services.flat_map(|service| service.methods.values());
        let (mut asked, mut refused) = (Vec::new(), Ok(()));
        for check in methods.filter_map(|method| method.authorize.as_ref()) {
            // A service's is that of each of its methods.
            if asked.iter().any(|known| Arc::ptr_eq(known, check)) {
                continue;
            }
            asked.push(Arc::clone(check));
            match self.may(Some(check), caller, "login") {
                Ok(()) => return Ok(()),
                Err(fault) => refused = refused.and(Err(fault)),
            }
        }
        refused
    }

    fn no_method(&self, service: &str, method: &str) -> Fault {
        let description = if self.gateway.services.contains_key(service) {
            format!(
                "the service {service} has no method {:?}",
                shortened(method)
            )
        } else if service.is_empty() {
            format!(
                "{:?} is no method: write it as SERVICE.METHOD",
                shortened(method)
            )
        } else {
            format!("there is no service {:?}", shortened(service))
        };
        Fault::of(FaultKind::NoMethod, description)
    }
}

/// What is called.
struct Call<'c> {
    service: &'c str,
    method: &'c str,
    /// Nothing if there is no such method.
    found: Option<&'c Method>,
}

/// Whether a request is worked on; whatever answers one without a method of a service asks this, too.
///
/// # Errors
/// If there was too much to do.
pub(crate) fn admitted(ticket: &Ticket) -> Result<(), Fault> {
    match ticket {
        Ticket::Admitted(_) => Ok(()),
        Ticket::Refused => Err(Fault::busy(
            "the server has too much to do; try again later",
        )),
    }
}

/// With what user code panicked, for those who run the server.
fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or_default()
}
