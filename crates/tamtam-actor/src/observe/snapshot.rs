//! What those who observe get to see.

use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::ledger::{Ledger, Sums};
use super::record::{Figures, Record};
use super::{clock, watched};
use crate::id::ActorId;

/// What there is in this process: see [`snapshot`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, observe};
///
/// let pool = Pool::builder().name("parsers").observe(true).build()?;
/// let parser = pool.spawner().name("first").spawn_fn(|_: String, _| {});
/// let snapshot = observe::snapshot(100, observe::Order::Lost);
/// for home in snapshot.homes.iter().filter(|home| home.name == "parsers") {
///     println!("{}: {} threads", home.name, home.threads);
/// }
/// assert!(snapshot.actors.iter().any(|actor| actor.id == parser.id()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The homes of actors that there are, the oldest first.
    pub homes: Vec<HomeSnapshot>,
    /// The first of the actors that are observed, in the order asked for.
    pub actors: Vec<ActorSnapshot>,
}

/// A look at all homes of this process, and the first `most` of their observed actors in that order.
///
/// It takes about 50 ns for each observed actor, and none of them waits for it.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, observe};
///
/// let pool = Pool::builder().name("sums").observe(true).build()?;
/// let snapshot = observe::snapshot(20, observe::Order::Queued);
/// assert!(snapshot.homes.iter().any(|home| home.name == "sums"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn snapshot(most: usize, order: Order) -> Snapshot {
    let all = watched::all();
    Snapshot {
        homes: all.iter().map(|(_, home)| home.look()).collect(),
        actors: first(
            all.iter().filter_map(|(_, home)| home.ledger()),
            most,
            |_, figures| Some(order.of(figures)),
        ),
    }
}

/// Where actors live.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
/// use tamtam_actor::observe::HomeKind;
///
/// assert_eq!(Pool::new().snapshot().kind, HomeKind::Pool);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HomeKind {
    /// A [`Pool`](crate::Pool).
    Pool,
    /// A [`Worker`](crate::Worker).
    Worker,
    /// A [`Frame`](crate::Frame).
    Frame,
}

impl fmt::Display for HomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HomeKind::Pool => "pool",
            HomeKind::Worker => "worker",
            HomeKind::Frame => "frame",
        })
    }
}

/// How it goes in one home of actors: see [`Pool::snapshot`](crate::Pool::snapshot).
///
/// A pool counts by itself. Where the threads are others', and for a worker or a frame, which are seen only if
/// their actors are observed, only what the actors do is counted.
///
/// All counts begin with the home, and never decrease. They are read one after the other, while those who count go on:
/// each is right by itself, and between two of them some microseconds may have passed.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::builder().name("parsers").threads(2).build()?;
/// let home = pool.snapshot();
/// println!("{}: {} of {} threads idle", home.name, home.idle_threads, home.threads);
/// assert_eq!((home.threads, home.stand_ins, home.blocking_threads), (2, 0, 0));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HomeSnapshot {
    /// What it is.
    pub kind: HomeKind,
    /// Its name, as its builder was told.
    pub name: String,
    /// How many threads there are, without those that stand in for blocked ones.
    pub threads: usize,
    /// How many threads stand in for blocked ones at this time.
    pub stand_ins: usize,
    /// How many threads there are at this time for [handlers that may block](crate::Pool::spawn_blocking).
    pub blocking_threads: usize,
    /// How many threads were left behind, by actors that were [replaced](crate::Address::replace), and have not come back.
    pub left_behind: usize,
    /// How many threads have nothing to do at this time.
    pub idle_threads: usize,
    /// Tasks that are due at this time, without those that run. Approximate: those on their way are not seen.
    pub due: usize,
    /// Turns that actors have had.
    pub turns: u64,
    /// How often a thread took over what was due on another one.
    pub steals: u64,
    /// How often a thread went to sleep, or was about to and found something after all.
    pub sleeps: u64,
    /// Tasks that came in from outside: from threads that are not of the home.
    pub entered: u64,
    /// See [`Pool::blocking_asks`](crate::Pool::blocking_asks).
    pub blocking_asks: u64,
    /// What its actors have done together; `None` if they are not observed.
    pub actors: Option<ActorTotals>,
}

