//! A carrier for tests: frames go from one side to the other as steps of a stepper, in memory.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tamtam_actor::{Address, Stepper};

use crate::frame::LENGTH;
use crate::link::{Link, LinkBuilder};

/// Two ends of a link in one process, whose frames are carried as steps of a stepper.
///
/// The two sides are as if they were two programs: what one of them sends becomes bytes, and is read at the other. Each direction carries
/// one frame a step, in order; when that is, compared with the turns of actors and the frames of other links, the stepper chooses. So a
/// program of several processes runs in an order that a seed repeats.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Address, AskError, Reply, Stepper};
/// use tamtam_link::{Link, carrier};
///
/// type Double = (u32, Reply<u32>);
///
/// let stepper = Stepper::with_seed(7);
/// let doubler = stepper.spawn_fn(|(number, reply): Double, _| reply.send(2 * number));
/// let link = carrier::stepped(&stepper, Link::builder(), Link::builder().root(&doubler));
/// let far: Address<Double> = link.one().root();
/// assert_eq!(stepper.ask(&far, |reply| (21, reply)), Ok(42));
///
/// // A cut at some step of the many: at which, is the seed's choice.
/// let question = far.ask_async(|reply| (1, reply));
/// link.cut_after(3);
/// match stepper.wait_for(question) {
///     Some(Ok(answer)) => assert_eq!(answer, 2),
///     Some(Err(AskError::Unreachable(failure))) => assert!(failure.text().contains("cut")),
///     other => panic!("{other:?}"),
/// }
/// ```
pub struct SteppedLink {
    one: Link,
    other: Link,
    ways: [Arc<Way>; 2],
    cutter: Address<u32>,
}

/// A link between two sides that live on the same stepper: see [`SteppedLink`].
pub fn stepped(stepper: &Stepper, one: LinkBuilder, other: LinkBuilder) -> SteppedLink {
    stepped_and_rung(stepper, one, other, || {})
}

/// As [`stepped`], where other threads use the ends: `ring` is called whenever there may be a step to take.
#[doc(hidden)]
pub fn stepped_and_rung(
    stepper: &Stepper,
    one: LinkBuilder,
    other: LinkBuilder,
    ring: impl Fn() + Clone + Send + Sync + 'static,
) -> SteppedLink {
    let ways = [Way::new(stepper), Way::new(stepper)];
    let build = |builder: LinkBuilder, way: &Arc<Way>| {
        let (way, ring) = (Arc::clone(way), ring.clone());
        builder.build(move || {
            way.ring();
            ring();
        })
    };
    let (one, mut to_one) = build(one, &ways[0]);
    let (other, mut to_other) = build(other, &ways[1]);
    // An end that is no more is told by its goodbye, or by the loss of what carries it.
    ways[0].connect(one.clone(), move |frame| to_other.receive(frame).is_ok());
    ways[1].connect(other.clone(), move |frame| to_one.receive(frame).is_ok());
    let cutter = {
        let (ways, links) = (ways.clone(), [one.clone(), other.clone()]);
        stepper.spawn_fn(move |turns: u32, here| match turns.checked_sub(1) {
            Some(left) => drop(here.address().tell(left)),
            None => cut(&ways, &links),
        })
    };
    SteppedLink {
        one,
        other,
        ways,
        cutter,
    }
}

fn cut(ways: &[Arc<Way>; 2], links: &[Link; 2]) {
    ways.iter().for_each(|way| way.cut());
    links.iter().for_each(|link| link.lose("it was cut"));
}

impl SteppedLink {
    /// The end that was named first.
    #[must_use]
    pub fn one(&self) -> &Link {
        &self.one
    }

    /// The other end.
    #[must_use]
    pub fn other(&self) -> &Link {
        &self.other
    }

    /// Cuts the link now: what is on its way is lost, and both sides are told.
    pub fn cut(&self) {
        cut(&self.ways, &[self.one.clone(), self.other.clone()]);
    }

    /// Cuts the link after so many steps that do nothing, which the stepper chooses among the others: so when that is depends on its seed.
    pub fn cut_after(&self, steps: u32) {
        // It lives as long as the stepper.
        let _ = self.cutter.tell(steps);
    }
}

