//! Actors that wait for each other: who closes a circle is told so, with the names of all in it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Gate, Hold, LONG, SHORT, block_on, hold, within, within_limit};
use tamtam_actor::{
    Actor, ActorId, Address, AskError, Budget, Context, EndReason, Frame, Here, Overflow, Pool,
    Refusal, Reply, TellError, Worker,
};

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

/// Holds for room in the mailbox of another one.
struct Sender;

enum Parcel {
    /// Wait, then hold for room there, and say how that ended.
    Send(
        Address<Parcel>,
        Hold,
        mpsc::Sender<(ActorId, Result<(), TellError<Parcel>>)>,
    ),
    Fill,
}

impl Actor for Sender {
    type Message = Parcel;

    fn handle(&mut self, parcel: Parcel, cx: &mut Context<Self>) {
        let Parcel::Send(to, hold, report) = parcel else {
            return;
        };
        hold.wait();
        let this = cx.id();
        cx.hold(
            async move { to.tell_async(Parcel::Fill).await },
            move |_, told, _| report.send((this, told)).unwrap(),
        );
    }
}

/// Both are in their handlers and have full mailboxes, and are to hold for room at these.
fn about_to_send(from: &Address<Parcel>, to: &Address<Parcel>) -> (Gate, Told) {
    let (held, gate) = hold();
    let (report, reported) = mpsc::channel();
    from.tell(Parcel::Send(to.clone(), held, report)).unwrap();
    gate.until_entered();
    from.try_tell(Parcel::Fill).unwrap();
    (gate, reported)
}

type Told = mpsc::Receiver<(ActorId, Result<(), TellError<Parcel>>)>;

#[test]
fn a_circle_of_holds_for_room_is_named_and_comes_undone() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let [a, b] = [(); 2].map(|()| pool.spawner().limited(1, Overflow::Wait).spawn(Sender));
        let (a_gate, a_told) = about_to_send(&a, &b);
        let (b_gate, b_told) = about_to_send(&b, &a);
        a_gate.open();
        b_gate.open();
        let told = [a_told, b_told].map(|told| told.recv_timeout(LONG).unwrap());
        let (closers, others): (Vec<_>, Vec<_>) =
            told.into_iter().partition(|(_, told)| told.is_err());
        // The one that has closed it; there is room for the other one's message, then.
        let [(closer, Err(error))] = &closers[..] else {
            panic!("one of them is told: {}", closers.len());
        };
        assert!(matches!(others[..], [(_, Ok(()))]));
        assert_eq!(error.why(), Refusal::Cycle);
        let cycle = error.cycle().unwrap();
        let (first, second) = if *closer == a.id() {
            (&a, &b)
        } else {
            (&b, &a)
        };
        assert_eq!(cycle.actors(), [first.id(), second.id()]);
        let named = format!("{} -> {} -> {}", first.id(), second.id(), first.id());
        assert!(error.to_string().contains(&named), "{error}");
        assert!(!error.is_full() && !error.is_stopped());
    });
}

#[test]
fn who_holds_for_room_in_its_own_mailbox_is_told_at_once() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let own = pool.spawner().limited(1, Overflow::Wait).spawn(Sender);
        let (gate, told) = about_to_send(&own, &own);
        gate.open();
        let (id, told) = told.recv_timeout(LONG).unwrap();
        let error = told.unwrap_err();
        assert_eq!(error.cycle().unwrap().actors(), [id]);
        assert!(matches!(error.into_inner(), Parcel::Fill));
    });
}

#[test]
fn who_holds_for_room_at_one_who_gets_on_is_in_no_circle() {
    within_limit(|| {
        let pool = Pool::with_threads(3);
        let spawner = || pool.spawner().limited(1, Overflow::Wait);
        let [a, b, c] = [(); 3].map(|()| spawner().spawn(Sender));
        let (c_gate, c_told) = about_to_send(&c, &pool.spawn(Sender));
        let (a_gate, a_told) = about_to_send(&a, &b);
        let (b_gate, b_told) = about_to_send(&b, &c);
        a_gate.open();
        b_gate.open();
        // Longer than a circle has to stand.
        let no_news = a_told.recv_timeout(Duration::from_millis(300));
        assert!(no_news.is_err() && b_told.try_recv().is_err());
        c_gate.open();
        for told in [a_told, b_told, c_told] {
            assert!(told.recv_timeout(LONG).unwrap().1.is_ok());
        }
    });
}

