//! Tasks and selecting threads of this process that wait at one bell or socket, and whether the wake thread, or the poll thread, sleeps there for them.
//!
//! The protocol stands in this folder's README.

use tamtam_wait::WaitList;
use tamtam_wait::seam::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(crate) struct Watch {
    /// The wake thread sleeps at the bell, or is about to. Changed under its lock only: set once the bell's bit is.
    is_watched: AtomicBool,
    pub(crate) list: WaitList,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch {
            is_watched: AtomicBool::new(false),
            list: WaitList::new(),
        }
    }

    /// Whether one that has just entered the list need not call for the wake thread.
    pub(crate) fn is_watched(&self) -> bool {
        tamtam_wait::seam::model_fence();
        // SYNC watch: this look comes after the entry into the list, and the wake thread's look at the list after `let_go`.
        self.is_watched.load(Ordering::SeqCst)
    }

    /// What `expect` has brought, such as the word of the bell with which the wake thread is to sleep there; none if it does already, or `expect` has
    /// failed. Under the wake thread's lock.
    pub(crate) fn begin<R>(&self, expect: impl FnOnce() -> Option<R>) -> Option<R> {
        if self.is_watched.load(Ordering::SeqCst) {
            return None;
        }
        let expected = expect()?;
        // SYNC watch: a waiter that sees this need not touch the bell.
        self.is_watched.store(true, Ordering::SeqCst);
        Some(expected)
    }

    /// The wake thread sleeps there no more. Under its lock, and before it [tells](Watch::tell) those in the list.
    pub(crate) fn let_go(&self) {
        // SYNC watch
        self.is_watched.store(false, Ordering::SeqCst);
    }

    /// All in the list look again. Under no lock: a waker is other code.
    pub(crate) fn tell(&self) {
        tamtam_wait::seam::model_fence();
        self.list.notify_all();
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use crate::bell::Bell;
    use tamtam_wait::seam::atomic::AtomicU32;
    use tamtam_wait::seam::{Arc, Mutex, thread};
    use tamtam_wait::{Context, Operation, Scope};

    /// What the wake thread has beside its sleep: what it was handed.
    struct Model {
        bell: Bell,
        state: AtomicU32,
        watch: Watch,
        handed: Mutex<Option<u32>>,
    }

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Model {
                bell: Bell::new(),
                state: AtomicU32::new(0),
                watch: Watch::new(),
                handed: Mutex::new(None),
            })
        }

        fn is_there(&self) -> bool {
            self.state.load(Ordering::SeqCst) != 0
        }

        /// Waits as a task or a select does. Where it has to call for the wake thread, that begins its sleep.
        fn wait(this: &Arc<Self>) -> Option<thread::JoinHandle<()>> {
            let mut waking = None;
            Context::with(|context| {
                this.watch.list.register(Operation::new(0), context);
                if !this.watch.is_watched() {
                    let mut handed = this.handed.lock();
                    if let Some(asleep) = this.watch.begin(|| Some(this.bell.expect())) {
                        *handed = Some(asleep);
                        let model = Arc::clone(this);
                        waking = Some(thread::spawn(move || model.wake()));
                    }
                }
                if this.is_there() {
                    context.abort();
                }
                context.park(None);
                this.watch.list.unregister(Operation::new(0), context);
            });
            assert!(this.is_there());
            waking
        }

        fn wake(&self) {
            let asleep = self.handed.lock().expect("it was handed a word");
            while self.bell.word().load(Ordering::SeqCst) == asleep {
                let _ = self.bell.word().wait(asleep, None, Scope::Shared);
            }
            let mut handed = self.handed.lock();
            *handed = None;
            self.watch.let_go();
            drop(handed);
            self.watch.tell();
        }

        fn bring(&self) {
            self.state.swap(1, Ordering::SeqCst);
            self.bell.ring();
        }
    }

    fn model(program: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(2);
        bounded.check(program);
    }

    /// What is brought at any moment reaches one that waits, by its own look or by the wake thread.
    #[test]
    fn loom_a_ring_reaches_the_one_that_waits() {
        model(|| {
            let model = Model::new();
            let bringing = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.bring())
            };
            let waking = Model::wait(&model);
            bringing.join().unwrap();
            // Ends a sleep that was begun when all was there.
            model.bring();
            if let Some(waking) = waking {
                waking.join().unwrap();
            }
        });
    }

    /// Two that wait, of which one calls for the wake thread and the other finds it there, or both call for it one after the other.
    #[test]
    fn loom_a_ring_reaches_both_that_wait() {
        model(|| {
            let model = Model::new();
            let other = {
                let model = Arc::clone(&model);
                thread::spawn(move || Model::wait(&model))
            };
            let bringing = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.bring())
            };
            let own = Model::wait(&model);
            let others = other.join().unwrap();
            bringing.join().unwrap();
            model.bring();
            for waking in [own, others].into_iter().flatten() {
                waking.join().unwrap();
            }
        });
    }
}