impl fmt::Debug for SteppedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedLink")
            .field("one", &self.one)
            .field("other", &self.other)
            .finish_non_exhaustive()
    }
}

/// Takes a frame; `false` if it will take no more.
type Receive = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// One direction: an actor that carries one frame a step. It may be connected again, when another process takes the place of one.
#[doc(hidden)]
pub struct Way {
    carrier: Mutex<Option<Address<()>>>,
    is_rung: AtomicBool,
    state: Mutex<WayState>,
}

#[derive(Default)]
struct WayState {
    /// How often it was connected or cut.
    epoch: u64,
    transit: VecDeque<u8>,
    from: Option<Link>,
    receive: Option<Receive>,
}

impl Way {
    /// One that leads nowhere yet.
    pub fn new(stepper: &Stepper) -> Arc<Self> {
        let way = Arc::new(Way {
            carrier: Mutex::default(),
            is_rung: AtomicBool::new(false),
            state: Mutex::default(),
        });
        let weak: Weak<Way> = Arc::downgrade(&way);
        let carrier = stepper.spawn_fn(move |(), _| {
            if let Some(way) = weak.upgrade() {
                way.carry();
            }
        });
        *way.carrier.lock().unwrap_or_else(PoisonError::into_inner) = Some(carrier);
        way
    }

    fn lock(&self) -> MutexGuard<'_, WayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is something to carry.
    pub fn ring(&self) {
        if self.is_rung.swap(true, Ordering::SeqCst) {
            return;
        }
        let carrier = self.carrier.lock().unwrap_or_else(PoisonError::into_inner);
        let carrier = carrier.clone();
        if let Some(carrier) = carrier {
            // It ends with the stepper.
            let _ = carrier.tell(());
        }
    }

    /// Carries from that end from now on.
    pub fn connect(&self, from: Link, receive: impl FnMut(&[u8]) -> bool + Send + 'static) {
        let mut state = self.lock();
        state.epoch += 1;
        state.transit.clear();
        let before = (
            state.from.replace(from),
            state.receive.replace(Box::new(receive)),
        );
        drop(state);
        drop(before);
        self.ring();
    }

    /// What the end has to say so far is on its way from now on, whatever becomes of the end.
    pub fn take_in(&self) {
        let (epoch, from) = {
            let state = self.lock();
            (state.epoch, state.from.clone())
        };
        let Some(from) = from else {
            return;
        };
        let mut bytes = Vec::new();
        // A message may be written by this.
        from.take_outgoing(&mut bytes);
        let mut state = self.lock();
        if state.epoch == epoch {
            state.transit.extend(bytes);
            let has_some = !state.transit.is_empty();
            drop(state);
            if has_some {
                self.ring();
            }
        }
    }

    /// Takes no more in; what is on its way still arrives.
    pub fn end(&self) {
        let from = self.lock().from.take();
        drop(from);
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.lock().transit.is_empty()
    }

    /// Carries no more; what is on its way is lost.
    pub fn cut(&self) {
        let mut state = self.lock();
        state.epoch += 1;
        state.transit.clear();
        let before = (state.from.take(), state.receive.take());
        drop(state);
        drop(before);
    }

    /// A step.
    fn carry(&self) {
        self.is_rung.store(false, Ordering::SeqCst);
        self.take_in();
        let mut state = self.lock();
        let epoch = state.epoch;
        let Some(frame) = first_frame(&mut state.transit) else {
            return;
        };
        let Some(mut receive) = state.receive.take() else {
            return;
        };
        drop(state);
        // Messages are read by this, and users' types with them.
        let goes_on = receive(&frame);
        let mut state = self.lock();
        if state.epoch == epoch {
            if goes_on {
                state.receive = Some(receive);
            } else {
                state.transit.clear();
            }
            let has_more = !state.transit.is_empty();
            drop(state);
            if has_more {
                self.ring();
            }
        } else {
            drop(state);
            drop(receive);
        }
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Way").finish_non_exhaustive()
    }
}

/// The first frame with its length; an end writes whole ones.
fn first_frame(bytes: &mut VecDeque<u8>) -> Option<Vec<u8>> {
    let length: Vec<u8> = bytes.iter().copied().take(LENGTH).collect();
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let whole = (LENGTH + length).min(bytes.len());
    Some(bytes.drain(..whole).collect())
}
