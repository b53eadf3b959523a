//! What a client calls over a WebSocket: methods of services, and those of the connection itself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::admission::Ticket;
use crate::gateway::{Shared, admitted};
use crate::protocol::json_rpc::{self, Calls, write_fault};
use crate::push::{PushForm, Subscription, Wish};
use crate::subscribing::subscribe;
use crate::{Answer, Arguments, Caller, Fault, FaultKind, Limits, Value};

/// Bytes of a token, at most: more than any header has.
const MOST_TOKEN_BYTES: usize = 64 << 10;

/// What the calls of a connection share.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) shared: Arc<Shared>,
    caller: Mutex<Caller>,
    subscriptions: Mutex<BTreeMap<u64, Subscription>>,
    /// Whether binary frames are those of a link.
    has_link: bool,
    ids: AtomicU64,
    /// Told when one of the subscriptions has something.
    pub(super) more: Arc<Notify>,
}

/// An answer, and the subscriptions that begin behind it.
pub(super) struct Answered {
    pub(super) body: Option<Vec<u8>>,
    pub(super) begun: Vec<Subscription>,
}

impl Client {
    pub(super) fn new(shared: Arc<Shared>, caller: Caller, has_link: bool) -> Arc<Client> {
        Arc::new(Client {
            shared,
            caller: Mutex::new(caller),
            subscriptions: Mutex::default(),
            has_link,
            ids: AtomicU64::new(0),
            more: Arc::default(),
        })
    }

    /// The subscriptions that go on.
    pub(super) fn subscriptions(&self) -> MutexGuard<'_, BTreeMap<u64, Subscription>> {
        self.subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the text of a frame.
    pub(super) async fn answer(self: Arc<Self>, body: Bytes) -> Answered {
        let limits = &self.shared.gateway.limits;
        let mut caller = self.caller().clone();
        // The time of its calls begins with the first of them.
        caller.begun = OnceLock::new();
        let ticket = self.shared.admission.admit(caller.peer());
        if matches!(ticket, Ticket::Refused) {
            self.shared.metrics.refused();
        }
        let frame = Frame {
            client: &self,
            caller,
            ticket,
            begun: Mutex::default(),
        };
        let most = limits.push_bytes / 4;
        let of_frame = Limits {
            batch_bytes: limits.batch_bytes.min(most / 2),
            ..limits.clone()
        };
        let body = json_rpc::answer(&frame, &of_frame, &body).await;
        let begun = frame.begun.into_inner();
        let mut answered = Answered {
            body,
            begun: begun.unwrap_or_else(PoisonError::into_inner),
        };
        if answered.body.as_ref().is_some_and(|body| body.len() > most) {
            answered = Answered {
                body: answered.body.map(|answer| {
                    let text = format!(
                        "the answer has more than {most} bytes: call it by POST to /jsonrpc"
                    );
                    refusal(&text, &answer)
                }),
                begun: Vec::new(),
            };
        }
        answered
    }

    fn caller(&self) -> MutexGuard<'_, Caller> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What goes in place of an answer that cannot. It has the number of its call, unless that is a batch.
pub(super) fn refusal(reason: &str, answer: &[u8]) -> Vec<u8> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        id: Value,
    }
    // A batch of one would be read as the members of an answer, from the first on.
    let is_one = answer.first() == Some(&b'{');
    let read = is_one
        .then(|| serde_json::from_slice(answer).ok())
        .flatten();
    let id = read.map_or(Value::Null, |Numbered { id }| id);
    let mut out = Vec::new();
    write_fault(&Fault::of(FaultKind::TooLarge, reason), &id, &mut out);
    out
}

/// The calls of one frame.
struct Frame<'c> {
    client: &'c Client,
    caller: Caller,
    ticket: Ticket,
    begun: Mutex<Vec<Subscription>>,
}

impl Calls for Frame<'_> {
    async fn call(&self, method: &str, arguments: Arguments) -> Result<Answer, Fault> {
        match method {
            "subscribe" => self.subscribe(arguments),
            "unsubscribe" => self.unsubscribe(arguments),
            "authenticate" => self.authenticate(arguments),
            _ => {
                let shared = &self.client.shared;
                let called = shared.call_named(&self.ticket, &self.caller, method, arguments);
                called.await
            }
        }
    }
}

impl Frame<'_> {
    fn subscribe(&self, mut arguments: Arguments) -> Result<Answer, Fault> {
        // It asks the check of the topic, and holds a place of its own.
        admitted(&self.ticket)?;
        let Some(Value::Text(name)) = arguments.take("name") else {
            return Err(Fault::arguments(
                "the argument name is the topic or property: SERVICE.NAME",
            ));
        };
        let wish: Wish = arguments.read()?;
        let client = self.client;
        if client.has_link && wish.form == PushForm::Packed {
            return Err(Fault::arguments(
                "the binary frames of this connection are those of a link: subscribe to packed rows over a connection to /socket",
            ));
        }
        let id = client.ids.fetch_add(1, Ordering::Relaxed) + 1;
        // Who has authenticated meanwhile, in this same frame, may be another one.
        let caller = client.caller().clone();
        let subscription = subscribe(&client.shared, &caller, &name, wish, id, &client.more)?;
        let (run, number) = subscription.place();
        let said = vec![
            ("subscription".to_owned(), Value::Int(id as i64)),
            ("run".to_owned(), Value::from(run)),
            ("number".to_owned(), Value::Int(number as i64)),
        ];
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.push(subscription);
        Ok(Answer::Value(Value::Map(said)))
    }

    /// Also where there is too much to do: it frees a place.
    fn unsubscribe(&self, arguments: Arguments) -> Result<Answer, Fault> {
        let (id,): (u64,) = match arguments.clone().read::<Unsubscribe>() {
            Ok(named) => (named.subscription,),
            Err(_) => arguments.read()?,
        };
        let mut ended = self.client.subscriptions().remove(&id);
        if ended.is_none() {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            let place = begun.iter().position(|begun| begun.id == id);
            ended = place.map(|place| begun.remove(place));
        }
        let Some(ended) = ended else {
            return Err(Fault::arguments(format!(
                "this connection has no subscription {id}"
            )));
        };
        let (missed, number) = ended.rest();
        let said = vec![
            ("number".to_owned(), Value::Int(number as i64)),
            ("missed".to_owned(), Value::Int(missed as i64)),
        ];
        Ok(Answer::Value(Value::Map(said)))
    }

    /// For pages, which cannot send a header with the handshake. Also where there is too much to do: it costs no more than a refusal, and a page
    /// that calls again later has its token.
    fn authenticate(&self, arguments: Arguments) -> Result<Answer, Fault> {
        let Authenticate { bearer } = arguments.read()?;
        // It is kept as long as the connection.
        if bearer.len() > MOST_TOKEN_BYTES {
            let reason = format!("a token has at most {MOST_TOKEN_BYTES} bytes");
            return Err(Fault::arguments(reason));
        }
        self.client.caller().bearer = Some(bearer);
        Ok(Answer::Value(Value::Null))
    }
}

#[derive(serde::Deserialize)]
struct Unsubscribe {
    subscription: u64,
}

#[derive(serde::Deserialize)]
struct Authenticate {
    bearer: String,
}
