//! Threads that stand in for those whose handlers wait.

use super::*;

impl Shared {
    /// A stand-in goes when those whom it stands in for are back: `true` if this one does. It is not counted any more
    /// from then on, so that no two go in the place of one.
    pub(super) fn resign(&self) -> bool {
        let mut people = self.people.lock();
        let is_superfluous = people.stand_ins > people.blocked;
        people.stand_ins -= usize::from(is_superfluous);
        is_superfluous
    }

    /// A stand-in gives what it has to do to the others.
    pub(super) fn hand_over(&self, ring: usize) {
        let desk = &self.desks[ring];
        // SAFETY: this thread owns the desk.
        while let Some(task) = unsafe { desk.next.take().or_else(|| desk.ring.pop()) } {
            self.bring(task);
        }
        self.busy.fetch_sub(1, Ordering::SeqCst);
        if self.ending.load(Ordering::SeqCst) {
            // Somebody may wait for the last one who works.
            self.idle.notify_all();
        }
    }

    pub(super) fn block(self: &Arc<Self>) {
        self.blocking_asks.fetch_add(1, Ordering::Relaxed);
        told::blocking_ask();
        let ring = {
            let mut people = self.people.lock();
            people.blocked += 1;
            if people.stand_ins >= people.blocked {
                None
            } else {
                let ring = people.free_rings.pop();
                people.stand_ins += usize::from(ring.is_some());
                ring
            }
        };
        if let Some(ring) = ring {
            self.busy.fetch_add(1, Ordering::SeqCst);
            if self.start_thread(ring, true).is_err() {
                // Without a thread for it, the others have to do.
                self.busy.fetch_sub(1, Ordering::SeqCst);
                let mut people = self.people.lock();
                people.stand_ins -= 1;
                people.free_rings.push(ring);
            }
        }
        // What is due on this thread is for others now, were it but one task.
        let (_, ring) = RING.get();
        // SAFETY: this thread owns the desk.
        if let Some(next) = unsafe { self.desks[ring].next.take() } {
            self.append(ring, next);
        }
        atomic::fence(Ordering::SeqCst);
        self.call_one();
    }

    pub(super) fn unblock(&self) {
        self.people.lock().blocked -= 1;
    }
}

/// Does something that may wait for an actor. If this is a thread of a pool, another one stands in for it
/// meanwhile, since the actor may need it.
pub(crate) fn while_blocked<R>(wait: impl FnOnce() -> R) -> R {
    /// Also if the wait panics.
    struct Blocked(Arc<Shared>);

    impl Drop for Blocked {
        fn drop(&mut self) {
            self.0.unblock();
        }
    }

    let shared = POOL.try_with(|pool| pool.borrow().upgrade()).ok().flatten();
    let _blocked = shared.map(|shared| {
        shared.block();
        Blocked(shared)
    });
    wait()
}