impl HomeSnapshot {
    /// Of a home that counts nothing by itself.
    pub(crate) fn by_actors(
        kind: HomeKind,
        name: &str,
        threads: usize,
        ledger: Option<&Ledger>,
    ) -> Self {
        let sums = ledger.map(Ledger::sums);
        let at_work = sums.map_or(0, |sums| sums.at_work);
        HomeSnapshot {
            kind,
            name: name.to_owned(),
            threads,
            stand_ins: 0,
            blocking_threads: 0,
            left_behind: 0,
            idle_threads: threads.saturating_sub(usize::try_from(at_work).unwrap_or(usize::MAX)),
            due: 0,
            turns: sums.map_or(0, |sums| sums.turns),
            steals: 0,
            sleeps: 0,
            entered: 0,
            blocking_asks: 0,
            actors: sums.map(ActorTotals::from),
        }
    }
}

/// What all actors of a home have done together, those that have ended included.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::builder().observe(true).build()?;
/// let actor = pool.spawn_fn(|_: u32, _| {});
/// (0..10).try_for_each(|number| actor.tell(number)).unwrap();
/// pool.wait_idle().unwrap();
/// let totals = pool.snapshot().actors.expect("it observes them");
/// assert_eq!((totals.living, totals.handled, totals.lost), (1, 10, 0));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorTotals {
    /// Actors that there are.
    pub living: u64,
    /// Actors that there were and are.
    pub born: u64,
    /// Messages that were taken out of mailboxes to be handled.
    pub handled: u64,
    /// Messages in mailboxes at this time; see [`ActorSnapshot::queued`].
    pub queued: u64,
    /// Messages that were accepted and never handled.
    pub lost: u64,
    /// How often one of them was begun again: see [`ActorSnapshot::restarts`].
    pub restarts: u64,
    /// The time that turns took.
    pub turn_time: Duration,
    /// Turns that took longer than [`PoolBuilder::long_turn`](crate::PoolBuilder::long_turn) says.
    pub long_turns: u64,
    /// Actors that are at such a turn at this time, without those whose handlers may block: as many as there are threads, and
    /// no other actor has a turn.
    pub in_long_turn: u64,
}

impl From<Sums> for ActorTotals {
    fn from(sums: Sums) -> Self {
        ActorTotals {
            living: sums.living,
            born: sums.born,
            handled: sums.handled,
            queued: sums.queued,
            lost: sums.lost,
            restarts: sums.restarts,
            turn_time: Duration::from_nanos(sums.turn_nanos),
            long_turns: sums.long_turns,
            in_long_turn: sums.in_long_turn,
        }
    }
}

/// How it goes with one actor.
///
/// All counts begin with its birth.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
/// use tamtam_actor::observe::Order;
///
/// let pool = Pool::builder().observe(true).build()?;
/// let busy = pool.spawner().name("busy").spawn_fn(|_: u32, _| {});
/// let idle = pool.spawner().name("idle").spawn_fn(|_: u32, _| {});
/// busy.tell(1).unwrap();
/// pool.wait_idle().unwrap();
/// let first = &pool.busiest(1, Order::Handled)[0];
/// assert_eq!((first.id, first.name.as_deref(), first.handled), (busy.id(), Some("busy"), 1));
/// # drop(idle);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ActorSnapshot {
    /// Its number: see [`Address::id`](crate::Address::id).
    pub id: ActorId,
    /// The name that it was given by [`Spawner::name`](crate::Spawner::name), if any.
    pub name: Option<Arc<str>>,
    /// The type of the actor, as [`type_name`](core::any::type_name) has it.
    pub type_name: &'static str,
    /// The type of its messages.
    pub message_type: &'static str,
    /// The name of its home.
    pub home: String,
    /// Whether it has its turns on a thread for [handlers that may block](crate::Pool::spawn_blocking).
    pub may_block: bool,
    /// Messages that it has taken out of its mailbox, the one at hand included.
    pub handled: u64,
    /// Messages in its mailbox at this time. Approximate by as many as there are threads in the middle of sending, which
    /// are counted after they have sent.
    pub queued: u64,
    /// The most that `queued` has been at the beginning or the end of a turn, or at a look. What came and
    /// was handled within one turn is not seen.
    pub most_queued: u64,
    /// Messages that were accepted and never handled.
    pub lost: u64,
    /// How often it was begun again, by its [`Restart`](crate::Restart) or its supervisor, also when the new instance could
    /// not be made; or was [replaced](crate::Address::replace).
    pub restarts: u64,
    /// Turns that it has had: in each it handles some messages.
    pub turns: u64,
    /// The time that they took, without the one that it is at.
    pub turn_time: Duration,
    /// The time that the longest of them took.
    pub longest_turn: Duration,
    /// How long it has been at the turn that it is at; `None` if it is at none.
    pub at_work: Option<Duration>,
}

