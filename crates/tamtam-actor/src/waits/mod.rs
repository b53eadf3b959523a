//! Who waits for whom: actors that wait for an answer without handling messages meanwhile, and circles of them, in
//! which would never be answered.
//!
//! An actor waits so if its handler blocks in [`Address::ask`](crate::Address::ask), or if it
//! [holds](crate::Context::hold) for the answer of [`Address::ask_async`](crate::Address::ask_async), or for room by
//! [`Address::tell_async`](crate::Address::tell_async). Each such wait is
//! an edge of a graph, and the one that adds an edge looks whether it closes a circle (Chandy, Misra and Haas describe the
//! and-model of such graphs, 1983; here all edges are in one place, so a walk will do).
//!
//! A circle may still come undone: an answer may be on its way, or the question may have been passed on to another
//! outside, who will answer. So it counts as a deadlock only if it still stands after a while. A question of an actor
//! to itself counts at once.

#[cfg(feature = "serde")]
mod far;
mod held;

use core::cell::Cell as PlainCell;
use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::id::{ActorId, ActorTable, Called, name_of};

#[cfg(feature = "serde")]
pub use far::Probe;
#[cfg(feature = "serde")]
pub(crate) use far::{FIRST_PROBE, FarWaits, LONGEST_PAUSE, arrived, enlist, is_far, strike};
pub(crate) use held::HeldWait;

/// A circle of waits that stands for so long is a deadlock.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// A question without an answer so far.
pub(crate) trait OpenQuestion: Send + Sync {
    fn is_open(&self) -> bool;
}

/// A wait that is over when it is dropped, and open until then.
pub(crate) struct UntilDropped;

impl OpenQuestion for UntilDropped {
    fn is_open(&self) -> bool {
        true
    }
}

struct Edge {
    number: u64,
    to: ActorId,
    question: Arc<dyn OpenQuestion>,
    #[cfg(feature = "serde")]
    search: far::Search,
}

struct Graph {
    next_number: u64,
    edges: ActorTable<Vec<Edge>>,
    /// How many waits there are for each that is waited for: who is not closes no circle, however long the row is that it waits for.
    waiters: ActorTable<u32>,
}

static GRAPH: Mutex<Graph> = Mutex::new(Graph {
    next_number: 0,
    edges: ActorTable::new(),
    waiters: ActorTable::new(),
});

fn lock() -> MutexGuard<'static, Graph> {
    // No user code runs under the lock, so it is never poisoned half changed.
    GRAPH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Actors that wait for each other in a circle, so that none of them would ever get its answer.
///
/// See [`AskError::Cycle`](crate::AskError::Cycle).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Actor, AskError, Context, Pool, Reply};
///
/// /// Asks itself, and waits for the answer.
/// struct Narcissus;
///
/// impl Actor for Narcissus {
///     type Message = Reply<usize>;
///
///     fn handle(&mut self, reply: Reply<usize>, cx: &mut Context<Self>) {
///         match cx.address().ask(|reply| reply) {
///             Err(AskError::Cycle(cycle)) => reply.send(cycle.actors().len()),
///             other => panic!("{other:?}"),
///         }
///         cx.stop(); // its own question is still in its mailbox
///     }
/// }
///
/// let pool = Pool::new();
/// assert_eq!(pool.spawn(Narcissus).ask(|reply| reply), Ok(1));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cycle {
    /// Each waits for the next one, and the last one for the first.
    members: Arc<CircleMembers>,
}

#[derive(PartialEq, Eq, Hash)]
struct CircleMembers {
    actors: Vec<ActorId>,
    /// In the same order.
    names: Vec<Option<Arc<str>>>,
    /// It goes through other processes: their actors have no numbers here, and all are known by what a probe says of them.
    is_told: bool,
}

impl Cycle {
    /// The actors: each waits for the next one, and the last one for the first, who is the one that asked.
    #[must_use]
    pub fn actors(&self) -> &[ActorId] {
        &self.members.actors
    }

    /// Their names, in the same order: of those that were given one by [`Spawner::name`](crate::Spawner::name).
    pub fn names(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.members.names.iter().map(Option::as_deref)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.members.is_told {
            for name in self.names().flatten() {
                write!(f, "{name} -> ")?;
            }
            return f.write_str(self.names().flatten().next().unwrap_or_default());
        }
        let called = || self.actors().iter().zip(self.names());
        for (actor, name) in called() {
            write!(f, "{} -> ", Called(*actor, name))?;
        }
        let first = called().next();
        first.map_or(Ok(()), |(first, name)| Called(*first, name).fmt(f))
    }
}

