//! `flood`: one actor is flooded, and beside it 1,000 others get a message a millisecond each. How late are those?
//!
//! The flooded actor has 10,000 messages in its mailbox, never less: each one that it handles it sends to itself again.
//! A plain thread sends the others their messages by a timetable, a tenth of the actors every 0.1 ms; if it was held up, it
//! sends what is due at once. The delay of a message is the time from the moment in which the timetable has it sent to the
//! moment in which it is handled, so what holds the sender up counts. The first 20 messages to each do not count.
//!
//! That thread shares the two cores with the contender's. Beside threads that are always busy the system lets it in up to
//! some milliseconds late, and what it then sends at once is no message a millisecond any more. So it has the right of
//! way, if the system gives it; a note says if not.
//!
//! `p99_ns` is the first figure: 99 of 100 messages were handled sooner. `latency_ns` is the median, `max_ns` the longest;
//! `sent_p99_ns` is as `p99_ns`, but from the moment before the message was really sent, whenever that was. `ops_per_s`
//! says how many of these messages came in a second (1,000,000 if the thread kept its timetable), and `flood_per_s` how
//! many the flooded actor handled meanwhile.
//!
//! - `1000/2cores`: a contender has two threads for its actors, and the thread that sends runs on the same two cores.
//! - `1000/2cores/calm`: the same without the flooded actor.
//!
//! Each message to the 1,000 carries its number, and must come in order; so must those that go round in the flood.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::Latch;

use crate::measure::precedence::Precedence;
use crate::measure::seats::Seats;
use crate::measure::statistics::percentile;
use crate::measure::usage::peak_memory;
use crate::{
    Conditions, Failure, Measure, Measurement, Metric, Others, Part, Placement, Stage, Stamp,
    Troupe, Variant,
};

/// The experiment's name.
const EXPERIMENT: &str = "flood";

/// How many actors there are beside the flooded one.
pub(crate) const ACTORS: u64 = 1000;
/// How many messages the flooded actor has.
pub(crate) const BACKLOG: u32 = 10_000;
/// How often each of the others gets a message.
const PERIOD: Duration = Duration::from_millis(1);
/// In how many steps a period is divided.
const STEPS: u32 = 10;
/// How long each of them is.
const STEP_NANOSECONDS: u64 = PERIOD.as_nanos() as u64 / STEPS as u64;
/// So many messages to each actor do not count.
const WARM_UP: u64 = 20;
/// How many delays are remembered, of all actors together.
const SAMPLES: u64 = 1 << 22;

/// The number that tells an actor to report.
const END: u64 = u64::MAX;

