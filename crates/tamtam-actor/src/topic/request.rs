//! A topic whose subscribers answer: one question, as many answers.

use core::error::Error;
use core::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_channel::{Receiver, RecvTimeoutError, Sender};
use tamtam_wait::contain;
use tamtam_wait::seam::Mutex;

use super::{Feed, Subscription, Topic};
use crate::address::{Address, Outlet};

/// Where questions are asked of all who have subscribed: one question, many answers.
///
/// Each subscriber gets a [`Request`], answers as often as it likes, now or later, and drops it. The one who has
/// asked takes the answers out of a session: [`Answers`], or, as messages, with a [`Session`]. It ends when it is
/// dropped, or when all who have heard the question have dropped it.
///
/// Clones are the same topic.
///
/// # Ordering
///
/// Questions reach a subscriber as what is published on a [`Topic`]. Answers of one subscriber come in the order
/// given.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Request, RequestTopic};
///
/// let pool = Pool::new();
/// let offers = RequestTopic::<&str, u32>::new();
/// let sellers = [30, 20].map(|price| {
///     pool.spawn_fn(move |request: Request<&str, u32>, _| {
///         if *request.question() == "tin" {
///             let _ = request.answer(price);
///         }
///     })
/// });
/// let subscriptions = sellers.each_ref().map(|seller| offers.subscribe(seller));
/// let lowest = offers.request("tin").min(); // both have answered
/// assert_eq!(lowest, Some(20));
/// # drop(subscriptions);
/// ```
pub struct RequestTopic<Q, A> {
    topic: Topic<Request<Q, A>>,
}

impl<Q: Send + Sync + 'static, A: Send + 'static> RequestTopic<Q, A> {
    /// A topic of questions without subscribers yet.
    #[must_use]
    pub fn new() -> Self {
        RequestTopic {
            topic: Topic::new(),
        }
    }

    /// Subscribes an actor to each question from now on, until the [`Subscription`] is dropped.
    pub fn subscribe(&self, address: &Address<Request<Q, A>>) -> Subscription {
        self.topic.subscribe(address)
    }

    /// Says which questions a subscriber is to get, and how; as [`Topic::feed`].
    pub fn feed(&self) -> Feed<Request<Q, A>> {
        self.topic.feed()
    }

    /// How many have subscribed. Actors that have stopped count until a question finds out.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.topic.subscribers()
    }

    /// Asks all who have subscribed, and returns at once. The answers are taken out of what it returns.
    ///
    /// A subscriber that has no room for the question does not hear it: [`Answers::refused`] counts them.
    pub fn request(&self, question: Q) -> Answers<A> {
        let (sender, answers) = tamtam_channel::unbounded();
        let (reached, life) = self.ask(question, RequestWay::Channel(sender));
        Answers {
            answers,
            session: Session { reached, life },
        }
    }

    /// As [`request`](RequestTopic::request), but the answers are sent to an actor: each as `Some`, and `None` when
    /// no more can come. A `None` for which a limited mailbox has no room is not sent.
    ///
    /// Nothing more is sent when the [`Session`] is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Request, RequestTopic};
    ///
    /// let pool = Pool::new();
    /// let ages = RequestTopic::<(), u32>::new();
    /// let member = pool.spawn_fn(|request: Request<(), u32>, _| drop(request.answer(36)));
    /// let subscription = ages.subscribe(&member);
    ///
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let curious = pool.spawn_fn(move |age: Option<u32>, _| sender.send(age).unwrap());
    /// let session = ages.request_to((), &curious);
    /// assert_eq!(receiver.recv(), Ok(Some(36)));
    /// assert_eq!(receiver.recv(), Ok(None));
    /// # drop((subscription, session));
    /// ```
    pub fn request_to(&self, question: Q, address: &Address<Option<A>>) -> Session {
        let (reached, life) = self.ask(question, RequestWay::Actor(address.outlet()));
        Session { reached, life }
    }

    fn ask(&self, question: Q, way: RequestWay<A>) -> (Reached, Arc<AskerLife>) {
        let life = Arc::new(AskerLife(Mutex::new(Some(Vec::new()))));
        let request = Request(Arc::new(RequestState {
            question,
            way,
            life: Arc::clone(&life),
        }));
        let reached = match self.topic.publish(request) {
            Ok(heard) => Reached { heard, refused: 0 },
            Err(error) => Reached {
                heard: error.delivered(),
                refused: error.refused(),
            },
        };
        (reached, life)
    }
}

