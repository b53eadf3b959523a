//! Actors that wait for each other: who closes a circle is told so, with the names of all in it.

mod support;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use support::{LONG, block_on, within_limit};
use tamtam_actor::{Actor, Address, AskError, Context, Pool, Reply};

enum Step {
    /// Ask these, one after the other, each with the rest, and wait.
    Ask(Vec<Address<Step>>, Reply<Result<(), AskError>>),
    /// The same, but hold for the answer.
    Hold(Vec<Address<Step>>, Reply<Result<(), AskError>>),
    /// Hold for the answer of this one, which is to ask these.
    HoldFor(
        Address<Step>,
        Vec<Address<Step>>,
        Reply<Result<(), AskError>>,
    ),
    /// Ask this one and wait; it is to pass the reply on, and to ask back.
    AskWho(
        Address<Step>,
        mpsc::Sender<Reply<Result<(), AskError>>>,
        Reply<Result<(), AskError>>,
    ),
    /// Give the reply to somebody else, and ask this one.
    PassOn(
        mpsc::Sender<Reply<Result<(), AskError>>>,
        Address<Step>,
        Reply<Result<(), AskError>>,
    ),
    Ping(Reply<Result<(), AskError>>),
}

struct Walker;

fn ask_next(mut rest: Vec<Address<Step>>) -> Result<(), AskError> {
    if rest.is_empty() {
        return Ok(());
    }
    let next = rest.remove(0);
    next.ask(|reply| Step::Ask(rest, reply))?
}

impl Actor for Walker {
    type Message = Step;

    fn handle(&mut self, step: Step, cx: &mut Context<Self>) {
        match step {
            Step::Ask(rest, reply) => reply.send(ask_next(rest)),
            Step::Hold(mut rest, reply) => {
                if rest.is_empty() {
                    return reply.send(Ok(()));
                }
                let next = rest.remove(0);
                let answer = next.ask_async(|reply| Step::Hold(rest, reply));
                cx.hold(answer, |_, answer, _| {
                    reply.send(answer.and_then(|inner| inner))
                });
            }
            Step::HoldFor(next, rest, reply) => {
                let answer = next.ask_async(|reply| Step::Ask(rest, reply));
                cx.hold(answer, |_, answer, _| {
                    reply.send(answer.and_then(|inner| inner))
                });
            }
            Step::AskWho(next, to, reply) => {
                let this = cx.address();
                let answer = next.ask(|reply| Step::PassOn(to, this, reply));
                reply.send(answer.and_then(|inner| inner));
            }
            Step::PassOn(to, next, reply) => {
                to.send(reply).unwrap();
                let asked = Instant::now();
                match next.ask(Step::Ping) {
                    Ok(answer) => answer.unwrap(),
                    // Whoever has the reply may be off the core for long.
                    Err(error) => {
                        assert!(matches!(error, AskError::Cycle(_)), "{error}");
                        assert!(asked.elapsed() >= Duration::from_millis(200));
                    }
                }
            }
            Step::Ping(reply) => reply.send(Ok(())),
        }
    }
}

fn ids(cycle: &AskError) -> Vec<u64> {
    match cycle {
        AskError::Cycle(cycle) => cycle.actors().iter().map(|id| id.get()).collect(),
        other => panic!("no cycle: {other}"),
    }
}

#[test]
fn who_asks_itself_is_told_at_once() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let walker = pool.spawn(Walker);
        let answer = walker.ask(|reply| Step::Ask(vec![walker.clone()], reply));
        assert_eq!(ids(&answer.unwrap().unwrap_err()), [walker.id().get()]);
        let answer = walker.ask(|reply| Step::Hold(vec![walker.clone()], reply));
        assert_eq!(ids(&answer.unwrap().unwrap_err()), [walker.id().get()]);
    });
}

#[test]
fn a_circle_of_asks_is_named() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let [a, b, c] = [(); 3].map(|()| pool.spawn(Walker));
        let way = vec![b.clone(), c.clone(), a.clone()];
        let answer = a.ask(|reply| Step::Ask(way, reply));
        let error = answer.unwrap().unwrap_err();
        assert_eq!(ids(&error), [c.id().get(), a.id().get(), b.id().get()]);
        let named = format!("{} -> {} -> {} -> {}", c.id(), a.id(), b.id(), c.id());
        assert!(error.to_string().contains(&named), "{error}");
        // They are free again.
        let answer = a.ask(|reply| Step::Ask(vec![b.clone(), c.clone()], reply));
        assert_eq!(answer, Ok(Ok(())));
    });
}

#[test]
fn a_circle_of_holds_is_named() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let [a, b] = [(); 2].map(|()| pool.spawn(Walker));
        let way = vec![b.clone(), a.clone()];
        let answer = a.ask(|reply| Step::Hold(way, reply));
        assert_eq!(
            ids(&answer.unwrap().unwrap_err()),
            [b.id().get(), a.id().get()]
        );
        let answer = a.ask(|reply| Step::Hold(vec![b.clone()], reply));
        assert_eq!(answer, Ok(Ok(())));
    });
}

#[test]
fn a_circle_of_a_hold_and_an_ask_is_named() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let [a, b] = [(); 2].map(|()| pool.spawn(Walker));
        let answer = a.ask(|reply| Step::HoldFor(b.clone(), vec![a.clone()], reply));
        assert_eq!(
            ids(&answer.unwrap().unwrap_err()),
            [b.id().get(), a.id().get()]
        );
    });
}

/// A question that is passed on is answered by somebody outside: no circle, though it looks like one for a while.
#[test]
fn a_question_that_was_passed_on_is_no_circle() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let [a, b] = [(); 2].map(|()| pool.spawn(Walker));
        let (to, passed_on) = mpsc::channel();
        let answerer = thread::spawn(move || {
            let reply: Reply<Result<(), AskError>> = passed_on.recv_timeout(LONG).unwrap();
            // So that the one who has passed it on asks back meanwhile.
            thread::sleep(Duration::from_millis(20));
            reply.send(Ok(()));
        });
        let answer = a.ask(|reply| Step::AskWho(b.clone(), to, reply));
        assert_eq!(answer, Ok(Ok(())));
        answerer.join().unwrap();
        // Neither of them has panicked.
        assert_eq!(a.ask(Step::Ping), Ok(Ok(())));
        assert_eq!(b.ask(Step::Ping), Ok(Ok(())));
    });
}

/// Two actors that answer each other's questions all the time, each by `Context::ask`: nobody waits, so nothing is found.
#[test]
fn questions_without_waiting_are_no_circle() {
    struct Partner(Option<Address<Message>>, u32);

    enum Message {
        Meet(Address<Message>),
        Count(u32, Reply<u32>),
    }

    impl Actor for Partner {
        type Message = Message;

        fn handle(&mut self, message: Message, cx: &mut Context<Self>) {
            match message {
                Message::Meet(other) => self.0 = Some(other),
                Message::Count(0, reply) => reply.send(self.1),
                Message::Count(left, reply) => {
                    self.1 += 1;
                    let other = self.0.clone().unwrap();
                    cx.ask(
                        &other,
                        |reply| Message::Count(left - 1, reply),
                        |this, got, _| {
                            reply.send(got.unwrap() + this.1);
                        },
                    );
                }
            }
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        let [a, b] = [(); 2].map(|()| pool.spawn(Partner(None, 0)));
        a.tell(Message::Meet(b.clone())).unwrap();
        b.tell(Message::Meet(a.clone())).unwrap();
        let answer = a.ask_async(|reply| Message::Count(10, reply));
        assert!(block_on(answer).unwrap() > 0);
        a.stop();
        b.stop();
    });
}