/// With and without the flood, on two cores.
pub fn measures<T: Troupe>(troupe: T) -> Vec<Measure> {
    let variant = Variant::new(ACTORS, Placement::TwoCores);
    let measure = |variant, backlog| {
        Measure::new(EXPERIMENT, variant, move |conditions: &Conditions| {
            run(troupe, backlog, conditions)
        })
    };
    vec![
        measure(variant.clone(), BACKLOG),
        measure(variant.with_extra("calm"), 0),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Message {
    /// To the flooded actor: begin.
    Flood,
    /// To the flooded actor: this one of its messages.
    Drop(u32),
    /// To one of the others.
    Stamp(Stamp),
}

/// What the actors and the thread that sends share.
#[derive(Debug)]
struct Shared {
    epoch: Instant,
    /// When the first message that counts is due, in nanoseconds after the epoch.
    timetable: AtomicU64,
    /// The flooded actor is to send nothing more.
    stop: AtomicBool,
    /// How many messages the flooded actor has handled.
    flooded: AtomicU64,
    /// Counted down by each actor with its report.
    reports: Latch,
    delays: Mutex<Delays>,
    /// What was wrong first.
    fault: Mutex<Option<String>>,
}

/// How late messages were, in nanoseconds.
#[derive(Debug, Default)]
struct Delays {
    since_due: Vec<u32>,
    since_sent: Vec<u32>,
}

impl Delays {
    fn with_capacity(capacity: usize) -> Self {
        Delays {
            since_due: Vec::with_capacity(capacity),
            since_sent: Vec::with_capacity(capacity),
        }
    }

    fn push(&mut self, since_due: u64, since_sent: u64) {
        // Four seconds are late enough.
        let short = |delay| u32::try_from(delay).unwrap_or(u32::MAX);
        self.since_due.push(short(since_due));
        self.since_sent.push(short(since_sent));
    }

    fn extend(&mut self, others: &Delays) {
        self.since_due.extend_from_slice(&others.since_due);
        self.since_sent.extend_from_slice(&others.since_sent);
    }
}

impl Shared {
    #[cold]
    fn fault(&self, what: String) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.get_or_insert(what);
    }
}

#[derive(Debug)]
enum Actor {
    Flooded(Flooded),
    Punctual(Punctual),
}

#[derive(Debug)]
struct Flooded {
    backlog: u32,
    due: u32,
    handled: u64,
    reported: bool,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Punctual {
    due: u64,
    /// In which step of a period it gets its messages.
    step: u64,
    /// So many delays are remembered.
    room: usize,
    delays: Delays,
    shared: Arc<Shared>,
}

/// Where the flooded actor stands.
const FLOODED: usize = 0;

impl Flooded {
    fn handle(&mut self, number: u32, others: &impl Others<Message>) {
        if number != self.due {
            self.shared.fault(format!(
                "message {number} of the flood came where {} was due",
                self.due
            ));
        }
        self.due = (number + 1) % self.backlog;
        self.handled += 1;
        // Seldom enough to cost nothing.
        if self.handled.is_multiple_of(64) {
            self.shared.flooded.store(self.handled, Ordering::Relaxed);
        }
        if !self.shared.stop.load(Ordering::Relaxed) {
            others.tell(FLOODED, Message::Drop(number));
        } else if !self.reported {
            self.reported = true;
            self.shared.reports.count_down();
        }
    }
}

impl Punctual {
    fn handle(&mut self, stamp: Stamp) {
        if stamp.number == END {
            let delays = self.shared.delays.lock();
            let mut delays = delays.unwrap_or_else(PoisonError::into_inner);
            delays.extend(&self.delays);
            self.shared.reports.count_down();
            return;
        }
        let now = nanoseconds_since(self.shared.epoch);
        if stamp.number != self.due {
            self.shared.fault(format!(
                "message {} came where {} was due",
                stamp.number, self.due
            ));
        }
        self.due += 1;
        if stamp.number >= WARM_UP && self.delays.since_due.len() < self.room {
            let steps = (stamp.number - WARM_UP) * u64::from(STEPS) + self.step;
            let due = self.shared.timetable.load(Ordering::Relaxed) + steps * STEP_NANOSECONDS;
            self.delays
                .push(now.saturating_sub(due), now.saturating_sub(stamp.sent));
        }
    }
}

impl Part for Actor {
    type Message = Message;

    fn handle(&mut self, message: Message, others: &impl Others<Message>) {
        match (self, message) {
            (Actor::Flooded(flooded), Message::Flood) => {
                for number in 0..flooded.backlog {
                    others.tell(FLOODED, Message::Drop(number));
                }
            }
            (Actor::Flooded(flooded), Message::Drop(number)) => flooded.handle(number, others),
            (Actor::Punctual(punctual), Message::Stamp(stamp)) => punctual.handle(stamp),
            (
                Actor::Flooded(Flooded { shared, .. }) | Actor::Punctual(Punctual { shared, .. }),
                message,
            ) => {
                shared.fault(format!("{message:?} came to the wrong actor"));
            }
        }
    }
}

pub(crate) fn run<T: Troupe>(
    troupe: T,
    backlog: u32,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.take_both()?;
    flood(
        &mut troupe.open_apart(placement.threads()),
        backlog,
        conditions,
    )
}

fn flood(
    stage: &mut impl Stage<Actor>,
    backlog: u32,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    // Less than the command's own patience, so that the reason is told.
    let patience = conditions.limit * 5 + Duration::from_secs(15);
    let actors = usize::try_from(count).expect("actors are few");
    let shared = Arc::new(Shared {
        epoch: Instant::now(),
        stop: AtomicBool::new(false),
        flooded: AtomicU64::new(0),
        reports: Latch::new(count + u64::from(backlog > 0)),
        timetable: AtomicU64::new(0),
        delays: Mutex::default(),
        fault: Mutex::default(),
    });
    let room = conditions.limit.as_nanos() / PERIOD.as_nanos() + 1;
    let room = room.min((SAMPLES / count).into());
    let room = usize::try_from(room).expect("samples are few");
    let punctual = |place| {
        Actor::Punctual(Punctual {
            due: 0,
            step: step_of(place, actors),
            room,
            delays: Delays::with_capacity(room),
            shared: Arc::clone(&shared),
        })
    };
    let flooded = Actor::Flooded(Flooded {
        backlog,
        due: 0,
        handled: 0,
        reported: false,
        shared: Arc::clone(&shared),
    });
    let parts = std::iter::once(flooded).chain((0..actors).map(punctual));

    stage.build(parts.collect());
    if backlog > 0 {
        stage.send(FLOODED, Message::Flood);
    }
    let precedence = Precedence::take();
    let mut sender = Sender {
        stage: &mut *stage,
        actors,
        epoch: shared.epoch,
        next: Instant::now(),
        number: 0,
    };
    sender.rounds(WARM_UP, Instant::now() + patience);
    let flooded = shared.flooded.load(Ordering::Relaxed);
    let start = Instant::now();
    // What the first ones were late is forgotten.
    sender.next = start;
    let timetable = start.duration_since(shared.epoch).as_nanos();
    let timetable = u64::try_from(timetable).unwrap_or(u64::MAX);
    // The actor that gets a message that counts sees it with that message.
    shared.timetable.store(timetable, Ordering::Relaxed);
    let rounds = sender.rounds(u64::MAX, start + conditions.limit);
    let elapsed = start.elapsed();
    let note = precedence.err().map(|why| {
        format!("the thread that sends had no right of way, so what it was late itself counts more than it need: {why}")
    });
    let flooded = shared.flooded.load(Ordering::Relaxed) - flooded;

    shared.stop.store(true, Ordering::Relaxed);
    for position in 1..=actors {
        let end = Stamp {
            number: END,
            sent: 0,
        };
        stage.send(position, Message::Stamp(end));
    }
    stage.wait(&shared.reports, patience);
    if !shared.reports.is_open() {
        return Err(Failure::Unverified(format!(
            "{} actors did not report within {patience:?}",
            shared.reports.remaining()
        )));
    }
    stage.clear();
    let mut fault = shared.fault.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(fault) = fault.take() {
        return Err(Failure::Unverified(fault));
    }
    let mut delays = shared.delays.lock().unwrap_or_else(PoisonError::into_inner);
    let operations = rounds * count;
    let due = operations.min(room as u64 * count);
    if delays.since_due.len() as u64 != due {
        return Err(Failure::Unverified(format!(
            "{operations} messages were sent, and {} came where {due} were due",
            delays.since_due.len()
        )));
    }
    let per_second = |number: u64| number as f64 / elapsed.as_secs_f64();
    let mut metrics = Vec::new();
    for (metric, share) in [("p99_ns", 0.99), ("latency_ns", 0.5), ("max_ns", 1.0)] {
        if let Some(delay) = percentile(&mut delays.since_due, share) {
            metrics.push(Metric::new(metric, "ns", f64::from(delay)));
        }
    }
    if let Some(delay) = percentile(&mut delays.since_sent, 0.99) {
        metrics.push(Metric::new("sent_p99_ns", "ns", f64::from(delay)));
    }
    metrics.push(Metric::new("ops_per_s", "1/s", per_second(operations)));
    if backlog > 0 {
        metrics.push(Metric::new("flood_per_s", "1/s", per_second(flooded)));
    }
    metrics.extend(peak_memory());
    Ok(Measurement {
        operations,
        elapsed,
        metrics,
        note,
    })
}

/// Where the actors of a step begin, of so many.
fn first_of(step: usize, actors: usize) -> usize {
    step * actors / STEPS as usize
}

/// In which step this one of so many actors gets its messages.
fn step_of(place: usize, actors: usize) -> u64 {
    // The last one whose first actor is not behind it.
    let step = (0..STEPS as usize).rposition(|step| first_of(step, actors) <= place);
    step.expect("the first step begins with the first actor") as u64
}

/// The thread that sends, with its timetable.
struct Sender<'a, S> {
    stage: &'a mut S,
    actors: usize,
    epoch: Instant,
    next: Instant,
    number: u64,
}

impl<S: Stage<Actor>> Sender<'_, S> {
    /// Sends `rounds` messages to every actor, or fewer if `deadline` passes, but one; returns how many.
    fn rounds(&mut self, rounds: u64, deadline: Instant) -> u64 {
        for round in 0..rounds {
            if round > 0 && Instant::now() >= deadline {
                return round;
            }
            for step in 0..STEPS as usize {
                let now = Instant::now();
                // A sender that is late sends at once and keeps to the timetable.
                if now < self.next {
                    thread::sleep(self.next - now);
                }
                self.next += PERIOD / STEPS;
                let place = |step| first_of(step, self.actors);
                for position in 1 + place(step)..1 + place(step + 1) {
                    let stamp = Stamp {
                        number: self.number,
                        sent: nanoseconds_since(self.epoch),
                    };
                    self.stage.send(position, Message::Stamp(stamp));
                }
            }
            self.number += 1;
        }
        rounds
    }
}