impl<Q: Send + Sync + 'static, A: Send + 'static> Default for RequestTopic<Q, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q, A> Clone for RequestTopic<Q, A> {
    fn clone(&self) -> Self {
        RequestTopic {
            topic: self.topic.clone(),
        }
    }
}

impl<Q, A> fmt::Debug for RequestTopic<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestTopic").field(&self.topic).finish()
    }
}

/// A question, and the way back of any number of answers.
///
/// All who hear the question have clones of one request. When the last one is dropped, the asker knows that no more
/// answers come: so one that is kept keeps the asker waiting.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Request, RequestTopic};
///
/// let pool = Pool::new();
/// let doubled = RequestTopic::<u32, u32>::new();
/// let member = pool.spawn_fn(|request: Request<u32, u32>, _| {
///     if request.is_awaited() {
///         let _ = request.answer(2 * request.question());
///     }
/// });
/// let subscription = doubled.subscribe(&member);
/// let mut answers = doubled.request(21);
/// assert_eq!(answers.next_timeout(std::time::Duration::from_secs(10)), Ok(42));
/// # drop(subscription);
/// ```
pub struct Request<Q, A>(Arc<RequestState<Q, A>>);

struct RequestState<Q, A> {
    question: Q,
    way: RequestWay<A>,
    life: Arc<AskerLife>,
}

enum RequestWay<A> {
    Channel(Sender<A>),
    Actor(Outlet<Option<A>>),
}

impl<Q, A> Request<Q, A> {
    /// The question.
    #[must_use]
    pub fn question(&self) -> &Q {
        &self.0.question
    }

    /// Answers; as often as there is something to say.
    ///
    /// # Errors
    ///
    /// [`AnswerError`] with the answer: the session is over, or the asker's mailbox is full.
    pub fn answer(&self, answer: A) -> Result<(), AnswerError<A>> {
        if !self.is_awaited() {
            return Err(AnswerError::Over(answer));
        }
        match &self.0.way {
            RequestWay::Channel(answers) => answers
                .send(answer)
                .map_err(|error| AnswerError::Over(error.into_inner())),
            RequestWay::Actor(asker) => match asker.tell(Some(answer)) {
                Ok(()) => Ok(()),
                Err(error) => {
                    let is_full = error.is_full();
                    match error.into_inner() {
                        Some(answer) if is_full => Err(AnswerError::Full(answer)),
                        Some(answer) => Err(AnswerError::Over(answer)),
                        None => Ok(()),
                    }
                }
            },
        }
    }

    /// Whether the asker still takes answers, as far as is known: one may save oneself the work.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.0.life.goes_on()
            && match &self.0.way {
                RequestWay::Channel(_) => true,
                RequestWay::Actor(asker) => !asker.is_stopped(),
            }
    }

    /// Sends a message to an actor when the asker ends the session, by dropping it; at once, if it has ended. So one
    /// who goes on answering for a long time can learn that it is enough.
    ///
    /// It does so also if the request is dropped before. If the mailbox is full, or its actor has stopped, the message
    /// is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use tamtam_actor::{Pool, Request, RequestTopic};
    ///
    /// let pool = Pool::new();
    /// let (sender, receiver) = mpsc::channel();
    /// let log = pool.spawn_fn(move |line: &str, _| sender.send(line).unwrap());
    /// let questions = RequestTopic::<&str, ()>::new();
    /// let responder = pool.spawn_fn(move |request: Request<&'static str, ()>, _| {
    ///     request.tell_when_over(&log, request.question());
    /// });
    /// let subscription = questions.subscribe(&responder);
    /// let answers = questions.request("anybody there?");
    /// drop(answers);
    /// assert_eq!(receiver.recv(), Ok("anybody there?"));
    /// # drop(subscription);
    /// ```
    pub fn tell_when_over<N: Send + 'static>(&self, address: &Address<N>, message: N) {
        let outlet = address.outlet();
        self.0.life.when_over(Box::new(move || {
            drop(outlet.tell(message));
        }));
    }
}