#[test]
fn who_would_wait_for_ever_for_an_end_panics_instead() {
    within_limit(|| {
        type Handle = Box<dyn FnMut(&mut Here<()>) + Send>;
        let panics = |spawner: &dyn Fn(Handle) -> Address<()>| {
            let (sender, receiver) = mpsc::channel::<Address<()>>();
            let waiting = spawner(Box::new(move |_| {
                drop(receiver.recv_timeout(LONG).unwrap().end().wait());
            }));
            let end = waiting.end();
            waiting.tell(()).unwrap();
            (sender, waiting, end)
        };
        let is_told = |reason: EndReason| match reason {
            EndReason::Panicked(why) => why.contains("lives on this very thread"),
            _ => false,
        };
        // Its own end.
        let pool = Pool::with_threads(1);
        let (sender, waiting, end) =
            panics(&|mut handle| pool.spawn_fn(move |(), here| handle(here)));
        sender.send(waiting).unwrap();
        assert!(is_told(end.wait().reason));
        // That of a neighbour on the same thread.
        let worker = Worker::new();
        let neighbour = worker.spawn_fn(|(), _| {});
        let (sender, _waiting, end) =
            panics(&|mut handle| worker.spawn_fn(move |(), here| handle(here)));
        sender.send(neighbour.clone()).unwrap();
        assert!(is_told(end.wait().reason));
        // From elsewhere it can be waited for, and once it has come from anywhere.
        neighbour.stop();
        assert_eq!(neighbour.end().wait().reason, EndReason::Stopped);
        let frame = Frame::new();
        let here = frame.spawn_fn(|(), _| {});
        let mut end = here.end();
        assert!(end.wait_timeout(SHORT).is_none());
        assert!(catch_unwind(AssertUnwindSafe(|| end.wait())).is_err());
        let end = here.end();
        drop(frame);
        assert_eq!(end.wait().reason, EndReason::Stopped);
    });
}

/// Each wait was looked up in all that had been seen, for each of those before it: 16 seconds for such a row.
#[test]
fn a_long_row_of_actors_that_wait_for_each_other_takes_no_time_to_search() {
    struct Link {
        before: Option<Address<Reply<u32>>>,
        kept: Vec<Reply<u32>>,
    }

    impl Actor for Link {
        type Message = Reply<u32>;

        fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
            let Some(before) = &self.before else {
                return self.kept.push(reply);
            };
            let answer = before.ask_async(|reply| reply);
            cx.hold(answer, move |_, answer, _| reply.send(answer.unwrap_or(0)));
        }
    }

    within(LONG / 2, || {
        const ROW: usize = 4_000;

        let mut frame = Frame::new();
        let link = |before| Link {
            before,
            kept: Vec::new(),
        };
        let mut last = frame.spawn(link(None));
        let mut answers = Vec::new();
        for _ in 0..ROW {
            let next = frame.spawn(link(Some(last.clone())));
            answers.push(next.ask_async(|reply| reply));
            last = next;
            frame.pump(Budget::unlimited());
        }
        // None of them is in a circle.
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        for answer in &mut answers {
            assert!(std::pin::Pin::new(answer).poll(&mut cx).is_pending());
        }
    });
}

/// Two circles are closed by one wait. The one that is found comes undone; no wait that begins later would find the other one.
#[test]
fn a_circle_behind_one_that_came_undone_is_named() {
    type Act = Box<dyn FnOnce(&mut Context<Keeps>) + Send>;

    enum Task {
        Act(Act),
        Keep(Reply<()>),
    }

    /// Answers nothing.
    struct Keeps(Vec<Reply<()>>);

    impl Actor for Keeps {
        type Message = Task;

        fn handle(&mut self, task: Task, cx: &mut Context<Self>) {
            match task {
                Task::Act(act) => act(cx),
                Task::Keep(reply) => self.0.push(reply),
            }
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let [a, b, c] = [(); 3].map(|()| pool.spawn(Keeps(Vec::new())));
        let have = |actor: &Address<Task>, act: Act| actor.tell(Task::Act(act)).unwrap();
        let to = a.clone();
        have(
            &c,
            Box::new(move |cx| {
                let answer = to.ask_timeout_async(Task::Keep, Duration::from_millis(100));
                cx.hold(answer, |_, _, _| {});
            }),
        );
        let (first, second) = (c.clone(), a.clone());
        have(
            &b,
            Box::new(move |cx| {
                let mut first = Box::pin(first.ask_async(Task::Keep));
                let mut second = Box::pin(second.ask_async(Task::Keep));
                let both = std::future::poll_fn(move |context| {
                    let answers = [first.as_mut().poll(context), second.as_mut().poll(context)];
                    let is_over = answers.iter().any(std::task::Poll::is_ready);
                    if is_over {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                });
                cx.hold(both, |_, (), _| {});
            }),
        );
        pool.wait_idle().unwrap();
        let (note, noted) = mpsc::channel();
        let to = b.clone();
        have(
            &a,
            Box::new(move |cx| {
                let answer = to.ask_async(Task::Keep);
                cx.hold(answer, move |_, answer, _| note.send(answer).unwrap());
            }),
        );
        let error = noted.recv_timeout(LONG).unwrap().unwrap_err();
        assert_eq!(ids(&error), [a.id().get(), b.id().get()]);
    });
}
