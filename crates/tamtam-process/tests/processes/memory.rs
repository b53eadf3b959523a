//! Ends of shared memory in messages to actors of other processes, and in their answers.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::{Actor, Address, AskError, Context, Loss, Reply, Restart, on_dead_letter};
use tamtam_ipc::{Mutex, Receiver, Sender, Slot, channel};
use tamtam_process::{Limits, Process, Remote};

use crate::until;

crate::tests! { "memory":
    ends_go_to_a_process_and_come_in_its_answers
    they_go_to_one_that_is_limited
    many_go_in_order_while_others_tell_it_things
    what_has_not_begun_goes_to_the_next_process_with_its_ends
    a_process_that_dies_at_any_step_leaves_no_descriptor
    a_stepped_process_refuses_them
}

/// What a process does to itself when it reads this, or drops it.
pub(crate) struct Fuse {
    when: u8,
}

const READ: u8 = 1;
const DROPPED: u8 = 2;

impl Fuse {
    fn comes(&self, when: u8) {
        if self.when == when {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
    }
}

impl Serialize for Fuse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.when.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fuse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let when = Deserialize::deserialize(deserializer)?;
        let fuse = Fuse { when };
        fuse.comes(READ);
        Ok(fuse)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Work {
    /// Doubles what it receives, until there is no more.
    Double(Receiver<u64>, Sender<u64>),
    /// Gives an end back.
    Give(Reply<Receiver<u64>>),
    Add(Mutex<u64>, u64),
    Slots(Vec<Slot<u64>>, Reply<u64>),
    Ping(Reply<u64>),
    /// The one fuse burns before the ends are read, the other behind them; the third when the handler drops them.
    Fused(Fuse, Slot<u64>, Receiver<u64>, Fuse, Fuse),
    Die,
    /// How many descriptors it has.
    Descriptors(Reply<u64>),
}

pub(crate) struct Worker(u64);

impl Remote for Worker {
    type Config = ();
    const NAME: &'static str = "lender";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Worker(0))
    }
}

impl Actor for Worker {
    type Message = Work;