impl<Q, A> Clone for Request<Q, A> {
    fn clone(&self) -> Self {
        Request(Arc::clone(&self.0))
    }
}

impl<Q, A> fmt::Debug for Request<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("awaited", &self.is_awaited())
            .finish_non_exhaustive()
    }
}

impl<Q, A> Drop for RequestState<Q, A> {
    fn drop(&mut self) {
        // A channel notices by itself.
        if let RequestWay::Actor(asker) = &self.way
            && self.life.goes_on()
        {
            contain(|| drop(asker.tell(None)));
        }
    }
}

/// Whether the asker still waits, and what is done when it does no longer.
struct AskerLife(Mutex<Option<Vec<Epilogue>>>);

type Epilogue = Box<dyn FnOnce() + Send>;

impl AskerLife {
    fn goes_on(&self) -> bool {
        self.0.lock().is_some()
    }

    fn when_over(&self, epilogue: Epilogue) {
        let now = match &mut *self.0.lock() {
            Some(epilogues) => {
                epilogues.push(epilogue);
                None
            }
            None => Some(epilogue),
        };
        // Not under the lock: it may run a user's mapping.
        if let Some(epilogue) = now {
            contain(epilogue);
        }
    }

    fn end(&self) {
        let epilogues = self.0.lock().take();
        for epilogue in epilogues.into_iter().flatten() {
            contain(epilogue);
        }
    }
}

/// How many were asked.
#[derive(Clone, Copy, Debug)]
struct Reached {
    heard: usize,
    refused: usize,
}

/// A question whose answers are sent to an actor; dropping it ends the session: see
/// [`RequestTopic::request_to`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Request, RequestTopic};
///
/// let pool = Pool::new();
/// let ages = RequestTopic::<(), u32>::new();
/// let member = pool.spawn_fn(|request: Request<(), u32>, _| drop(request.answer(36)));
/// let subscription = ages.subscribe(&member);
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let curious = pool.spawn_fn(move |age: Option<u32>, _| sender.send(age).unwrap());
/// let session = ages.request_to((), &curious);
/// assert_eq!((session.heard(), session.refused()), (1, 0));
/// assert_eq!(receiver.recv(), Ok(Some(36)));
/// // Later answers would come back to those who give them, as `AnswerError::Over`.
/// drop(session);
/// # drop(subscription);
/// ```
#[must_use = "dropping it ends the session"]
pub struct Session {
    reached: Reached,
    life: Arc<AskerLife>,
}

impl Session {
    /// How many subscribers were given the question.
    #[must_use]
    pub fn heard(&self) -> usize {
        self.reached.heard
    }

    /// How many subscribers had no room for the question.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.reached.refused
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.life.end();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("heard", &self.reached.heard)
            .field("refused", &self.reached.refused)
            .finish_non_exhaustive()
    }
}

/// The answers to a question, as they come; dropping it ends the session: see [`RequestTopic::request`].
///
/// As an iterator it waits for each answer, and ends when no more can come: when all who have heard the question
/// have dropped it. As there may be one who keeps it, [`within`](Answers::within) is often better.
///
/// # Blocking
///
/// While there is no answer. Not for handlers on a pool: use
/// [`request_to`](RequestTopic::request_to).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Pool, Request, RequestTopic};
///
/// let pool = Pool::new();
/// let ages = RequestTopic::<(), u32>::new();
/// let members: Vec<_> = [36, 41]
///     .map(|age| pool.spawn_fn(move |request: Request<(), u32>, _| drop(request.answer(age))))
///     .into();
/// let subscriptions: Vec<_> = members.iter().map(|member| ages.subscribe(member)).collect();
/// let mut answers = ages.request(());
/// assert_eq!(answers.heard(), 2);
/// assert_eq!(answers.within(Duration::from_secs(10)).take(2).sum::<u32>(), 77);
/// # drop(subscriptions);
/// ```
#[must_use = "dropping it ends the session"]
pub struct Answers<A> {
    answers: Receiver<A>,
    session: Session,
}

