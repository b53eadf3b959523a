//! A WebSocket to a gateway: calls and subscriptions over one connection.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, Sink, SinkExt, Stream};
use serde::Serialize;
use serde_json::Value as Json;
use tamtam_rows::packed;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::{AUTHORIZATION, HOST};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::values::Begun;
use super::{CallError, Client, FROM_SERVER, Pushed, Values, Wire, malformed};
use crate::push::HEADER_BYTES;
use crate::{Fault, Value, Wish, json};

/// Messages of a subscription that wait to be taken. While there are more, nothing is read from the connection.
const MOST_WAITING: usize = 64;

/// A WebSocket to a gateway: calls and subscriptions over one connection. Dropping it closes the connection, unless there
/// are [`Values`] of it.
///
/// A server that has said nothing for the client's [`patience`](Client::patience) is asked by a ping; if it says nothing for as long again, the
/// connection ends, with all that waits for it.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Client, Fault, Gateway, Server, Service, Value};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let sums = Service::new("Sums").blocking("double", |(number,): (i32,)| Ok::<_, Fault>(2 * i64::from(number)));
/// let server = Server::bind(Gateway::new().service(sums), "127.0.0.1:0".parse()?).await?;
/// let client = Client::connect(&server.url()).await?;
/// tokio::spawn(server.serve(std::future::pending()));
///
/// let socket = client.socket().await?;
/// assert_eq!(socket.call("Sums.double", &(21,)).await?, Value::Int(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Socket {
    commands: mpsc::UnboundedSender<Command>,
    asking: Asking,
    ended: Arc<OnceLock<String>>,
}

/// What the connection is to do.
pub(super) enum Command {
    Ask {
        method: String,
        arguments: Json,
        waiting: Waiting,
    },
    /// No one takes the values of this subscription any more.
    Forget {
        subscription: u64,
        is_unsubscribed: bool,
    },
}

/// Who waits for an answer.
pub(super) enum Waiting {
    Call(oneshot::Sender<Result<Value, CallError>>),
    /// With the way on which the values go.
    Subscription(
        oneshot::Sender<Result<Value, CallError>>,
        mpsc::Sender<Pushed>,
    ),
    /// With the subscription that ends by it, whether its answer is still waited for or not.
    End(oneshot::Sender<Result<Value, CallError>>, u64),
    NoOne,
}

impl Waiting {
    /// Whether it takes no answer any more. That of a subscription that was given up is waited for, to end the subscription, and that of one
    /// that ends, to end its values.
    fn is_given_up(&self) -> bool {
        matches!(self, Waiting::Call(asker) if asker.is_closed())
    }
}

/// How a question is asked.
#[derive(Clone)]
pub(super) struct Asking {
    patience: Duration,
    ended: Arc<OnceLock<String>>,
}

impl Asking {
    pub(super) async fn ask(
        &self,
        commands: &mpsc::UnboundedSender<Command>,
        method: &str,
        arguments: Json,
    ) -> Result<Value, CallError> {
        let (answer, answered) = oneshot::channel();
        self.wait(commands, method, arguments, Waiting::Call(answer), answered)
            .await
    }

    /// Ends a subscription. Its values end when the server has answered, though the answer is not waited for.
    pub(super) async fn unsubscribe(
        &self,
        commands: &mpsc::UnboundedSender<Command>,
        subscription: u64,
    ) -> Result<Value, CallError> {
        let (answer, answered) = oneshot::channel();
        let arguments = serde_json::json!({"subscription": subscription});
        let waiting = Waiting::End(answer, subscription);
        self.wait(commands, "unsubscribe", arguments, waiting, answered)
            .await
    }

    async fn wait(
        &self,
        commands: &mpsc::UnboundedSender<Command>,
        method: &str,
        arguments: Json,
        waiting: Waiting,
        answered: oneshot::Receiver<Result<Value, CallError>>,
    ) -> Result<Value, CallError> {
        // If the connection has ended, there will be no answer either.
        let _ = commands.send(Command::Ask {
            method: method.to_owned(),
            arguments,
            waiting,
        });
        match tokio::time::timeout(self.patience, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                let reason = self.ended.get().cloned();
                let reason = reason.unwrap_or_else(|| "the connection has ended".to_owned());
                Err(CallError::Connection(reason))
            }
            Err(_) => Err(CallError::TimedOut(self.patience)),
        }
    }
}