impl fmt::Debug for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycle({self})")
    }
}

/// A wait of an actor, for as long as it lasts.
pub(crate) struct Waiting {
    actor: ActorId,
    number: u64,
}

/// A circle that a wait has closed.
pub(crate) struct Closed {
    pub(crate) cycle: Cycle,
    /// The waits that make it.
    numbers: Vec<u64>,
}

impl Closed {
    /// Whether it cannot come undone.
    pub(crate) fn is_certain(&self) -> bool {
        self.numbers.len() == 1
    }
}

impl Waiting {
    /// `actor` waits for an answer by `to`. Tells whether that closes a circle.
    pub(crate) fn begin(
        actor: ActorId,
        to: ActorId,
        question: Arc<dyn OpenQuestion>,
    ) -> (Self, Option<Closed>) {
        let mut graph = lock();
        let number = graph.next_number;
        graph.next_number += 1;
        graph.edges.entry(actor).or_default().push(Edge {
            number,
            to,
            question,
            #[cfg(feature = "serde")]
            search: far::Search::default(),
        });
        *graph.waiters.entry(to).or_default() += 1;
        let waiting = Waiting { actor, number };
        let closed = graph.circle_through(&waiting);
        (waiting, closed)
    }

    /// A circle in which this wait is now, if there is one: behind one that came undone there may be another, which no later wait closes.
    pub(crate) fn circle(&self) -> Option<Closed> {
        lock().circle_through(self)
    }

    /// Whether the circle is still there.
    pub(crate) fn still_stands(&self, closed: &Closed) -> bool {
        let graph = lock();
        let mut waits = closed.cycle.actors().iter().zip(&closed.numbers);
        waits.all(|(&actor, &number)| graph.is_open(actor, number))
    }
}

/// Whether an actor waits for one of which this is true, or for one that does.
pub(crate) fn leads_to(actor: ActorId, mut is_it: impl FnMut(ActorId) -> bool) -> bool {
    let graph = lock();
    let mut seen = ActorTable::new();
    let mut left = vec![actor];
    while let Some(actor) = left.pop() {
        for edge in graph.edges.get(&actor).into_iter().flatten() {
            if !edge.question.is_open() || seen.insert(edge.to, ()).is_some() {
                continue;
            }
            if is_it(edge.to) {
                return true;
            }
            left.push(edge.to);
        }
    }
    false
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut graph = lock();
        let mut ended = None;
        if let Some(edges) = graph.edges.get_mut(&self.actor) {
            if let Some(place) = edges.iter().position(|edge| edge.number == self.number) {
                ended = Some(edges.swap_remove(place));
            }
            if edges.is_empty() {
                graph.edges.take(self.actor);
            }
        }
        if let Some(ended) = &ended {
            graph.forget_waiter(ended.to);
        }
        drop(graph);
        // With the question may go an answer that was not taken.
        drop(ended);
    }
}

impl Graph {
    fn is_open(&self, actor: ActorId, number: u64) -> bool {
        let mut edges = self.edges.get(&actor).into_iter().flatten();
        edges.any(|edge| edge.number == number && edge.question.is_open())
    }

    /// A wait for that one is over.
    fn forget_waiter(&mut self, to: ActorId) {
        if let Some(count) = self.waiters.get_mut(&to) {
            *count -= 1;
            if *count == 0 {
                self.waiters.take(to);
            }
        }
    }

    /// A circle that begins with this wait.
    fn circle_through(&self, waiting: &Waiting) -> Option<Closed> {
        self.waiters.get(&waiting.actor)?;
        let first = self.edges.get(&waiting.actor)?;
        let first = first.iter().find(|edge| edge.number == waiting.number)?;
        // A walk in depth: what leads to where we are, and what is left to try from each place.
        let mut actors = vec![waiting.actor];
        let mut numbers = vec![waiting.number];
        if first.to == waiting.actor {
            return Some(Self::closed(actors, numbers));
        }
        let mut seen = ActorTable::new();
        seen.insert(waiting.actor, ());
        seen.insert(first.to, ());
        let mut way = vec![(first.to, 0)];
        actors.push(first.to);
        while let Some((actor, next)) = way.last_mut() {
            let edge = self.edges.get(actor).and_then(|edges| edges.get(*next));
            *next += 1;
            match edge {
                Some(edge) if !edge.question.is_open() => {}
                Some(edge) if edge.to == waiting.actor => {
                    numbers.push(edge.number);
                    return Some(Self::closed(actors, numbers));
                }
                Some(edge) if seen.insert(edge.to, ()).is_none() => {
                    numbers.push(edge.number);
                    actors.push(edge.to);
                    way.push((edge.to, 0));
                }
                Some(_) => {}
                None => {
                    way.pop();
                    actors.pop();
                    numbers.pop();
                }
            }
        }
        None
    }

