//! A side that offers no actor: what it is sent before its hello has come, which says so.

use std::sync::mpsc;

use tamtam_actor::{AskError, Fate, Pool, Reply};
use tamtam_link::Link;

use crate::suite::messages::Count;

/// It took that for actors of which the other side has no address, and ended the link.
#[test]
fn what_is_sent_before_the_hello_of_a_side_without_a_root_is_told_and_ends_nothing() {
    for is_trusted in [true, false] {
        let pool = Pool::with_threads(1);
        let listener = pool.spawn_fn(|_: u64, _| {});
        let builder = Link::builder();
        let (there, mut to_there) = if is_trusted {
            builder.build(|| {})
        } else {
            builder.untrusted().build(|| {})
        };
        let (here, mut to_here) = Link::builder().build(|| {});
        let before = here.kept();
        let far = here.root::<Count>();
        let (sender, answers) = mpsc::channel();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        far.tell(Count::Add(1)).unwrap();
        far.tell(Count::Add(2)).unwrap();
        far.tell(Count::TellTo(listener)).unwrap();
        far.tell(Count::Read(reply)).unwrap();
        if is_trusted {
            far.finish();
            far.stop();
        }
        let mut bytes = Vec::new();
        here.take_outgoing(&mut bytes);
        assert_eq!(to_there.receive(&bytes), Ok(()));
        bytes.clear();
        there.take_outgoing(&mut bytes);
        assert_eq!(to_here.receive(&bytes), Ok(()));
        match answers.try_recv().unwrap() {
            Err(AskError::Unreachable(failure)) => {
                assert_eq!(failure.fate(), Fate::NotBegun);
                let words = "the other side offers no actor";
                assert_eq!(failure.text().contains(words), is_trusted, "{failure}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!((here.ended(), there.ended()), (None, None));
        // The messages without a question are lost, and nothing is left of them.
        assert_eq!(far.lost(), 3);
        let kept = here.kept();
        let left = (kept.exports, kept.pending, kept.unconfirmed);
        assert_eq!(left, (before.exports, before.pending, before.unconfirmed));
    }
}
