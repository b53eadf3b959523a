//! A question that its actor refuses: who asks gets the reason, whoever asks, and wherever the one lives who is asked.

use std::sync::mpsc;
use std::thread;

use crate::support::{LONG, block_on, within_limit};
use tamtam_actor::{
    Actor, Address, AskError, Budget, Context, Fate, Frame, Pool, Reply, Stepper, Worker,
};

/// A question, and whether it is refused at once or later, by another thread.
struct Question(bool, Reply<u32>);

fn strict(Question(later, reply): Question) {
    if later {
        thread::spawn(move || reply.refuse("it is too late"));
    } else {
        reply.refuse(String::from("it is too late"));
    }
}

struct Asker(Address<Question>, mpsc::Sender<Result<u32, AskError>>);

impl Actor for Asker {
    /// Whether it waits in its handler.
    type Message = bool;

    fn handle(&mut self, waits: bool, cx: &mut Context<Self>) {
        let question = |reply| Question(waits, reply);
        if waits {
            self.1.send(self.0.ask(question)).unwrap();
        } else {
            cx.ask(&self.0, question, |this, answer, _| {
                this.1.send(answer).unwrap();
            });
        }
    }
}

fn check(answer: Result<u32, AskError>) {
    let error = answer.unwrap_err();
    assert_eq!(error.fate(), Fate::Begun);
    assert_eq!((error.actor(), error.name()), (None, None));
    assert_eq!(
        error.to_string(),
        "the question was refused: it is too late"
    );
    match error {
        AskError::Refused(refused) => assert_eq!(refused.reason(), "it is too late"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_asks_gets_the_reason() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let worker = Worker::new();
        let homes = [
            pool.spawn_fn(|question, _| strict(question)),
            worker.spawn_fn(|question, _| strict(question)),
        ];
        for address in homes {
            for later in [false, true] {
                check(address.ask(|reply| Question(later, reply)));
                check(address.ask_timeout(|reply| Question(later, reply), LONG));
                check(block_on(address.ask_async(|reply| Question(later, reply))));
                let (say, said) = mpsc::channel();
                let reply = Reply::to(move |answer| say.send(answer).unwrap());
                address.tell(Question(later, reply)).unwrap();
                check(said.recv().unwrap());
                let (say, said) = mpsc::channel();
                let asker = pool.spawn(Asker(address.clone(), say));
                asker.tell(later).unwrap();
                check(said.recv().unwrap());
            }
        }
    });
}

#[test]
fn who_asks_a_frame_or_a_stepper_gets_it_too() {
    let mut frame = Frame::new();
    let address = frame.spawn_fn(|question, _| strict(question));
    let asks = thread::spawn(move || address.ask(|reply| Question(false, reply)));
    while !asks.is_finished() {
        frame.pump(Budget::unlimited());
    }
    check(asks.join().unwrap());
    let stepper = Stepper::with_seed(7);
    let address = stepper.spawn_fn(|question, _| strict(question));
    check(stepper.ask(&address, |reply| Question(false, reply)));
}

#[test]
fn one_that_has_given_up_is_not_told_and_nothing_goes_wrong() {
    let (say, said) = mpsc::channel();
    let pool = Pool::with_threads(1);
    let keeper = pool.spawn_fn(move |reply: Reply<u32>, _| say.send(reply).unwrap());
    let patience = std::time::Duration::from_millis(1);
    assert_eq!(
        keeper.ask_timeout(|reply| reply, patience),
        Err(AskError::TimedOut)
    );
    let reply = said.recv().unwrap();
    assert!(!reply.is_awaited());
    reply.refuse("nobody hears it");
}