impl Client {
    /// A WebSocket to the gateway, which has a connection of its own.
    ///
    /// # Errors
    /// If nothing answers there, or it refuses.
    pub async fn socket(&self) -> Result<Socket, CallError> {
        let connecting = self.connect_socket();
        let stream = match tokio::time::timeout(self.patience, connecting).await {
            Ok(stream) => stream?,
            Err(_) => return Err(CallError::TimedOut(self.patience)),
        };
        let (commands, received) = mpsc::unbounded_channel();
        let ended = Arc::new(OnceLock::new());
        let connection = Connection {
            stream,
            is_flushing: false,
            waiting: HashMap::new(),
            subscriptions: HashMap::new(),
            blocked: None,
            ids: 0,
            most_bytes: self.most_bytes,
            pulse: Pulse::of(self.patience),
        };
        let told = Arc::clone(&ended);
        tokio::spawn(connection.run(received, told));
        let asking = Asking {
            patience: self.patience,
            ended: Arc::clone(&ended),
        };
        Ok(Socket {
            commands,
            asking,
            ended,
        })
    }

    async fn connect_socket(&self) -> Result<WebSocketStream<Box<dyn Wire>>, CallError> {
        let refused = |error: SocketError| match error {
            SocketError::Http(response) => {
                let body = response.body().as_deref().unwrap_or_default();
                super::fault_in(response.status(), body)
            }
            other => CallError::Connection(other.to_string()),
        };
        // Over TLS as well: what is below was seen to.
        let url = format!("ws://{}{}/socket", self.host, self.base);
        let mut request = url.into_client_request().map_err(refused)?;
        let headers = request.headers_mut();
        let of_text = |text: &str| {
            HeaderValue::from_str(text).map_err(|error| CallError::Arguments(error.to_string()))
        };
        headers.insert(HOST, of_text(&self.host)?);
        if let Some(who) = &self.authorization {
            headers.insert(AUTHORIZATION, of_text(who)?);
        }
        let config = WebSocketConfig::default()
            .read_buffer_size(16 << 10)
            // Nothing is written but by a flush.
            .write_buffer_size(usize::MAX >> 1)
            .max_message_size(Some(self.most_bytes))
            .max_frame_size(Some(self.most_bytes));
        let stream = self.dial().await?;
        let shaken = client_async_with_config(request, stream, Some(config)).await;
        Ok(shaken.map_err(refused)?.0)
    }
}

impl Socket {
    /// Calls `SERVICE.METHOD` with a struct, whose fields are the arguments by their names, or a tuple: by their places. Calls
    /// at the same time share the connection. Tables come as lists.
    ///
    /// # Errors
    /// The server's fault, or why there is no answer.
    pub async fn call(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Value, CallError> {
        let arguments = serde_json::to_value(arguments)
            .map_err(|error| CallError::Arguments(error.to_string()))?;
        self.asking.ask(&self.commands, method, arguments).await
    }

    /// Subscribes to a topic or property: `SERVICE.NAME`.
    ///
    /// # Errors
    /// The server's fault, or why there is no answer.
    pub async fn subscribe(&self, name: &str, wish: Wish) -> Result<Values, CallError> {
        let mut arguments = serde_json::to_value(&wish).map_err(malformed)?;
        arguments["name"] = Json::from(name);
        let (answer, answered) = oneshot::channel();
        let (sender, pushed) = mpsc::channel(MOST_WAITING);
        let waiting = Waiting::Subscription(answer, sender);
        let asked = self
            .asking
            .wait(&self.commands, "subscribe", arguments, waiting, answered);
        let begun: Begun = asked.await?.to().map_err(malformed)?;
        Ok(Values::new(
            begun,
            pushed,
            self.commands.clone(),
            self.asking.clone(),
            Arc::clone(&self.ended),
        ))
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Socket")
    }
}

/// The connection, on a task of its own.
struct Connection {
    stream: WebSocketStream<Box<dyn Wire>>,
    is_flushing: bool,
    /// Those who wait for answers, by the numbers of their calls.
    waiting: HashMap<u64, Waiting>,
    subscriptions: HashMap<u64, mpsc::Sender<Pushed>>,
    /// A message for which its subscription has no room. Nothing is read meanwhile.
    blocked: Option<(u64, Pushed)>,
    ids: u64,
    most_bytes: usize,
    pulse: Pulse,
}

/// Whether the server is there: it is asked when it has said nothing for long.
struct Pulse {
    beat: Interval,
    /// Something has come since the last beat.
    was_heard: bool,
    /// It was asked at the last beat.
    was_asked: bool,
}

impl Pulse {
    /// Which looks each time so much has passed.
    fn of(time: Duration) -> Pulse {
        // An interval has some length.
        let time = time.max(Duration::from_millis(1));
        let mut beat = interval_at(Instant::now() + time, time);
        // A machine that has slept is no reason to ask twice at once.
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Pulse {
            beat,
            was_heard: false,
            was_asked: false,
        }
    }
}

enum Happened {
    Flushed,
    Came(Message),
    Ended(String),
}

impl Connection {
    async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Command>,
        ended: Arc<OnceLock<String>>,
    ) {
        let reason = self.serve(&mut commands).await;
        // Before those who wait are told.
        let _ = ended.set(reason);
        let closing = self.stream.close(None);
        self.waiting.clear();
        self.subscriptions.clear();
        let _ = tokio::time::timeout(Duration::from_secs(1), closing).await;
    }