impl<A> Answers<A> {
    /// How many subscribers were given the question.
    #[must_use]
    pub fn heard(&self) -> usize {
        self.session.heard()
    }

    /// How many subscribers had no room for the question.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.session.refused()
    }

    /// The next answer, if one comes in time.
    ///
    /// # Blocking
    ///
    /// Until an answer comes, or no more can come, or the time is over.
    ///
    /// # Errors
    ///
    /// `Timeout` if none came in time, `Disconnected` if no more can come.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<A, RecvTimeoutError> {
        match self.answers.try_recv() {
            Ok(answer) => Ok(answer),
            Err(_) => crate::task::while_blocked(|| self.answers.recv_timeout(timeout)),
        }
    }

    /// The answers that come within this time, from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::RequestTopic;
    ///
    /// let questions = RequestTopic::<&str, u32>::new();
    /// let mut answers = questions.request("how many?");
    /// let first_five: Vec<u32> = answers.within(Duration::from_millis(50)).take(5).collect();
    /// assert_eq!(first_five, []); // no one has heard it
    /// ```
    pub fn within(&mut self, timeout: Duration) -> impl Iterator<Item = A> + '_ {
        let deadline = Instant::now().checked_add(timeout);
        std::iter::from_fn(move || match deadline {
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.next_timeout(left).ok()
            }
            None => self.next(),
        })
    }

    /// The answers as a channel, for `select!` and for async code. It is disconnected when no more can come.
    #[must_use]
    pub fn receiver(&self) -> &Receiver<A> {
        &self.answers
    }
}

impl<A> Iterator for Answers<A> {
    type Item = A;

    fn next(&mut self) -> Option<A> {
        match self.answers.try_recv() {
            Ok(answer) => Some(answer),
            Err(_) => crate::task::while_blocked(|| self.answers.recv()).ok(),
        }
    }
}

impl<A> FusedIterator for Answers<A> {}

impl<A> fmt::Debug for Answers<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("heard", &self.heard())
            .field("refused", &self.refused())
            .finish_non_exhaustive()
    }
}

/// An answer that did not reach the asker.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AnswerError, Pool, Request, RequestTopic};
///
/// let pool = Pool::new();
/// let questions = RequestTopic::<&str, u32>::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let keeper = pool.spawn_fn(move |request: Request<&'static str, u32>, _| sender.send(request).unwrap());
/// let subscription = questions.subscribe(&keeper);
/// let answers = questions.request("how many?");
/// let request = receiver.recv().unwrap();
/// drop(answers); // Enough.
/// match request.answer(7) {
///     Err(AnswerError::Over(answer)) => assert_eq!(answer, 7),
///     other => panic!("{other:?}"),
/// }
/// # drop(subscription);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError<A> {
    /// The session is over: no answer is waited for.
    Over(A),
    /// The asker's mailbox has no room; later it may have.
    Full(A),
}

impl<A> AnswerError<A> {
    /// The answer.
    pub fn into_answer(self) -> A {
        match self {
            AnswerError::Over(answer) | AnswerError::Full(answer) => answer,
        }
    }

    /// Whether the asker's mailbox has no room; later it may have.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, AnswerError::Full(_))
    }
}

impl<A> fmt::Debug for AnswerError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnswerError::Over(_) => "Over(..)",
            AnswerError::Full(_) => "Full(..)",
        })
    }
}

impl<A> fmt::Display for AnswerError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnswerError::Over(_) => "the session is over: nobody waits for the answer",
            AnswerError::Full(_) => {
                "the asker's mailbox is full: the answer was not sent; try later"
            }
        })
    }
}

impl<A> Error for AnswerError<A> {}
