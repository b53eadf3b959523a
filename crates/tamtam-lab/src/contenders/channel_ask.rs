//! A thread with a channel, asked as an actor is.

use std::sync::Arc;
use std::thread;

use tamtam_channel::{Sender, Slot, bounded};

use crate::ask::{Ask, Asker, Counter, Origin, Request, Teller, Tells};
use crate::harness::executor::runtime;

/// A thread that takes requests out of a channel, and puts its answers into a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadWithChannel;

impl ThreadWithChannel {
    /// Where it is asked from.
    pub(super) const ORIGINS: &'static [Origin] = &[Origin::Thread, Origin::Task];
}

/// How many requests the channel holds: article E's queue.
const CAPACITY: usize = 10_000;

impl Ask for ThreadWithChannel {
    fn ask(&self, origin: Origin, _threads: usize, mut asker: Asker) -> Asker {
        with_server(|requests, answers| {
            if origin == Origin::Task {
                let asking = async {
                    while let Some(number) = asker.next() {
                        send_async(requests, Request::Ask(number)).await;
                        asker.accept(answers.take_async().await);
                    }
                };
                runtime().block_on(asking);
            } else {
                while let Some(number) = asker.next() {
                    send(requests, Request::Ask(number));
                    asker.accept(answers.take());
                }
            }
        });
        asker
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        with_server(|requests, answers| {
            while let Some(Tells { numbers, question }) = teller.next() {
                for number in numbers {
                    send(requests, Request::Tell(number));
                }
                send(requests, Request::Ask(question));
                teller.accept(answers.take());
            }
        });
    }
}

/// Starts the thread, does `work`, and ends the thread.
fn with_server(work: impl FnOnce(&Sender<Request>, &Slot<u64>)) {
    let (requests, inbox) = bounded(CAPACITY);
    let answers = Arc::new(Slot::new());
    let outbox = Arc::clone(&answers);
    let server = thread::spawn(move || {
        let mut counter = Counter::default();
        for request in inbox {
            match request {
                Request::Tell(number) => counter.tell(number),
                Request::Ask(number) => outbox.put(counter.ask(number)),
                Request::Stop => return,
            }
        }
    });
    work(&requests, &answers);
    drop(requests);
    server.join().expect("the serving thread does not panic");
}

fn send(requests: &Sender<Request>, request: Request) {
    requests.send(request).expect("the receiver is there");
}

async fn send_async(requests: &Sender<Request>, request: Request) {
    let sent = requests.send_async(request).await;
    sent.expect("the receiver is there");
}
