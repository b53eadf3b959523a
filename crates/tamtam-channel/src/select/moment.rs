//! A moment at which no operation was ready, found without a place in any wait list.

use super::handles::{Handle, INLINE};

/// Whether there was a moment since this was called at which none of the operations was ready. Where a source does not tell there may have been one as
/// well.
///
/// What is not ready in two looks, and was not between them, was not ready at the moment between all first and all second ones.
pub(super) fn none_was_ready(handles: &[Option<Handle<'_>>]) -> bool {
    let (mut few, mut many) = ([0; INLINE], Vec::new());
    let since = if handles.len() <= INLINE {
        &mut few[..handles.len()]
    } else {
        many.resize(handles.len(), 0);
        &mut many[..]
    };
    let operations = || handles.iter().flatten();
    for (since, operation) in since.iter_mut().zip(operations()) {
        match operation.source.unready_since() {
            Some(now) => *since = now,
            None => return false,
        }
    }
    // One look at one source is a moment.
    handles.len() < 2
        || since
            .iter()
            .zip(operations())
            .all(|(since, operation)| operation.source.unready_since() == Some(*since))
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use tamtam_wait::seam::thread;

    use super::none_was_ready;
    use crate::models::model;
    use crate::{Select, bounded};

    /// A message goes from one channel to another, and is in one of them, or in both, at every moment: so there is none at which none was ready, though
    /// one look at each in turn may find each of them empty.
    #[test]
    fn loom_select_what_goes_on_to_another_channel_is_ready_at_every_moment() {
        model(|| {
            let (one, first) = bounded(1);
            let (two, second) = bounded(1);
            let from_first = first.clone();
            one.send(1).unwrap();
            let mover = thread::spawn(move || {
                two.send(2).unwrap();
                from_first.recv().unwrap();
                // Ends that are gone would be ready, too.
                (one, two)
            });
            let mut select = Select::new_biased();
            select.recv(&second);
            select.recv(&first);
            assert!(!none_was_ready(select.handles.as_slice()));
            drop(mover.join().unwrap());
        });
    }
}
