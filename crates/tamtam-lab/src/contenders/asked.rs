//! An actor that is told and asked, and those who do so.

use tamtam_actor::{Actor, Address, Context, Reply};

use super::home::Home;
use crate::ask::{Asker, Counter, Teller, Tells};
use crate::harness::executor::runtime;

/// What it gets.
pub(super) enum Request {
    Tell(u64),
    Ask(u64, Reply<u64>),
}

/// The actor that is told and asked.
struct Server(Counter);

impl Actor for Server {
    type Message = Request;

    fn handle(&mut self, request: Request, _: &mut Context<Self>) {
        match request {
            Request::Tell(number) => self.0.tell(number),
            Request::Ask(number, reply) => reply.send(self.0.ask(number)),
        }
    }
}

/// Starts the actor in `home`.
pub(super) fn server(home: &mut impl Home) -> Address<Request> {
    home.spawn(Server(Counter::default()))
}

/// The actor that asks, one question after the other.
struct AskingActor {
    server: Address<Request>,
    asker: Option<Asker>,
    done: Option<Reply<Asker>>,
}

impl AskingActor {
    fn ask_next(&mut self, cx: &mut Context<Self>) {
        match self.asker.as_mut().and_then(Asker::next) {
            Some(number) => cx.ask(
                &self.server,
                |reply| Request::Ask(number, reply),
                |this, answer, cx| {
                    if let Some(asker) = &mut this.asker {
                        asker.accept(answer.expect("the actor answers"));
                    }
                    this.ask_next(cx);
                },
            ),
            None => {
                if let (Some(asker), Some(done)) = (self.asker.take(), self.done.take()) {
                    done.send(asker);
                }
            }
        }
    }
}

impl Actor for AskingActor {
    type Message = Asking;

    fn handle(&mut self, (asker, done): (Asker, Reply<Asker>), cx: &mut Context<Self>) {
        self.asker = Some(asker);
        self.done = Some(done);
        self.ask_next(cx);
    }
}

/// Asks from the calling thread, which blocks.
pub(super) fn from_thread(server: &Address<Request>, asker: Asker) -> Asker {
    ask_by(server, Request::Ask, asker)
}

/// Asks by these messages, from the calling thread, which blocks.
pub(super) fn ask_by<M: 'static>(
    server: &Address<M>,
    question: fn(u64, Reply<u64>) -> M,
    mut asker: Asker,
) -> Asker {
    while let Some(number) = asker.next() {
        let answer = server.ask(|reply| question(number, reply));
        asker.accept(answer.expect("the actor answers"));
    }
    asker
}

/// Asks from a task on tokio's runtime, in the calling thread.
pub(super) fn from_task(server: &Address<Request>, asker: Asker) -> Asker {
    runtime().block_on(in_task(server.clone(), asker))
}

/// Asks from a task, wherever it runs.
pub(super) async fn in_task(server: Address<Request>, mut asker: Asker) -> Asker {
    while let Some(number) = asker.next() {
        let answer = server.ask_async(|reply| Request::Ask(number, reply));
        asker.accept(answer.await.expect("the actor answers"));
    }
    asker
}

/// Asks from an actor in `home`.
pub(super) fn from_actor(home: &mut impl Home, server: Address<Request>, asker: Asker) -> Asker {
    let_ask(&asking_actor(home, server), asker)
}

/// What an actor gets that is to ask: what to ask, and to whom to hand it back.
pub(super) type Asking = (Asker, Reply<Asker>);

/// An actor in `home` that asks.
pub(super) fn asking_actor(home: &mut impl Home, server: Address<Request>) -> Address<Asking> {
    home.spawn(AskingActor {
        server,
        asker: None,
        done: None,
    })
}

/// Has this actor ask, and waits until it has asked all.
pub(super) fn let_ask(asking: &Address<Asking>, asker: Asker) -> Asker {
    asking
        .ask(|done| (asker, done))
        .expect("the asking actor ends")
}

/// Tells and asks from the calling thread.
pub(super) fn tell(server: &Address<Request>, teller: &mut Teller) {
    tell_by(server, Request::Tell, Request::Ask, teller);
}

/// Tells and asks by these messages, from the calling thread.
pub(super) fn tell_by<M: 'static>(
    server: &Address<M>,
    message: fn(u64) -> M,
    question: fn(u64, Reply<u64>) -> M,
    teller: &mut Teller,
) {
    while let Some(Tells {
        numbers,
        question: asked,
    }) = teller.next()
    {
        for number in numbers {
            let sent = server.tell(message(number));
            assert!(sent.is_ok(), "the actor is gone");
        }
        let answer = server.ask(|reply| question(asked, reply));
        teller.accept(answer.expect("the actor answers"));
    }
}
