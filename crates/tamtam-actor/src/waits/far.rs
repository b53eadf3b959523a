//! Circles of waits that go through other processes.
//!
//! A process sees its own part of the graph only. So an actor that has waited for one in another process for a while sends a **probe** there
//! (Chandy, Misra and Haas, 1983): it says who waits, and is passed on along the waits of the actor that it comes to, and of those that
//! that waits for, from process to process. A probe changes nothing where it passes, and may be lost: another one is sent later, for a circle
//! stays.
//!
//! If it comes back to the wait that it is from, all on its way have waited for each other, though perhaps not at the same time: a wait that it
//! came by may have ended before the next one began. So each wait leaves its number, and the circle is named when a probe that was sent after that
//! has come back by the same waits: all of them stood when it was sent.

use core::time::Duration;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::{CircleMembers, Cycle, Edge, Graph, Waiting, lock};
use crate::id::{ActorId, ActorTable, Called, name_of};

/// After so long the first probe is sent.
pub(crate) const FIRST_PROBE: Duration = Duration::from_millis(200);
/// And so long after a probe the next one at most.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// So many ways by which its probes have come back are known of a wait. Of more those are left out that come later by the same probe.
const MOST_WAYS: usize = 16;

/// A probe on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Probe {
    /// The process that it is from: a number that it has drawn.
    pub process: u64,
    /// The wait that it is from, as that process counts.
    pub wait: u64,
    /// The actors that wait, each for the next one, for people to read. Before each stand the number of its wait, or the number of the
    /// probe before the first one, and a `#`.
    pub path: Vec<String>,
}

impl Probe {
    /// No probe goes further: what has so many members is found by one of the others, or is no circle but an attack.
    pub const MOST_HOPS: usize = 64;

    /// Its number among the probes of its wait; a process of an older version gives none.
    pub fn number(&self) -> Option<u64> {
        parted(self.path.first()?).0
    }

    /// What stands in the place of the first name where names are not to be told.
    pub fn number_alone(&self) -> String {
        let number = self.number();
        number.map_or_else(String::new, |number| format!("{number}#"))
    }
}

/// An actor in another process, for which actors here wait.
pub(crate) trait FarWaits: Send + Sync {
    /// Sends a probe there.
    fn probe(&self, probe: Probe);
}

/// Those that stand here for actors in other processes.
static FAR: Mutex<ActorTable<Weak<dyn FarWaits>>> = Mutex::new(ActorTable::new());

fn known() -> MutexGuard<'static, ActorTable<Weak<dyn FarWaits>>> {
    // Nothing of the user's runs under the lock.
    FAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This number stands here for an actor in another process.
pub(crate) fn enlist(actor: ActorId, far: Weak<dyn FarWaits>) {
    known().insert(actor, far);
}

/// And now it does not any more.
pub(crate) fn strike(actor: ActorId) {
    let gone = known().take(actor);
    drop(gone);
}

fn find(actor: ActorId) -> Option<Arc<dyn FarWaits>> {
    known().get(&actor)?.upgrade()
}

/// Whether this number stands here for an actor in another process.
pub(crate) fn is_far(actor: ActorId) -> bool {
    find(actor).is_some()
}

/// What tells this process from others.
fn own_process() -> u64 {
    static OWN: OnceLock<(u32, u64)> = OnceLock::new();
    let pid = std::process::id();
    let (by, number) = *OWN.get_or_init(|| (pid, RandomState::new().hash_one(pid)));
    // A forked child is another process.
    if by == pid {
        number
    } else {
        number ^ u64::from(pid)
    }
}

fn shown(actor: ActorId) -> String {
    Called(actor, name_of(actor).as_deref()).to_string()
}

/// An actor that waits, and the number of the wait.
fn numbered(number: u64, actor: ActorId) -> String {
    format!("{number}#{}", shown(actor))
}