    fn handle(&mut self, work: Work, _: &mut Context<Self>) {
        match work {
            Work::Double(from, to) => from.iter().for_each(|number| to.send(2 * number).unwrap()),
            Work::Give(reply) => {
                let (sender, receiver) = channel(4).unwrap();
                sender.send(11).unwrap();
                reply.send(receiver);
            }
            Work::Add(to, number) => drop(to.lock().unwrap().update(|sum| sum + number)),
            Work::Slots(slots, reply) => {
                // In the order in which they were sent.
                let numbers = slots.iter().map(|slot| slot.try_take().unwrap());
                reply.send(numbers.fold(0, |sum, number| 10 * sum + number));
            }
            Work::Ping(reply) => {
                self.0 += 1;
                reply.send(self.0);
            }
            Work::Fused(_, slot, _receiver, _, last) => {
                slot.put(1);
                last.comes(DROPPED);
            }
            Work::Die => kill_process(getpid(), Signal::KILL).unwrap(),
            Work::Descriptors(reply) => reply.send(descriptors() as u64),
        }
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn slots(numbers: &[u64]) -> Vec<Slot<u64>> {
    let slots = numbers.iter().map(|number| {
        let slot = Slot::create().unwrap();
        slot.put(*number);
        slot
    });
    slots.collect()
}

fn use_it(worker: &Address<Work>) {
    let (sender, receiver) = channel::<u64>(2).unwrap();
    let (results, from_there) = channel::<u64>(2).unwrap();
    worker.tell(Work::Double(receiver, results)).unwrap();
    for number in 0..20 {
        sender.send(number).unwrap();
        assert_eq!(from_there.recv(), Ok(2 * number));
    }
    drop(sender);
    assert!(from_there.recv().is_err());
    let sum = Mutex::create(1_u64).unwrap();
    let there = Mutex::attach(sum.memory().try_clone_to_owned().unwrap()).unwrap();
    worker.tell(Work::Add(there, 41)).unwrap();
    assert!(worker.ask(Work::Ping).unwrap() >= 1);
    assert_eq!(sum.lock().unwrap().get(), 42);
    let answer = worker.ask(|reply| Work::Slots(slots(&[4, 3, 2, 1]), reply));
    assert_eq!(answer, Ok(4321));
}

fn ends_go_to_a_process_and_come_in_its_answers() {
    let worker = Process::spawn::<Worker>(()).unwrap();
    use_it(&worker);
    let receiver = worker.ask(Work::Give).unwrap();
    assert_eq!(receiver.recv(), Ok(11));
    assert!(receiver.recv().is_err());
}

fn they_go_to_one_that_is_limited() {
    // It can make no memory of its own.
    let limits = Limits::new().memory(512 << 20).no_network().no_files();
    let worker = Process::spawner().limits(limits).spawn::<Worker>(());
    use_it(&worker.unwrap());
}

/// Another process takes the place of one that has died at once, and however often.
fn at_once() -> Restart {
    Restart::on_panic()
        .no_limit()
        .backoff(Duration::ZERO, 1.0, Duration::ZERO)
}

fn many_go_in_order_while_others_tell_it_things() {
    let worker = Process::spawn::<Worker>(()).unwrap();
    let before = worker.ask(Work::Descriptors).unwrap();
    let senders: Vec<_> = (0..4_u64)
        .map(|sender| {
            let worker = worker.clone();
            std::thread::spawn(move || {
                for number in 0..100 {
                    if sender % 2 == 0 {
                        let numbers = [sender, number % 10, number / 10];
                        let answer = worker.ask(|reply| Work::Slots(slots(&numbers), reply));
                        let expected = numbers.iter().fold(0, |sum, number| 10 * sum + number);
                        assert_eq!(answer, Ok(expected));
                    } else {
                        worker.ask(Work::Ping).unwrap();
                        assert_eq!(worker.ask(Work::Give).unwrap().recv(), Ok(11));
                    }
                }
            })
        })
        .collect();
    senders
        .into_iter()
        .for_each(|sender| sender.join().unwrap());
    // What was lent for an answer is given up when the answer was read, which the worker hears of a moment later.
    until("it has no more descriptors than before", || {
        worker.ask(Work::Descriptors).unwrap() <= before
    });
}

fn what_has_not_begun_goes_to_the_next_process_with_its_ends() {
    let worker = Process::spawner().restart(at_once()).spawn::<Worker>(());
    let worker = worker.unwrap();
    for _ in 0..10 {
        let (sender, receiver) = channel::<u64>(2).unwrap();
        let (results, from_there) = channel::<u64>(2).unwrap();
        worker.tell(Work::Die).unwrap();
        worker.tell(Work::Double(receiver, results)).unwrap();
        for number in 0..20 {
            // The channel was never without a receiver, nor the other without a sender.
            sender.send(number).unwrap();
            assert_eq!(from_there.recv(), Ok(2 * number));
        }
        drop(sender);
        assert!(from_there.recv().is_err());
    }
}

/// Alone, since others have processes and descriptors, too.
pub(crate) fn die_if_asked() {
    if std::env::var_os(ALONE).is_none() || !tamtam_process::is_primordial() {
        return;
    }
    let lost = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&lost);
    let _watch = on_dead_letter(move |letter| {
        assert!(matches!(letter.why, Loss::ProcessEnded(_)), "{letter:?}");
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let worker = Process::spawner().restart(at_once()).spawn::<Worker>(());
    let worker = worker.unwrap();
    use_it(&worker);
    let before = descriptors();
    let mut deaths = 0;
    let is_long = std::env::var_os("TAMTAM_SOAK_SECONDS").is_some();
    for round in 0..if is_long { 400_u32 } else { 24 } {
        let when = [(READ, 0, 0), (0, READ, 0), (0, 0, DROPPED), (0, 0, 0)][round as usize % 4];
        let slot = Slot::<u64>::create().unwrap();
        let there = Slot::attach(slot.memory().try_clone_to_owned().unwrap()).unwrap();
        let (sender, receiver) = channel::<u64>(2).unwrap();
        let fuse = |when| Fuse { when };
        let fused = Work::Fused(fuse(when.0), there, receiver, fuse(when.1), fuse(when.2));
        worker.tell(fused).unwrap();
        // Behind it, so that it may be with the process that dies.
        let behind = worker.ask_async(|reply| Work::Slots(slots(&[1, 2]), reply));
        if when != (0, 0, 0) {
            deaths += 1;
        }
        assert_eq!(futures_block_on(behind), Ok(12));
        assert_eq!(slot.try_take().is_some(), when.0 == 0 && when.1 == 0);
        until("the receiver is known to be gone", || sender.is_closed());
        drop((slot, sender));
        until("no descriptor is left", || descriptors() <= before);
    }
    assert_eq!(lost.load(Ordering::SeqCst), deaths);
    drop(worker);
    std::process::exit(0);
}

/// Waits for a future on this thread.
pub(crate) fn futures_block_on<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Wake, Waker};
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

const ALONE: &str = "TAMTAM_TEST_MEMORY_DEATHS";

fn a_process_that_dies_at_any_step_leaves_no_descriptor() {
    let output = crate::actors::this_program()
        .env(ALONE, "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn a_stepped_process_refuses_them() {
    let stepper = tamtam_actor::Stepper::with_seed(5);
    let (worker, _process) = Process::spawner().spawn_in::<Worker>(&stepper, ()).unwrap();
    let asked = worker.ask_async(|reply| Work::Slots(slots(&[1]), reply));
    match stepper.wait_for(asked) {
        Some(Err(AskError::NotEncodable(failure))) => {
            assert!(failure.text().contains("this link carries bytes only"));
        }
        other => panic!("{other:?}"),
    }
}
