//! One address for several processes that share their work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tamtam_actor::link::{Encode, FarActor, FarCell, FarHold, Probe, Watching};
use tamtam_actor::{Address, Ended, Fate, LinkFailure, Refusal, Time};
use tamtam_link::Link;

use crate::lock::lock;
use crate::monitor::{self, Presence, Started};
use crate::remote::Remote;

/// One of them.
struct Member {
    hold: Arc<FarHold>,
    link: Link,
    process: Arc<monitor::Shared>,
}

impl Member {
    /// Whether it takes messages. Its link ends before that is told to those who have its address.
    fn is_alive(&self) -> bool {
        !self.hold.cell().is_stopped() && !self.link.is_over()
    }

    /// The least is the one that gets the next message: one that pauses after a death gets none while there is another one, whatever that has in hand,
    /// and of those that have as many in hand one that begins comes behind those that have begun.
    ///
    /// Of what one has in hand, a message whose question was answered counts only where others have as much besides: that the process is done with it is
    /// heard some time later, where the system has taken its processor in between. One that hangs at a message has as much in hand, and stays behind it.
    fn weight(&self) -> (bool, (u64, u64), bool) {
        let presence = self.process.presence();
        let is_absent = presence == Presence::Absent;
        (
            is_absent,
            self.link.backlog(),
            presence != Presence::Present,
        )
    }
}

/// Gives each message to the process that has the fewest in hand, of those that are there: see [`Member::weight`].
struct Shared {
    members: Mutex<Vec<Member>>,
    /// How many have not ended.
    alive: AtomicUsize,
    cell: OnceLock<Weak<FarCell>>,
    watching: Mutex<Vec<Watching>>,
    /// Once no address is left, until the last has ended: what is told of that. It holds this, and so is taken out then.
    parting: Mutex<Option<(Arc<FarCell>, Vec<Watching>)>>,
}

/// The address of all of them.
pub(crate) fn shared_among<A: Remote>(
    workers: Vec<(Address<A::Message>, Started)>,
    name: Option<Arc<str>>,
) -> Address<A::Message> {
    let members = workers.iter().filter_map(|(address, started)| {
        Some(Member {
            hold: tamtam_actor::link::hold_of(address)?,
            link: started.link.clone(),
            process: Arc::clone(&started.shared),
        })
    });
    let shared = Arc::new(Shared {
        members: Mutex::new(members.collect()),
        alive: AtomicUsize::new(workers.len()),
        cell: OnceLock::new(),
        watching: Mutex::default(),
        parting: Mutex::default(),
    });
    let far: Box<dyn FarActor> = Box::new(Among(Arc::clone(&shared)));
    let message_type = core::any::type_name::<A::Message>();
    let cell = FarCell::new(name, message_type, Time::system(), far);
    // The mailboxes of its processes have no limits.
    cell.open_window(0, 0, true);
    let _ = shared.cell.set(Arc::downgrade(&cell));
    for (address, _) in &workers {
        let weak = Arc::downgrade(&shared);
        let watching = tamtam_actor::link::export(address).watch(Box::new(move |ended| {
            let Some(shared) = Weak::upgrade(&weak) else {
                return;
            };
            if shared.alive.fetch_sub(1, Ordering::AcqRel) == 1
                && let Some(cell) = shared.cell.get().and_then(Weak::upgrade)
            {
                // The last of them: its reason is that of all.
                cell.end(ended.reason.clone());
            }
            shared.part_if_ended();
        }));
        lock(&shared.watching).push(watching);
    }
    tamtam_actor::link::address(FarHold::first(cell))
}

struct Among(Arc<Shared>);

impl Shared {
    /// The one that gets the next message.
    fn choose(&self) -> Option<Arc<FarHold>> {
        let members = lock(&self.members);
        // Of those that are equal the first: what one can do alone stays in its processor's caches.
        let alive = members.iter().filter(|member| member.is_alive());
        let least = alive.min_by_key(|member| member.weight());
        least.map(|member| Arc::clone(&member.hold))
    }

    /// Whether one is at work that this stands for.
    fn is_alive(&self, hold: &Arc<FarHold>) -> bool {
        let members = lock(&self.members);
        let member = members.iter().find(|it| Arc::ptr_eq(&it.hold, hold));
        member.is_some_and(Member::is_alive)
    }

    /// The one that has questions, if the others have none. Where several have some, it is not known which of them has the one that a probe is for, and
    /// another one might wait for the asker with every right: then no circle is looked for until the others are done.
    fn only_asked(&self) -> Option<Arc<FarHold>> {
        let members = lock(&self.members);
        let mut asked = members.iter().filter(|member| member.link.pending() != 0);
        let one = asked.next()?;
        asked.next().is_none().then(|| Arc::clone(&one.hold))
    }

