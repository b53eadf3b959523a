//! The values of a topic or property, as a client gets them.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use tokio::sync::mpsc;

use super::CallError;
use super::socket::{Asking, Command};
use crate::Value;

/// A value that was pushed, or those of a batch.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Pushed, Value};
///
/// /// How many values there were, those that did not come included.
/// fn published(pushed: &[Pushed]) -> u64 {
///     pushed.iter().map(|one| one.missed + one.values.len() as u64).sum()
/// }
/// let pushed = Pushed { number: 7, missed: 6, values: vec![Value::Int(1)] };
/// assert_eq!(published(&[pushed]), 7);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pushed {
    /// The number of the value; of a batch, of its last one.
    pub number: u64,
    /// How many values were passed over since the message before.
    pub missed: u64,
    /// The value alone; or those of a batch, in their order.
    pub values: Vec<Value>,
}

impl Pushed {
    /// The value; of a batch, the last one.
    pub fn into_value(mut self) -> Value {
        self.values.pop().unwrap_or_default()
    }
}

/// What was left when a subscription ended.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{CallError, Rest, Values};
///
/// async fn leave(values: &mut Values) -> Result<u64, CallError> {
///     let Rest { number, .. } = values.unsubscribe().await?;
///     Ok(number) // to come back with
/// }
/// # let _ = leave;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The number of the newest value.
    pub number: u64,
    /// How many values came behind the last message, and were not sent.
    pub missed: u64,
}

/// The values of a topic or property: a stream, which ends when the connection does, or after
/// [`unsubscribe`](Values::unsubscribe). Dropping it ends the subscription.
///
/// What is not taken waits at the server, as the [`Wish`](crate::Wish) has it. It holds up the other subscriptions and the
/// calls of its [`Socket`](crate::Socket): one that is slow had better have a socket of its own.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tamtam_channel::Property;
/// use tamtam_gateway::{Client, Gateway, Server, Service, Value, Wish};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let slider = Arc::new(Property::new(5));
/// let service = Service::new("Panel").property("slider", Arc::clone(&slider));
/// let server = Server::bind(Gateway::new().service(service), "127.0.0.1:0".parse()?).await?;
/// let client = Client::connect(&server.url()).await?;
/// tokio::spawn(server.serve(std::future::pending()));
///
/// let socket = client.socket().await?;
/// let mut values = socket.subscribe("Panel.slider", Wish::new()).await?;
/// assert_eq!(values.next().await?.map(|pushed| pushed.into_value()), Some(Value::Int(5)));
/// slider.set(6);
/// let pushed = values.next().await?.expect("the next value");
/// assert_eq!((pushed.missed, pushed.into_value()), (0, Value::Int(6)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Values {
    id: u64,
    run: String,
    first: u64,
    pushed: mpsc::Receiver<Pushed>,
    /// Those that came while the answer to an unsubscribe was waited for.
    early: VecDeque<Pushed>,
    commands: mpsc::UnboundedSender<Command>,
    asking: Asking,
    /// Why the connection has ended.
    ended: Arc<OnceLock<String>>,
    is_over: bool,
    is_unsubscribed: bool,
}

/// What a server says of a subscription that has begun.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Begun {
    subscription: u64,
    run: String,
    number: u64,
}

impl Values {
    pub(super) fn new(
        begun: Begun,
        pushed: mpsc::Receiver<Pushed>,
        commands: mpsc::UnboundedSender<Command>,
        asking: Asking,
        ended: Arc<OnceLock<String>>,
    ) -> Values {
        Values {
            id: begun.subscription,
            run: begun.run,
            first: begun.number,
            pushed,
            early: VecDeque::new(),
            commands,
            asking,
            ended,
            is_over: false,
            is_unsubscribed: false,
        }
    }

    /// The run of the server: for [`Wish::run`](crate::Wish::run), to come back.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The number behind which it began.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The next value, or batch; nothing behind the end.
    ///
    /// # Cancel safety
    /// No value is lost.
    ///
    /// # Errors
    /// If the connection has failed, or the server has closed it. Then there is nothing more.
    pub async fn next(&mut self) -> Result<Option<Pushed>, CallError> {
        let next = std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context));
        next.await.transpose()
    }

    /// Ends the subscription. What had come before is still there to be taken by [`next`](Values::next).
    ///
    /// # Cancel safety
    /// No value is lost, and the subscription ends all the same: [`next`](Values::next) gives what had come, and then nothing. How many
    /// values were not sent is not told.
    ///
    /// # Errors
    /// If the connection has failed, or has none of it any more.
    pub async fn unsubscribe(&mut self) -> Result<Rest, CallError> {
        let asked = self.asking.unsubscribe(&self.commands, self.id);
        let mut asked = std::pin::pin!(asked);
        let answer = loop {
            tokio::select! {
                biased;
                Some(pushed) = self.pushed.recv() => self.early.push_back(pushed),
                answer = &mut asked => break answer?,
            }
        };
        // Of what it had sent nothing comes any more.
        self.pushed.close();
        let number = |name| answer.get(name).cloned().and_then(|value| value.to().ok());
        (self.is_over, self.is_unsubscribed) = (true, true);
        match (number("number"), number("missed")) {
            (Some(number), Some(missed)) => Ok(Rest { number, missed }),
            _ => Err(CallError::Malformed("the subscription has no end".into())),
        }
    }
}

impl Stream for Values {
    type Item = Result<Pushed, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(pushed) = self.early.pop_front() {
            return Poll::Ready(Some(Ok(pushed)));
        }
        if let Some(pushed) = ready!(self.pushed.poll_recv(context)) {
            return Poll::Ready(Some(Ok(pushed)));
        }
        if std::mem::replace(&mut self.is_over, true) {
            return Poll::Ready(None);
        }
        // A connection that has ended says why; one that goes on has ended the subscription.
        let reason = self.ended.get().cloned();
        Poll::Ready(reason.map(|reason| Err(CallError::Connection(reason))))
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        // A connection that has ended has no subscriptions.
        let _ = self.commands.send(Command::Forget {
            subscription: self.id,
            is_unsubscribed: self.is_unsubscribed,
        });
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values({})", self.id)
    }
}
