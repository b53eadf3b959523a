//! Circles of waits that go through other processes.
//!
//! A process sees its own part of the graph only. So an actor that has waited for one in another process for a while sends a **probe** there
//! (Chandy, Misra and Haas, 1983): it says who waits, and is passed on along the waits of the actor that it comes to, and of those that
//! that waits for, from process to process. If it comes back to the wait that it is from, all on its way wait for each other. A probe changes
//! nothing where it passes, and may be lost: another one is sent later, for a circle stays.

use core::time::Duration;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::{CircleMembers, Cycle, Edge, Graph, Waiting, lock};
use crate::id::{ActorId, ActorTable, Called, name_of};

/// After so long the first probe is sent.
pub(crate) const FIRST_PROBE: Duration = Duration::from_millis(200);
/// And so long after a probe the next one at most.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A probe on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Probe {
    /// The process that it is from: a number that it has drawn.
    pub process: u64,
    /// The wait that it is from, as that process counts.
    pub wait: u64,
    /// The actors that wait, each for the next one, for people to read.
    pub path: Vec<String>,
}

impl Probe {
    /// No probe goes further: what has so many members is found by one of the others, or is no circle but an attack.
    pub const MOST_HOPS: usize = 64;
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

impl Waiting {
    /// Sends a probe on behalf of this wait, which is for an actor in another process.
    pub(crate) fn probe(&self, to: ActorId) {
        if let Some(far) = find(to) {
            far.probe(Probe {
                process: own_process(),
                wait: self.number,
                path: vec![shown(self.actor)],
            });
        }
    }

    /// The circle that a probe of this wait has found.
    pub(crate) fn found(&self) -> Option<Cycle> {
        lock().edge(self.actor, self.number)?.found.take()
    }
}

/// What the waits of an actor lead to.
#[derive(Default)]
struct Reached {
    /// The way to the wait that the probe is from, if it has come back.
    origin: Option<Vec<ActorId>>,
    /// Actors in other processes, and the way to each.
    far: Vec<(Arc<dyn FarWaits>, Vec<ActorId>)>,
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
        let mut left = vec![(from, vec![from])];
        while let Some((actor, way)) = left.pop() {
            for edge in self.edges.get(&actor).into_iter().flatten() {
                if !edge.question.is_open() {
                    continue;
                }
                if wait == Some(edge.number) {
                    reached.origin = Some(way.clone());
                } else if let Some(far) = find(edge.to) {
                    reached.far.push((far, way.clone()));
                } else if seen.insert(edge.to, ()).is_none() {
                    let mut further = way.clone();
                    further.push(edge.to);
                    left.push((edge.to, further));
                }
            }
        }
        reached
    }
}

/// A probe has come back to the wait that it is from; `way` leads there from the actor that it has come to.
fn note(graph: &mut Graph, mut probe: Probe, way: &[ActorId]) {
    let Some((origin, others)) = way.split_last() else {
        return;
    };
    // The one that it is from is named already.
    probe.path.extend(others.iter().copied().map(shown));
    let members = CircleMembers {
        actors: vec![*origin; probe.path.len()],
        names: probe
            .path
            .into_iter()
            .map(|name| Some(name.into()))
            .collect(),
        is_told: true,
    };
    let cycle = Cycle {
        members: Arc::new(members),
    };
    if let Some(edge) = graph.edge(*origin, probe.wait) {
        edge.found = Some(cycle);
    }
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
        if let Some(way) = reached.origin {
            // Under the lock of the graph, so that the wait still stands.
            return note(&mut graph, probe, &way);
        }
        reached.far
    };
    for (far, way) in far {
        // There it would go no further.
        if probe.path.len() + way.len() >= Probe::MOST_HOPS {
            continue;
        }
        let mut path = probe.path.clone();
        path.extend(way.into_iter().map(shown));
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

    #[test]
    fn what_a_probe_has_found_is_kept_no_longer_than_its_wait() {
        let [asker, other] = [(); 2].map(|()| ActorId::next());
        let begin = || Waiting::begin(asker, other, Arc::new(UntilDropped)).0;
        let comes_back = |waiting: &Waiting| {
            let probe = Probe {
                process: own_process(),
                wait: waiting.number,
                path: vec![shown(asker)],
            };
            arrived(asker, probe);
        };
        let waiting = begin();
        comes_back(&waiting);
        let found = waiting.found().unwrap();
        assert_eq!(found.actors().len(), 1);
        assert!(waiting.found().is_none(), "it is told once");
        let late = begin();
        comes_back(&waiting);
        comes_back(&late);
        let kept = || lock().edges.get(&asker).map_or(0, Vec::len);
        assert_eq!(kept(), 2);
        drop((waiting, late));
        assert_eq!(kept(), 0);
    }
}