    /// Until the connection ends, or no one needs it: why.
    async fn serve(&mut self, commands: &mut mpsc::UnboundedReceiver<Command>) -> String {
        loop {
            let room = self.blocked.as_ref().map(|(id, _)| {
                let subscription = self.subscriptions.get(id).cloned();
                async move {
                    if let Some(subscription) = subscription {
                        // One whose values are not taken any more has room, too.
                        let _ = subscription.reserve().await;
                    }
                }
            });
            let (is_flushing, may_read) = (self.is_flushing, room.is_none());
            let stream = &mut self.stream;
            let happens =
                std::future::poll_fn(|context| happened(stream, is_flushing, may_read, context));
            tokio::select! {
                happened = happens => if let Err(reason) = self.meet(happened) {
                    return reason;
                },
                () = async { match room { Some(room) => room.await, None => std::future::pending().await } } => {
                    if let Some((id, pushed)) = self.blocked.take() {
                        self.deliver(id, pushed);
                    }
                }
                _ = self.pulse.beat.tick() => {
                    // What has come is heard first: this may be late.
                    let (stream, is_flushing) = (&mut self.stream, self.is_flushing);
                    let so_far = std::future::poll_fn(|context| {
                        happened(stream, is_flushing, may_read, context)
                    });
                    let so_far = so_far.now_or_never();
                    let met = so_far.map_or(Ok(()), |happened| self.meet(happened));
                    if let Err(reason) = met.and_then(|()| self.look()) {
                        return reason;
                    }
                }
                command = commands.recv(), if !is_flushing => match command {
                    Some(command) => self.obey(command),
                    None => return "it was closed".to_owned(),
                },
            }
        }
    }

    /// Goes on with what has happened.
    ///
    /// # Errors
    /// If the connection is over.
    fn meet(&mut self, happened: Happened) -> Result<(), String> {
        match happened {
            Happened::Flushed => self.is_flushing = false,
            Happened::Came(message) => {
                self.pulse.was_heard = true;
                self.take_in(message).map_err(|error| error.to_string())?;
            }
            Happened::Ended(reason) => return Err(reason),
        }
        Ok(())
    }

