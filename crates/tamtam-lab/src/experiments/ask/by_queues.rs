//! Asking by two queues: any system that passes messages between threads takes part by it.

use std::thread;

use super::{Ask, Asker, Counter, Origin, Teller, Tells};
use crate::{Post, Queue, Retrieve};

/// How many requests a bounded queue holds.
const CAPACITY: usize = 10_000;

/// What a thread that serves as an actor gets.
#[derive(Debug, Clone, Copy)]
pub enum Request {
    /// A number that wants no answer.
    Tell(u64),
    /// A question.
    Ask(u64),
    /// The end.
    Stop,
}

/// An actor as one would write it with queues alone: a thread that takes requests out of one, and puts its answers into
/// another. It is asked by a plain thread.
#[derive(Debug, Clone, Copy)]
pub struct ByQueues<Q>(pub Q);

impl<Q: Queue<Request> + Queue<u64>> Ask for ByQueues<Q> {
    fn ask(&self, _origin: Origin, _threads: usize, mut asker: Asker) -> Asker {
        self.serve(|requests, answers| {
            while let Some(number) = asker.next() {
                requests.send(Request::Ask(number));
                asker.accept(answers.receive());
            }
        });
        asker
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        self.serve(|requests, answers| {
            while let Some(Tells { numbers, question }) = teller.next() {
                for number in numbers {
                    requests.send(Request::Tell(number));
                }
                requests.send(Request::Ask(question));
                teller.accept(answers.receive());
            }
        });
    }
}

impl<Q: Queue<Request> + Queue<u64>> ByQueues<Q> {
    /// Starts the serving thread, does `work`, and ends it.
    fn serve(
        &self,
        work: impl FnOnce(&mut <Q as Queue<Request>>::Sender, &mut <Q as Queue<u64>>::Receiver),
    ) {
        let (mut requests, mut inbox) = Queue::<Request>::open(&self.0, CAPACITY);
        let (mut outbox, mut answers) = Queue::<u64>::open(&self.0, 1);
        let server = thread::spawn(move || {
            let mut counter = Counter::default();
            loop {
                match inbox.receive() {
                    Request::Tell(number) => counter.tell(number),
                    Request::Ask(number) => outbox.send(counter.ask(number)),
                    Request::Stop => return,
                }
            }
        });
        work(&mut requests, &mut answers);
        requests.send(Request::Stop);
        server.join().expect("the serving thread does not panic");
    }
}