/// The number that stands before an actor, if there is one, and the actor.
fn parted(text: &str) -> (Option<u64>, &str) {
    match text.split_once('#') {
        Some((digits, actor)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
            .parse()
            .map_or((None, text), |number| (Some(number), actor)),
        _ => (None, text),
    }
}

/// What the probes of a wait have found.
#[derive(Default)]
pub(super) struct Search {
    /// So many have been sent.
    sent: u64,
    /// The ways by which some have come back, without their beginning, and how many had been sent by then.
    ways: VecDeque<(Vec<String>, u64)>,
    /// One of these is new.
    suspects: bool,
    /// The circle that is there, until that is told.
    found: Option<Cycle>,
}

impl Search {
    /// A probe has come back by this way: `true` if one has before this was sent.
    fn confirms(&mut self, path: &[String]) -> bool {
        let Some((first, way)) = path.split_first() else {
            return false;
        };
        let (number, _) = parted(first);
        if let Some((_, sent)) = self.ways.iter().find(|(known, _)| known == way) {
            return number.is_some_and(|number| number > *sent);
        }
        if self.ways.len() == MOST_WAYS {
            // Each would drive out one that the next probe comes by as well, and none would ever be known.
            let is_of_this_round = |(_, sent): &(_, u64)| *sent == self.sent;
            if self.ways.front().is_some_and(is_of_this_round) {
                return false;
            }
            self.ways.pop_front();
        }
        self.ways.push_back((way.to_vec(), self.sent));
        self.suspects = true;
        false
    }
}

impl Waiting {
    /// Sends a probe on behalf of this wait, which is for an actor in another process. After so long it is time to look what that has found, if an
    /// earlier one has come back by a way that is to be confirmed.
    pub(crate) fn probe(&self, to: ActorId) -> Option<Duration> {
        let far = find(to)?;
        let (number, suspects) = {
            let mut graph = lock();
            let search = &mut graph.edge(self.actor, self.number)?.search;
            search.sent += 1;
            (search.sent, core::mem::take(&mut search.suspects))
        };
        far.probe(Probe {
            process: own_process(),
            wait: self.number,
            path: vec![numbered(number, self.actor)],
        });
        suspects.then_some(FIRST_PROBE)
    }

    /// The circle that probes of this wait have found.
    pub(crate) fn found(&self) -> Option<Cycle> {
        lock().edge(self.actor, self.number)?.search.found.take()
    }
}

/// Actors that wait, each for the next one, and the numbers of the waits.
type Hops = Vec<(ActorId, u64)>;

/// What the waits of an actor lead to.
#[derive(Default)]
struct Reached {
    /// The actor that the probe is from, and the way to it, if the probe has come back.
    origin: Option<(ActorId, Hops)>,
    /// Actors in other processes, and the way to each.
    far: Vec<(Arc<dyn FarWaits>, Hops)>,
}

impl Graph {
    fn edge(&mut self, actor: ActorId, number: u64) -> Option<&mut Edge> {
        let edges = self.edges.get_mut(&actor)?;
        edges.iter_mut().find(|edge| edge.number == number)
    }

    /// Follows all waits of an actor.
    fn follow(&self, from: ActorId, wait: Option<u64>) -> Reached {
        let mut reached = Reached::default();
        let mut seen = ActorTable::new();
        seen.insert(from, ());
        let mut left = vec![(from, Hops::new())];
        while let Some((actor, way)) = left.pop() {
            for edge in self.edges.get(&actor).into_iter().flatten() {
                if !edge.question.is_open() {
                    continue;
                }
                if wait == Some(edge.number) {
                    reached.origin = Some((actor, way.clone()));
                    continue;
                }
                let mut further = way.clone();
                further.push((actor, edge.number));
                if let Some(far) = find(edge.to) {
                    reached.far.push((far, further));
                } else if seen.insert(edge.to, ()).is_none() {
                    left.push((edge.to, further));
                }
            }
        }
        reached
    }
}

/// Adds these to the path of a probe.
fn go_along(path: &mut Vec<String>, way: Hops) {
    path.extend(way.into_iter().map(|(actor, wait)| numbered(wait, actor)));
}

/// A probe has come back to the wait that it is from, which is one of `origin`'s; `way` leads there from the actor that it has come to.
fn note(graph: &mut Graph, mut probe: Probe, origin: ActorId, way: Hops) {
    go_along(&mut probe.path, way);
    let Some(edge) = graph.edge(origin, probe.wait) else {
        return;
    };
    if !edge.search.confirms(&probe.path) {
        return;
    }
    let names = probe.path.iter().map(|text| Some(parted(text).1.into()));
    let members = CircleMembers {
        actors: vec![origin; probe.path.len()],
        names: names.collect(),
        is_told: true,
    };
    edge.search.found = Some(Cycle {
        members: Arc::new(members),
    });
}

/// A probe has come to this actor.
pub(crate) fn arrived(at: ActorId, probe: Probe) {
    if probe.path.len() >= Probe::MOST_HOPS {
        return;
    }
    let is_own = probe.process == own_process();
    let far = {
        let mut graph = lock();
        let wait = is_own.then_some(probe.wait);
        let reached = graph.follow(at, wait);
        if let Some((origin, way)) = reached.origin {
            // Under the lock of the graph, so that the wait still stands.
            return note(&mut graph, probe, origin, way);
        }
        reached.far
    };
    for (far, way) in far {
        // There it would go no further.
        if probe.path.len() + way.len() >= Probe::MOST_HOPS {
            continue;
        }
        let mut path = probe.path.clone();
        go_along(&mut path, way);
        far.probe(Probe {
            process: probe.process,
            wait: probe.wait,
            path,
        });
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use crate::waits::UntilDropped;

    /// A probe of a wait comes back, the so manyth to be sent, by waits of other processes with these texts.
    fn comes_back(waiting: &Waiting, number: u64, others: &[&str]) {
        let mut path = vec![numbered(number, waiting.actor)];
        path.extend(others.iter().map(|text| text.to_string()));
        let probe = Probe {
            process: own_process(),
            wait: waiting.number,
            path,
        };
        arrived(waiting.actor, probe);
    }

    fn sent(waiting: &Waiting, count: u64) {
        lock()
            .edge(waiting.actor, waiting.number)
            .unwrap()
            .search
            .sent = count;
    }

    #[test]
    fn what_a_probe_has_found_is_kept_no_longer_than_its_wait() {
        let [asker, other] = [(); 2].map(|()| ActorId::next());
        let begin = || Waiting::begin(asker, other, Arc::new(UntilDropped)).0;
        let waiting = begin();
        comes_back(&waiting, 1, &[]);
        comes_back(&waiting, 2, &[]);
        let found = waiting.found().unwrap();
        assert_eq!(found.actors().len(), 1);
        assert!(waiting.found().is_none(), "it is told once");
        let late = begin();
        comes_back(&waiting, 3, &[]);
        comes_back(&late, 1, &[]);
        let kept = || lock().edges.get(&asker).map_or(0, Vec::len);
        assert_eq!(kept(), 2);
        drop((waiting, late));
        assert_eq!(kept(), 0);
    }

    /// The first one is of an actor whose answer is on its way as it waits for the asker.
    #[test]
    fn a_circle_is_named_when_a_second_probe_has_come_by_the_same_waits() {
        let [asker, other] = [(); 2].map(|()| ActorId::next());
        let waiting = Waiting::begin(asker, other, Arc::new(UntilDropped)).0;
        sent(&waiting, 1);
        comes_back(&waiting, 1, &["7#\"one\" (3)", "8#\"other\" (4)"]);
        assert!(waiting.found().is_none());
        sent(&waiting, 2);
        comes_back(&waiting, 2, &["7#\"one\" (3)", "9#\"other\" (4)"]);
        assert!(waiting.found().is_none(), "it is another wait");
        comes_back(&waiting, 2, &["7#\"one\" (3)", "9#\"other\" (4)"]);
        assert!(
            waiting.found().is_none(),
            "it was sent before the first was back"
        );
        sent(&waiting, 3);
        comes_back(&waiting, 3, &["7#\"one\" (3)", "9#\"other\" (4)"]);
        let found = waiting.found().unwrap();
        let names: Vec<_> = found.names().flatten().collect();
        assert_eq!(names, [&*shown(asker), "\"one\" (3)", "\"other\" (4)"]);
    }

    #[test]
    fn so_many_ways_are_known_and_what_has_no_number_is_compared_as_it_is() {
        let [asker, other] = [(); 2].map(|()| ActorId::next());
        let waiting = Waiting::begin(asker, other, Arc::new(UntilDropped)).0;
        let ways = || {
            lock()
                .edge(asker, waiting.number)
                .unwrap()
                .search
                .ways
                .len()
        };
        let all_come_back = |probe| {
            for number in 0..2 * MOST_WAYS {
                comes_back(&waiting, probe, &[&format!("{number}#a")]);
            }
        };
        sent(&waiting, 1);
        all_come_back(1);
        assert_eq!(ways(), MOST_WAYS);
        assert!(waiting.found().is_none());
        // In the same order, so that each of them is known when it comes again.
        sent(&waiting, 2);
        all_come_back(2);
        assert!(waiting.found().is_some());
        assert_eq!(ways(), MOST_WAYS);
        assert_eq!(parted("#12"), (None, "#12"));
        assert_eq!(parted("12"), (None, "12"));
        assert_eq!(parted("a#12"), (None, "a#12"));
        assert_eq!(parted("12#a#b"), (Some(12), "a#b"));
        for number in 3..5 {
            sent(&waiting, number);
            comes_back(&waiting, number, &["of an older version"]);
        }
        let found = waiting.found().unwrap();
        assert_eq!(found.names().last().flatten(), Some("of an older version"));
    }
}