    /// Forgets the calls and subscriptions that have been given up, and asks a server that says nothing whether it is there.
    ///
    /// # Errors
    /// If it was asked before and has said nothing since then.
    fn look(&mut self) -> Result<(), String> {
        self.waiting.retain(|_, waiting| !waiting.is_given_up());
        // Those, too, whose asker gave up after the answer had been handed to it.
        let given_up =
            |(&id, sender): (&u64, &mpsc::Sender<Pushed>)| sender.is_closed().then_some(id);
        let given_up: Vec<u64> = self.subscriptions.iter().filter_map(given_up).collect();
        given_up.into_iter().for_each(|id| self.forget(id));
        let was_heard = std::mem::take(&mut self.pulse.was_heard);
        let was_asked = std::mem::take(&mut self.pulse.was_asked);
        // While nothing is read, what it says is not heard.
        if was_heard || self.blocked.is_some() {
            return Ok(());
        }
        if was_asked {
            return Err("the server says nothing, and answers no ping".to_owned());
        }
        self.pulse.was_asked = true;
        // Behind what is on its way: a server that takes nothing of that does not answer either.
        let ping = Message::Ping(Bytes::new());
        let _ = self.stream.feed(ping).now_or_never();
        self.is_flushing = true;
        Ok(())
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Ask {
                method,
                arguments,
                waiting,
            } => drop(self.ask(&method, arguments, waiting)),
            Command::Forget {
                subscription,
                is_unsubscribed,
            } => {
                let Some(values) = self.subscriptions.remove(&subscription) else {
                    return;
                };
                let arguments = serde_json::json!({"subscription": subscription});
                if !is_unsubscribed && !self.ask("unsubscribe", arguments, Waiting::NoOne) {
                    // The next look finds that no one takes its values.
                    self.subscriptions.insert(subscription, values);
                }
            }
        }
    }

    /// Puts a call behind what is to be written; `false` if that takes nothing at the moment, as while it is flushed.
    fn ask(&mut self, method: &str, arguments: Json, waiting: Waiting) -> bool {
        self.ids += 1;
        let mut call = serde_json::json!({"jsonrpc": "2.0", "id": self.ids, "method": method});
        if !arguments.is_null() {
            call["params"] = arguments;
        }
        self.waiting.insert(self.ids, waiting);
        // It is ready at once where nothing is written before the flush; what fails ends the connection there.
        let fed = self
            .stream
            .feed(Message::text(call.to_string()))
            .now_or_never();
        self.is_flushing = true;
        if fed.is_none() {
            self.waiting.remove(&self.ids);
        }
        fed.is_some()
    }

    fn take_in(&mut self, message: Message) -> Result<(), CallError> {
        match message {
            Message::Text(text) => {
                let mut message = json::read(text.as_bytes(), &FROM_SERVER).map_err(malformed)?;
                if let Some(id) = message.get("id").cloned() {
                    self.answered(id, message);
                    return Ok(());
                }
                let is_value = message.get("method") == Some(&Value::from("value"));
                let Some(params) = take(&mut message, "params") else {
                    return Ok(());
                };
                if is_value {
                    let (id, pushed) = pushed_of(params)?;
                    self.deliver(id, pushed);
                }
                Ok(())
            }
            Message::Binary(frame) => {
                let (id, pushed) = packed_of(&frame, self.most_bytes)?;
                self.deliver(id, pushed);
                Ok(())
            }
            // Answered by the library.
            _ => Ok(()),
        }
    }

    fn deliver(&mut self, id: u64, pushed: Pushed) {
        // What comes behind the end of its subscription was on its way.
        let Some(subscription) = self.subscriptions.get(&id) else {
            return;
        };
        match subscription.try_send(pushed) {
            Ok(()) => {}
            Err(TrySendError::Full(pushed)) => self.blocked = Some((id, pushed)),
            Err(TrySendError::Closed(_)) => self.forget(id),
        }
    }

    /// Ends a subscription whose values no one takes.
    fn forget(&mut self, subscription: u64) {
        self.obey(Command::Forget {
            subscription,
            is_unsubscribed: false,
        });
    }

    fn answered(&mut self, id: Value, mut message: Value) {
        let Some(waiting) = id.to().ok().and_then(|id: u64| self.waiting.remove(&id)) else {
            return;
        };
        let answer = match take(&mut message, "error") {
            Some(error) => Err(CallError::Fault(fault_of(&error))),
            None => Ok(take(&mut message, "result").unwrap_or_default()),
        };
        match waiting {
            Waiting::Call(asker) => {
                let _ = asker.send(answer);
            }
            Waiting::Subscription(asker, sender) => {
                let begun = answer
                    .as_ref()
                    .ok()
                    .and_then(|begun| begun.get("subscription"));
                if let Some(id) = begun.and_then(|id| id.clone().to().ok()) {
                    self.subscriptions.insert(id, sender);
                    if asker.send(answer).is_err() {
                        // The asker has given up.
                        self.forget(id);
                    }
                } else {
                    let _ = asker.send(answer);
                }
            }
            Waiting::End(asker, subscription) => {
                if answer.is_ok() {
                    self.subscriptions.remove(&subscription);
                }
                let _ = asker.send(answer);
            }
            Waiting::NoOne => {}
        }
    }
}

fn happened(
    stream: &mut WebSocketStream<Box<dyn Wire>>,
    is_flushing: bool,
    may_read: bool,
    context: &mut Context<'_>,
) -> Poll<Happened> {
    if is_flushing && let Poll::Ready(flushed) = Pin::new(&mut *stream).poll_flush(context) {
        return Poll::Ready(match flushed {
            Ok(()) => Happened::Flushed,
            Err(error) => Happened::Ended(error.to_string()),
        });
    }
    if may_read && let Poll::Ready(came) = Pin::new(stream).poll_next(context) {
        return Poll::Ready(match came {
            Some(Ok(Message::Close(Some(frame)))) => {
                Happened::Ended(format!("the server has closed it: {}", frame.reason))
            }
            Some(Ok(message)) => Happened::Came(message),
            Some(Err(error)) => Happened::Ended(error.to_string()),
            None => Happened::Ended("the server has closed it".to_owned()),
        });
    }
    Poll::Pending
}

/// Takes the member of this name out.
fn take(value: &mut Value, name: &str) -> Option<Value> {
    let Value::Map(members) = value else {
        return None;
    };
    let place = members.iter().position(|(known, _)| known == name)?;
    Some(members.swap_remove(place).1)
}