    /// Lets go what was kept for the end, if that has come. That the last process has ended is not it: who tells it needs the cell.
    fn part_if_ended(&self) {
        let parted = lock(&self.parting).take_if(|(cell, _)| cell.is_stopped());
        drop(parted);
    }

    fn each(&self, what: impl Fn(&FarCell)) {
        let holds: Vec<_> = lock(&self.members)
            .iter()
            .map(|member| Arc::clone(&member.hold))
            .collect();
        for hold in holds {
            what(hold.cell());
        }
    }
}

impl FarActor for Among {
    fn tell(&self, _: &Arc<FarCell>, encode: Encode<'_>) -> Result<(), (Refusal, LinkFailure)> {
        while let Some(hold) = self.0.choose() {
            let told = hold.cell().far().tell(hold.cell(), &mut *encode);
            // If it has ended since it was chosen, the message is for another one.
            if told.is_ok() || self.0.is_alive(&hold) {
                return told;
            }
        }
        let text = "all of its processes have ended";
        Err((Refusal::Unreachable, LinkFailure::new(Fate::NotBegun, text)))
    }

    fn place(&self) -> (usize, u64) {
        (Arc::as_ptr(&self.0).addr(), 0)
    }

    fn stop(&self) {
        self.0.each(|cell| cell.far().stop());
    }

    fn finish(&self) {
        self.0.each(|cell| cell.far().finish());
    }

    // Their ends are watched from the beginning.
    fn watchers_changed(&self, _: &Arc<FarCell>) {}

    fn end_with(&self, ended: &Ended) {
        self.0.each(|cell| cell.far().end_with(ended));
    }

    fn release(&self) {
        // With the addresses the processes end, when they have handled what they have. Those who wait for that are told then.
        let members = std::mem::take(&mut *lock(&self.0.members));
        let watching = std::mem::take(&mut *lock(&self.0.watching));
        if let Some(cell) = self.0.cell.get().and_then(Weak::upgrade) {
            *lock(&self.0.parting) = Some((cell, watching));
        }
        drop(members);
        self.0.part_if_ended();
    }

    fn probe(&self, probe: Probe) {
        if let Some(hold) = self.0.only_asked() {
            hold.cell().far().probe(probe);
        }
    }

    fn before_wait(&self) {
        self.0.each(|cell| cell.far().before_wait());
    }

    fn later(&self, what: Box<dyn FnOnce() + Send>) {
        if let Some(hold) = self.0.choose() {
            hold.cell().far().later(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use tamtam_actor::{Actor, Context};
    use tamtam_link::Link;

    use super::*;

    struct Nothing;

    impl Remote for Nothing {
        type Config = ();
        const NAME: &'static str = "nothing";

        fn create(
            (): (),
            _: &mut Context<Self>,
        ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
            Ok(Nothing)
        }
    }

    impl Actor for Nothing {
        type Message = ();

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    fn pool_of(links: &[Link]) -> Address<()> {
        let started = |link: &Link| Started {
            link: link.clone(),
            shared: Arc::default(),
        };
        let workers = links.iter().map(|link| (link.root(), started(link)));
        shared_among::<Nothing>(workers.collect(), None)
    }

    #[test]
    fn the_next_message_is_for_the_one_that_can_begin_it_first() {
        let links: Vec<Link> = (0..2).map(|_| Link::builder().build(|| {}).0).collect();
        let [one, other] = [0, 1].map(|place| Member {
            hold: tamtam_actor::link::hold_of(&links[place].root::<()>()).unwrap(),
            link: links[place].clone(),
            process: Arc::default(),
        });
        assert_eq!(one.weight(), other.weight());
        for presence in [Presence::Beginning, Presence::Present] {
            other.process.set_presence(presence);
            assert!(other.weight() < one.weight());
        }
        one.process.set_presence(Presence::Beginning);
        assert!(other.weight() < one.weight(), "it has begun");
        links[1].root::<()>().tell(()).unwrap();
        assert!(one.weight() < other.weight(), "it has nothing in hand");
        one.process.set_presence(Presence::Absent);
        assert!(other.weight() < one.weight(), "it pauses");
    }

    #[test]
    fn a_pool_that_has_ended_keeps_nothing() {
        for has_end_before_release in [false, true] {
            let links: Vec<Link> = (0..3).map(|_| Link::builder().build(|| {}).0).collect();
            let pool = pool_of(&links);
            let hold = tamtam_actor::link::hold_of(&pool).unwrap();
            let cell = Arc::downgrade(hold.cell());
            drop(hold);
            let end = || links.iter().for_each(|link| link.lose("it was cut"));
            if has_end_before_release {
                end();
            }
            drop(pool);
            // One that has not ended is there for those who wait for its end.
            assert_eq!(cell.upgrade().is_some(), !has_end_before_release);
            end();
            assert!(cell.upgrade().is_none());
        }
    }
}
