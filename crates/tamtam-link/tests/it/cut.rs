//! A link that is cut, after each of its bytes: nobody waits for ever, nothing is kept, nothing that was not sent is handled.

use std::sync::mpsc;

use tamtam_actor::{AskError, Budget, Frame, Reply};
use tamtam_link::{Inbound, Link};

use crate::messages::{Count, Counter};

/// What goes from one side to the other, of which only so much arrives.
struct Direction {
    left: usize,
    carried: usize,
}

impl Direction {
    /// Carries what is there, and loses the link where it is cut: `false`.
    fn carry(&mut self, from: &Link, to: &mut Inbound) -> bool {
        let mut bytes = Vec::new();
        from.take_outgoing(&mut bytes);
        let arriving = bytes.len().min(self.left);
        self.left -= arriving;
        self.carried += arriving;
        let received = to.receive(&bytes[..arriving]);
        arriving == bytes.len() && received.is_ok()
    }
}

/// Asks and tells over a link of which so much arrives in each direction; how much was carried, and the answers.
fn run(there_to_here: usize, here_to_there: usize) -> ([usize; 2], Vec<Result<u64, AskError>>) {
    let mut frame = Frame::new();
    let actor = frame.spawner().spawn(Counter::default());
    let (here, mut to_here) = Link::builder().build(|| {});
    let (there, mut to_there) = Link::builder().root(&actor).build(|| {});
    let far = here.root::<Count>();
    let (sender, answers) = mpsc::channel();
    let ask = || {
        let sender = sender.clone();
        Reply::to(move |answer| sender.send(answer).unwrap())
    };
    let helper = frame
        .spawner()
        .spawn_fn(|reply: Reply<u64>, _| reply.send(5));
    let questions = [
        Count::Add(3),
        Count::Read(ask()),
        Count::Ignore(ask()),
        Count::Forward(helper, ask()),
        Count::Bytes(vec![7; 300], ask()),
    ];
    for question in questions {
        far.tell(question).unwrap();
    }
    drop(sender);
    let mut directions = [there_to_here, here_to_there].map(|left| Direction { left, carried: 0 });
    for _ in 0..20 {
        let [back, forth] = &mut directions;
        if !forth.carry(&here, &mut to_there) || !back.carry(&there, &mut to_here) {
            here.lose("it was cut");
            there.lose("it was cut");
        }
        frame.pump(Budget::unlimited());
    }
    here.close();
    there.close();
    frame.pump(Budget::unlimited());
    drop(far);
    // Each has an answer or a reason, once: all senders are gone.
    let answers: Vec<_> = answers.try_iter().collect();
    assert_eq!((here.pending(), there.pending()), (0, 0));
    assert_eq!((here.addresses(), there.addresses()), ((0, 0), (0, 0)));
    (directions.map(|direction| direction.carried), answers)
}

#[test]
fn a_link_that_is_cut_after_any_byte_answers_everyone() {
    let ([back, forth], answers) = run(usize::MAX, usize::MAX);
    let mut sorted = answers.clone();
    sorted.sort_by_key(|answer| answer.clone().ok());
    assert_eq!(sorted, [Err(AskError::Unanswered), Ok(3), Ok(5), Ok(300)]);
    assert!(back > 50 && forth > 350, "{back} and {forth} bytes");
    for (back, forth) in (0..back)
        .map(|back| (back, usize::MAX))
        .chain((0..forth).map(|forth| (usize::MAX, forth)))
    {
        let (_, answers) = run(back, forth);
        assert_eq!(answers.len(), 4, "cut after {back} and {forth} bytes");
        for answer in answers {
            let is_right = match &answer {
                Ok(number) => [3, 5, 300].contains(number),
                Err(AskError::Unanswered) => true,
                Err(AskError::Unreachable(failure)) => failure.text().contains("it was cut"),
                Err(_) => false,
            };
            assert!(is_right, "cut after {back} and {forth} bytes: {answer:?}");
        }
    }
}