/// What a notification tells.
fn pushed_of(mut params: Value) -> Result<(u64, Pushed), CallError> {
    let values = match (take(&mut params, "value"), take(&mut params, "values")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::List(values))) => values,
        _ => return Err(malformed("a message without a value")),
    };
    let mut number = |name| -> Result<u64, CallError> {
        let number =
            take(&mut params, name).ok_or_else(|| malformed("a message without a number"))?;
        number.to().map_err(malformed)
    };
    Ok((
        number("subscription")?,
        Pushed {
            number: number("number")?,
            missed: number("missed")?,
            values,
        },
    ))
}

/// What a binary frame tells.
fn packed_of(frame: &[u8], most_bytes: usize) -> Result<(u64, Pushed), CallError> {
    let Some((header, rows)) = frame.split_at_checked(HEADER_BYTES) else {
        return Err(malformed("a binary frame that is too short"));
    };
    let mut words = header
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word));
    let mut word = || words.next().unwrap_or_default();
    let (id, number, missed) = (word(), word(), word());
    let limits = tamtam_rows::Limits {
        bytes: most_bytes as u64,
        ..tamtam_rows::Limits::default()
    };
    let rows = packed::decode(rows, &limits).map_err(malformed)?;
    let values = vec![Value::from(rows)];
    Ok((
        id,
        Pushed {
            number,
            missed,
            values,
        },
    ))
}

/// The fault in an error of JSON-RPC.
fn fault_of(error: &Value) -> Fault {
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let data = error.get("data");
    let code = text(data.and_then(|data| data.get("code")));
    let fault = Fault::told(
        code.unwrap_or_else(|| "JSON-RPC".to_owned()),
        text(error.get("message")).unwrap_or_default(),
    );
    match data.and_then(|data| data.get("detail")) {
        Some(detail) => fault.detail(detail.clone()),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gateway, Method, Server, Service};

    /// A connection to a server, which answers nothing but pings.
    async fn connected(patience: Duration) -> Connection {
        let never = Method::new("never", |(): ()| {
            std::future::pending::<Result<(), Fault>>()
        });
        let gateway = Gateway::new().service(Service::new("Kit").with(never));
        let server = Server::bind(gateway, "127.0.0.1:0".parse().unwrap());
        let server = server.await.unwrap();
        let client = Client::connect(&server.url()).await.unwrap();
        tokio::spawn(server.serve(std::future::pending()));
        Connection {
            stream: client.connect_socket().await.unwrap(),
            is_flushing: false,
            waiting: HashMap::new(),
            subscriptions: HashMap::new(),
            blocked: None,
            ids: 0,
            most_bytes: 1 << 20,
            pulse: Pulse::of(patience),
        }
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let ended = async { tokio::time::timeout(Duration::from_secs(60), test).await };
        runtime.block_on(ended).expect("it ends");
    }

    #[test]
    fn subscriptions_that_are_given_up_when_they_had_begun_are_ended() {
        run(async {
            let mut connection = connected(Duration::from_secs(60)).await;
            // Whether values come or not.
            for (id, values) in [(7, true), (8, false)] {
                let (sender, given_up) = mpsc::channel(1);
                connection.subscriptions.insert(id, sender);
                drop(given_up);
                if values {
                    let value = Message::text(format!(
                        r#"{{"jsonrpc":"2.0","method":"value","params":{{"subscription":{id},"number":1,"missed":0,"value":5}}}}"#
                    ));
                    connection.take_in(value).unwrap();
                } else {
                    connection.look().unwrap();
                }
                assert!(connection.subscriptions.is_empty());
            }
            // The server is told of each.
            assert_eq!(connection.waiting.len(), 2);
        });
    }

    #[test]
    fn calls_that_are_given_up_are_forgotten_though_no_answer_comes() {
        run(async {
            let patience = Duration::from_millis(200);
            let (commands, mut received) = mpsc::unbounded_channel();
            let mut connection = connected(patience).await;
            let asking = Asking {
                patience,
                ended: Arc::default(),
            };
            let asked = (0..3).map(|_| asking.ask(&commands, "Kit.never", Json::Null));
            tokio::select! {
                reason = connection.serve(&mut received) => panic!("{reason}"),
                answers = futures_util::future::join_all(asked) => for answer in answers {
                    assert!(matches!(answer, Err(CallError::TimedOut(_))));
                }
            }
            while !connection.waiting.is_empty() {
                let serving = connection.serve(&mut received);
                // The server answers each ping.
                let ended = tokio::time::timeout(patience, serving).await;
                assert!(ended.is_err(), "{ended:?}");
            }
        });
    }
}