impl ActorSnapshot {
    pub(crate) fn new(record: &Record, figures: Figures) -> Self {
        let at_work = (figures.turn_began != 0)
            .then(|| Duration::from_nanos(clock::now().saturating_sub(figures.turn_began)));
        ActorSnapshot {
            id: record.id(),
            name: record.name().cloned(),
            type_name: record.type_name(),
            message_type: record.message_type(),
            home: record.ledger().home().to_owned(),
            may_block: record.may_block(),
            handled: figures.handled,
            queued: figures.queued,
            most_queued: figures.most_queued,
            lost: figures.lost,
            restarts: figures.restarts,
            turns: figures.turns,
            turn_time: Duration::from_nanos(figures.turn_nanos),
            longest_turn: Duration::from_nanos(figures.longest_nanos),
            at_work,
        }
    }
}

/// Which actors come first. Those that are equal come in the order of their births.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
/// use tamtam_actor::observe::Order;
///
/// let pool = Pool::builder().observe(true).build()?;
/// let actors = [1, 2, 3].map(|_| pool.spawn_fn(|_: u32, _| {}));
/// // The two that have worked the longest.
/// assert_eq!(pool.busiest(2, Order::TurnTime).len(), 2);
/// # drop(actors);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Those with the most messages in their mailboxes.
    #[default]
    Queued,
    /// Those that have handled the most messages.
    Handled,
    /// Those that have worked the longest.
    TurnTime,
    /// Those whose longest turn was the longest.
    LongestTurn,
    /// Those that have lost the most messages.
    Lost,
    /// Those that were begun again the most often.
    Restarts,
    /// Those that have been at their turn for the longest.
    AtWork,
}

impl Order {
    pub(crate) fn of(self, figures: &Figures) -> u64 {
        match self {
            Order::Queued => figures.queued,
            Order::Handled => figures.handled,
            Order::TurnTime => figures.turn_nanos,
            Order::LongestTurn => figures.longest_nanos,
            Order::Lost => figures.lost,
            Order::Restarts => figures.restarts,
            Order::AtWork => figures.at_work(),
        }
    }
}

/// The actors of these homes of which `weight` is the greatest, at most so many; those without a weight are left out.
pub(crate) fn first<'a>(
    ledgers: impl Iterator<Item = &'a Arc<Ledger>>,
    most: usize,
    mut weight: impl FnMut(&Record, &Figures) -> Option<u64>,
) -> Vec<ActorSnapshot> {
    let mut first = Vec::new();
    let cut = |first: &mut Vec<(u64, Figures, Arc<Record>)>| {
        first.sort_unstable_by_key(|(weight, _, record)| (Reverse(*weight), record.id()));
        first.truncate(most);
    };
    for ledger in ledgers {
        ledger.visit(|record| {
            let figures = record.figures();
            let Some(weight) = weight(record, &figures) else {
                return;
            };
            first.push((weight, figures, Arc::clone(record)));
            // Never many more than asked for, however many there are.
            if first.len() >= most.saturating_mul(2).max(1_024) {
                cut(&mut first);
            }
        });
    }
    cut(&mut first);
    first
        .iter()
        .map(|(_, figures, record)| ActorSnapshot::new(record, *figures))
        .collect()
}