    fn closed(actors: Vec<ActorId>, numbers: Vec<u64>) -> Closed {
        Closed {
            cycle: Cycle {
                members: Arc::new(CircleMembers {
                    names: actors.iter().copied().map(name_of).collect(),
                    actors,
                    is_told: false,
                }),
            },
            numbers,
        }
    }
}

thread_local! {
    /// The actor that polls something on this thread for which it keeps its messages back.
    static HOLDER: PlainCell<Option<ActorId>> = const { PlainCell::new(None) };
}

/// The actor that keeps its messages back for what is being polled on this thread.
pub(crate) fn holder() -> Option<ActorId> {
    HOLDER.get()
}

/// Polls something for which `holder`, if there is one, keeps its messages back.
pub(crate) fn polled_by<R>(holder: Option<ActorId>, poll: impl FnOnce() -> R) -> R {
    /// Also if the poll panics.
    struct Restored(Option<ActorId>);

    impl Drop for Restored {
        fn drop(&mut self) {
            HOLDER.set(self.0);
        }
    }

    let _restored = Restored(HOLDER.replace(holder));
    poll()
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    struct Always(bool);

    impl OpenQuestion for Always {
        fn is_open(&self) -> bool {
            self.0
        }
    }

    fn waits(from: ActorId, to: ActorId, is_open: bool) -> (Waiting, Option<Closed>) {
        Waiting::begin(from, to, Arc::new(Always(is_open)))
    }

    #[test]
    fn who_is_waited_for_is_known_as_long_as_that_lasts() {
        let [a, b, c] = [(); 3].map(|()| ActorId::next());
        let count = |actor| lock().waiters.get(&actor).copied();
        let (ac, _) = waits(a, c, true);
        let (bc, _) = waits(b, c, true);
        assert_eq!((count(c), count(a)), (Some(2), None));
        drop(ac);
        assert_eq!(count(c), Some(1));
        drop(bc);
        assert_eq!(count(c), None);
    }

    #[test]
    fn a_circle_is_named_from_the_one_who_closes_it() {
        let [a, b, c, d] = [(); 4].map(|()| ActorId::next());
        let (_ab, none) = waits(a, b, true);
        assert!(none.is_none());
        let (_bd, none) = waits(b, d, true);
        assert!(none.is_none());
        let (_bc, none) = waits(b, c, true);
        assert!(none.is_none());
        let (ca, closed) = waits(c, a, true);
        let closed = closed.unwrap();
        assert_eq!(closed.cycle.actors(), [c, a, b]);
        assert_eq!(
            closed.cycle.to_string(),
            format!("{c} -> {a} -> {b} -> {c}")
        );
        assert!(!closed.is_certain());
        assert!(ca.still_stands(&closed));
        drop(_ab);
        assert!(!ca.still_stands(&closed));
    }

    #[test]
    fn an_answered_question_is_no_wait() {
        let [a, b] = [(); 2].map(|()| ActorId::next());
        let (_ab, _) = waits(a, b, false);
        let (_ba, none) = waits(b, a, true);
        assert!(none.is_none());
    }

    #[test]
    fn who_asks_itself_is_a_circle_for_certain() {
        let a = ActorId::next();
        let (_aa, closed) = waits(a, a, true);
        assert!(closed.unwrap().is_certain());
    }

    #[test]
    fn a_walk_among_circles_of_others_ends() {
        let [a, b, c] = [(); 3].map(|()| ActorId::next());
        let (_bc, _) = waits(b, c, true);
        let (_cb, closed) = waits(c, b, true);
        assert!(closed.is_some());
        let (_ab, none) = waits(a, b, true);
        assert!(none.is_none());
    }
}
