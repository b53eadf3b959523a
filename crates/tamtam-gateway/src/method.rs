//! A method: what it takes, what it gives, who may call it.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use tamtam_actor::{Address, AskError, Reply};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use crate::blocking::{NoThread, THREADS};
use crate::caller::Authorize;
use crate::exchange::on_thread;
use crate::metrics::MethodFigures;
use crate::value::field_names;
use crate::{Answer, Arguments, Caller, Fault, FaultKind, IntoAnswer};

/// So many calls of one method may block threads, and so many sources of its rows have one, those that were given up included.
const MOST_BLOCKED: usize = 256;

/// A call on its way.
pub(crate) type Called = Pin<Box<dyn Future<Output = Result<Answer, Fault>> + Send>>;

/// A method of a [`Service`](crate::Service): what it takes, what it gives, who may call it.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, Method, Service};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sum { left: i32, right: i32 }
///
/// async fn add(sum: Sum) -> Result<i32, Fault> {
///     sum.left.checked_add(sum.right).ok_or_else(|| Fault::new("Sums.TooLarge", "the sum has more than 32 bits"))
/// }
///
/// // It changes nothing, so that a GET may call it.
/// let add = Method::new("add", add).about("The sum of two integers.").safe();
/// let service = Service::new("Sums").with(add);
/// # drop(service);
/// ```
pub struct Method {
    pub(crate) name: String,
    /// With the name of its service: `SERVICE.METHOD`.
    pub(crate) full_name: String,
    pub(crate) figures: MethodFigures,
    pub(crate) about: String,
    pub(crate) is_safe: bool,
    pub(crate) authorize: Option<Authorize>,
    pub(crate) takes: Schema,
    /// The names of its arguments from left to right, if it takes a struct.
    pub(crate) fields: Option<Vec<&'static str>>,
    /// A field has other names beside its own, among which its place is not known to what reads it.
    has_aliases: bool,
    pub(crate) gives: Schema,
    /// Sources of rows that have not ended, those whose clients have gone included.
    pub(crate) sources: Arc<Semaphore>,
    invoke: Box<dyn Fn(Arguments) -> Called + Send + Sync>,
}

impl Method {
    /// A method that is a task: it waits for others without a thread.
    pub fn new<A, H, F, T, Way>(name: impl Into<String>, handler: H) -> Method
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        H: Fn(A) -> F + Send + Sync + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
        T: IntoAnswer<Way>,
    {
        Method::of::<A, T, Way>(name, move |arguments| match arguments.read() {
            Ok(arguments) => {
                let handled = handler(arguments);
                Box::pin(async move { handled.await.map(T::into_answer) })
            }
            Err(fault) => refused(fault),
        })
    }