fn nanoseconds_since(epoch: Instant) -> u64 {
    u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::JoinHandle;

    use super::*;

    /// Runs its actors in one thread, with a fault.
    struct OneThread {
        fault: Fault,
        mail: Option<Mail>,
        thread: Option<JoinHandle<()>>,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Fault {
        None,
        /// One of the many does not get its message of this number.
        Lose(u64),
        /// It gets it twice.
        Double(u64),
        /// This one of the flood's messages goes round twice.
        DoubleDrop(u32),
        /// Its sender is held up for `HOLD` while it sends that.
        Hold(u64),
    }

    /// Longer than what is measured.
    const HOLD: Duration = Duration::from_millis(100);

    type Mail = mpsc::Sender<Option<(usize, Message)>>;

    struct Known(Mail, Fault);

    impl Others<Message> for Known {
        fn tell(&self, position: usize, message: Message) {
            let doubled = matches!(
                (message, self.1),
                (Message::Drop(number), Fault::DoubleDrop(at)) if number == at
            );
            for _ in 0..1 + usize::from(doubled) {
                // It is not heard at the end.
                let _ = self.0.send(Some((position, message)));
            }
        }
    }

    impl Stage<Actor> for OneThread {
        fn build(&mut self, mut parts: Vec<Actor>) {
            let (mail, letters) = mpsc::channel();
            let others = Known(mail.clone(), self.fault);
            self.mail = Some(mail);
            self.thread = Some(thread::spawn(move || {
                while let Ok(Some((position, message))) = letters.recv() {
                    parts[position].handle(message, &others);
                }
            }));
        }

        fn send(&mut self, position: usize, message: Message) {
            let mail = self.mail.as_ref().unwrap();
            let number = match message {
                Message::Stamp(stamp) if position == 1 => stamp.number,
                _ => END,
            };
            if matches!(self.fault, Fault::Hold(at) if number == at) {
                thread::sleep(HOLD);
            }
            let times = match self.fault {
                Fault::Lose(at) if number == at => 0,
                Fault::Double(at) if number == at => 2,
                _ => 1,
            };
            for _ in 0..times {
                mail.send(Some((position, message))).unwrap();
            }
        }

        fn clear(&mut self) {
            self.mail.as_ref().unwrap().send(None).unwrap();
            self.thread.take().unwrap().join().unwrap();
        }
    }

    fn go(fault: Fault, backlog: u32) -> Result<Measurement, Failure> {
        let mut stage = OneThread {
            fault,
            mail: None,
            thread: None,
        };
        let conditions = Conditions {
            variant: Variant::new(20, Placement::Free),
            limit: Duration::from_millis(20),
        };
        flood(&mut stage, backlog, &conditions)
    }

    #[test]
    fn delays_are_measured_with_and_without_a_flood() {
        for backlog in [0, 10] {
            let measurement = go(Fault::None, backlog).unwrap();
            let value = |metric| measurement.value(metric).unwrap();
            assert!(measurement.operations >= 20);
            assert!(value("latency_ns") > 0.0 && value("latency_ns") <= value("p99_ns"));
            assert!(value("p99_ns") <= value("max_ns"));
            assert!(value("sent_p99_ns") <= value("p99_ns"));
            assert_eq!(measurement.value("flood_per_s").is_some(), backlog > 0);
        }
    }

    /// Nearly all messages of that one round became due while the sender was held up, and were sent after it.
    #[test]
    fn what_the_sender_is_late_counts() {
        let measurement = go(Fault::Hold(WARM_UP), 0).unwrap();
        let least = HOLD - PERIOD;
        assert!(measurement.value("latency_ns").unwrap() >= least.as_nanos() as f64);
    }

    #[test]
    fn each_actor_is_told_in_its_step() {
        for actors in [1, 7, 10, 20, 1000, 1003] {
            for step in 0..STEPS as usize {
                for place in first_of(step, actors)..first_of(step + 1, actors) {
                    assert_eq!(step_of(place, actors), step as u64, "{place} of {actors}");
                }
            }
        }
    }

    #[test]
    fn lost_and_doubled_messages_are_noticed() {
        for fault in [
            Fault::Lose(0),
            Fault::Lose(WARM_UP),
            Fault::Double(3),
            Fault::Double(WARM_UP),
            Fault::DoubleDrop(7),
        ] {
            let outcome = go(fault, 10);
            assert!(
                matches!(outcome, Err(Failure::Unverified(_))),
                "{fault:?}: {outcome:?}"
            );
        }
    }
}
