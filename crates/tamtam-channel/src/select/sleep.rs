//! A sleep in the wait lists of all operations of a select.

use std::time::Instant;

use tamtam_wait::{Context, Operation, Outcome, SharedWords, Source};

use super::handles::Handle;

/// How a sleep in all wait lists ended.
pub(super) enum Slept<'a> {
    /// A source selected this thread; the context holds what it left.
    Selected(Handle<'a>, Context),
    /// An operation was ready by itself.
    Ready,
    /// The deadline came, of the select or of a timer, and nothing was ready at some moment since the
    /// sleep began.
    TimedOut,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interest {
    /// To carry out an operation.
    Operation,
    /// To hear that one is ready.
    Readiness,
}

/// Enters the thread into all wait lists and sleeps.
#[cold]
pub(super) fn sleep<'a>(
    handles: &[Option<Handle<'a>>],
    deadline: Option<Instant>,
    interest: Interest,
) -> Slept<'a> {
    Context::with(|context| {
        let mut registered = 0;
        let mut any_ready = false;
        let mut words = SharedWords::new();
        // Where this thread sleeps at words of other processes: it is in no list there.
        let mut by_words: Vec<usize> = Vec::new();
        let mut until = deadline;
        for (position, handle) in handles.iter().flatten().enumerate() {
            let operation = Operation::new(position as u32);
            let source: &'a dyn Source = handle.source;
            let ready = match source.sleep_at(&mut words) {
                Some(ready) => {
                    by_words.push(position);
                    ready
                }
                None if interest == Interest::Operation => source.register(operation, context),
                None => source.watch(operation, context),
            };
            registered = position + 1;
            if ready || handle.is_past() {
                any_ready = true;
                context.abort();
            }
            if context.outcome().is_some() {
                break;
            }
            if let Some(due) = handle.source.deadline() {
                until = Some(until.map_or(due, |until| until.min(due)));
            }
        }
        let outcome = context.park_at(words, until);
        let mut by_words = by_words.into_iter().peekable();
        for (position, handle) in handles.iter().flatten().take(registered).enumerate() {
            let operation = Operation::new(position as u32);
            match interest {
                _ if by_words.next_if_eq(&position).is_some() => handle.source.woken_at(),
                // The source that has selected us is left to `accept`.
                Interest::Operation if outcome == Outcome::Selected(operation) => {}
                Interest::Operation => handle.source.unregister(operation, context),
                Interest::Readiness => handle.source.unwatch(operation, context),
            }
        }
        match outcome {
            Outcome::Aborted if any_ready => Slept::Ready,
            Outcome::Aborted => Slept::TimedOut,
            Outcome::Disconnected => Slept::Ready,
            Outcome::Selected(operation) => {
                match handles.iter().flatten().nth(operation.index() as usize) {
                    Some(handle) => Slept::Selected(*handle, context.clone()),
                    None => unreachable!("an operation was selected that nobody registered"),
                }
            }
        }
    })
}