    /// A method that may block: each call has a thread of its own meanwhile, which is none of the runtime's, and has the runtime at hand.
    ///
    /// A call that takes too long is answered by a fault; its handler goes on to its end, since a thread cannot be stopped, or to that of the
    /// program, which does not wait for it. Where 256 calls of a method have not ended, or 1,024 of all methods that may block, the next caller
    /// is told that the server is busy. A handler that hangs keeps no thread from what the gateway does for other calls.
    pub fn blocking<A, H, T, Way>(name: impl Into<String>, handler: H) -> Method
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        H: Fn(A) -> Result<T, Fault> + Send + Sync + 'static,
        T: IntoAnswer<Way>,
    {
        let handler = Arc::new(handler);
        let places = Arc::new(Semaphore::new(MOST_BLOCKED));
        Method::of::<A, T, Way>(name, move |arguments| match arguments.read() {
            Ok(arguments) => {
                let handler = Arc::clone(&handler);
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    return refused(Fault::busy(
                        "too many calls of this method have not ended; try again later",
                    ));
                };
                Box::pin(async move {
                    let (answer, answered) = oneshot::channel();
                    let runtime = Handle::current();
                    let handle = on_thread(move || {
                        let _entered = runtime.enter();
                        let result = catch_unwind(AssertUnwindSafe(|| handler(arguments)));
                        drop(place);
                        result
                    });
                    // A caller that has gone wants to know nothing more.
                    let begun = THREADS.begin(handle, move |result| answer.send(result));
                    begun.map_err(|NoThread| {
                        Fault::busy("too many calls that block have not ended; try again later")
                    })?;
                    match answered.await {
                        Ok(Ok(result)) => result.map(T::into_answer),
                        Ok(Err(panic)) => resume_unwind(panic),
                        Err(_) => Err(Fault::of(FaultKind::Internal, "the method failed")),
                    }
                })
            }
            Err(fault) => refused(fault),
        })
    }

    /// A method that an actor answers: the call waits in its mailbox. Where that is full the caller is told that the server is
    /// busy: at once, or when the call is dropped for others, as the mailbox's [`Overflow`](tamtam_actor::Overflow) has it; one that waits for room until its time is over is told
    /// that. What the actor [refuses](tamtam_actor::Reply::refuse) is a fault
    /// with the code `Refused` and its reason.
    ///
    /// ```
    /// use tamtam_actor::{Pool, Reply};
    /// use tamtam_gateway::{Method, Service};
    ///
    /// enum Count { Add(u64), Read(Reply<u64>) }
    ///
    /// let pool = Pool::new();
    /// let mut count = 0;
    /// let counter = pool.spawn_fn(move |message: Count, _| match message {
    ///     Count::Add(more) => count += more,
    ///     Count::Read(reply) => reply.send(count),
    /// });
    /// let service = Service::new("Counter").with(Method::actor("count", counter, Count::Read).safe());
    /// # drop(service);
    /// ```
    pub fn actor<M, R, Q, Way>(name: impl Into<String>, address: Address<M>, question: Q) -> Method
    where
        M: Send + 'static,
        R: IntoAnswer<Way>,
        Q: Fn(Reply<R>) -> M + Send + Sync + 'static,
    {
        Method::actor_with(name, address, move |(): (), reply| question(reply))
    }

    /// As [`actor`](Method::actor), with arguments for the message.
    pub fn actor_with<A, M, R, Q, Way>(
        name: impl Into<String>,
        address: Address<M>,
        question: Q,
    ) -> Method
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        M: Send + 'static,
        R: IntoAnswer<Way>,
        Q: Fn(A, Reply<R>) -> M + Send + Sync + 'static,
    {
        Method::of::<A, R, Way>(name, move |arguments| match arguments.read() {
            Ok(arguments) => {
                let asked = address.ask_async(|reply| question(arguments, reply));
                Box::pin(async move {
                    asked
                        .await
                        .map(R::into_answer)
                        .map_err(|error| of_actor(&error))
                })
            }
            Err(fault) => refused(fault),
        })
    }

    fn of<A, T, Way>(
        name: impl Into<String>,
        invoke: impl Fn(Arguments) -> Called + Send + Sync + 'static,
    ) -> Method
    where
        A: DeserializeOwned + JsonSchema,
        T: IntoAnswer<Way>,
    {
        let generator = || {
            SchemaSettings::draft2020_12()
                .with(|settings| settings.inline_subschemas = true)
                .into_generator()
        };
        let mut gives: SchemaGenerator = generator();
        let takes = generator().into_root_schema_for::<A>();
        let names = field_names::<A>();
        let fields = names.map(|names| described(names, &takes));
        Method {
            name: name.into(),
            full_name: String::new(),
            figures: MethodFigures::default(),
            about: String::new(),
            is_safe: false,
            authorize: None,
            has_aliases: fields.as_ref().map(Vec::len) != names.map(<[_]>::len),
            fields,
            takes,
            gives: T::schema(&mut gives),
            sources: Arc::new(Semaphore::new(MOST_BLOCKED)),
            invoke: Box::new(invoke),
        }
    }

    /// With words on what it does, for people.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> Method {
        self.about = text.into();
        self
    }

    /// It changes nothing: a GET may call it, and its answers have tags, but for tables that are sent part by part.
    #[must_use]
    pub fn safe(mut self) -> Method {
        self.is_safe = true;
        self
    }

    /// Asked before each call, in place of what the gateway asks for all methods.
    #[must_use]
    pub fn authorize(
        mut self,
        check: impl Fn(&Caller) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Method {
        self.authorize = Some(Arc::new(check));
        self
    }

    pub(crate) fn invoke(&self, arguments: Arguments) -> Called {
        if let Some(fields) = self.fields.as_ref().filter(|_| self.has_aliases) {
            return match arguments.by_names(fields) {
                Ok(arguments) => (self.invoke)(arguments),
                Err(fault) => refused(fault),
            };
        }
        (self.invoke)(arguments)
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Method")
            .field("name", &self.name)
            .field("is_safe", &self.is_safe)
            .finish_non_exhaustive()
    }
}

/// Of the names of a struct's fields those that its description has: each field's own. All of them, if that has others.
fn described(names: &[&'static str], schema: &Schema) -> Vec<&'static str> {
    let properties = schema.get("properties").and_then(|known| known.as_object());
    let is_own = |name: &&str| properties.is_some_and(|known| known.contains_key(*name));
    let own: Vec<_> = names.iter().copied().filter(is_own).collect();
    match properties {
        Some(known) if known.len() == own.len() => own,
        _ => names.to_vec(),
    }
}

fn refused(fault: Fault) -> Called {
    Box::pin(std::future::ready(Err(fault)))
}

/// What the client learns of an actor that gave no answer; which actor it was stays here.
fn of_actor(error: &AskError) -> Fault {
    match error {
        // It is said for the one who asks.
        AskError::Refused(refused) => Fault::new("Refused", refused.reason()),
        AskError::Full(_) | AskError::Dropped(_) => {
            Fault::busy("too many calls wait for this method; try again later")
        }
        AskError::TimedOut => Fault::timed_out(),
        AskError::Stopped(_) | AskError::Unreachable(_) | AskError::ProcessEnded(_) => {
            Fault::of(FaultKind::Unavailable, "what answers this method has ended")
        }
        _ => Fault::of(FaultKind::Internal, "the method gave no answer"),
    }
}
