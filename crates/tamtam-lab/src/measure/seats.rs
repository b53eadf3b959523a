//! Which processor each side of an experiment has.

use crate::{Failure, Placement};

/// The processors of the two sides of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seats {
    /// Where the main side (the caller, the sender, the poster) runs.
    pub(crate) near: Seat,
    /// Where the other side (the answerer, the receiver, the worker) runs.
    pub(crate) far: Seat,
}

/// One thread's processor, or the system's free choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seat(Option<usize>);

impl Seats {
    /// The seats of a placement, among the processors that the calling thread may use now.
    ///
    /// To be asked before any thread has taken its seat: a pinned thread may use its own processor only.
    ///
    /// # Errors
    /// There are too few processors, or the system cannot pin threads.
    pub(crate) fn of(placement: Placement) -> Result<Self, Failure> {
        match placement {
            Placement::Free | Placement::Hog => Ok(Seats {
                near: Seat(None),
                far: Seat(None),
            }),
            Placement::OneCore | Placement::TwoCores => {
                Seats::among(placement, &allowed_processors()?)
            }
        }
    }

    fn among(placement: Placement, allowed: &[usize]) -> Result<Self, Failure> {
        let missing = || {
            Failure::Impossible(format!(
                "{placement} needs more processors than this process may use ({})",
                allowed.len()
            ))
        };
        let near = *allowed.first().ok_or_else(missing)?;
        let far = match placement {
            Placement::TwoCores => *allowed.get(1).ok_or_else(missing)?,
            _ => near,
        };
        Ok(Seats {
            near: Seat(Some(near)),
            far: Seat(Some(far)),
        })
    }
}

impl Seats {
    /// Lets the calling thread, and those that it will start, run on both seats' processors and on no other.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn take_both(self) -> Result<(), Failure> {
        match (self.near.0, self.far.0) {
            (Some(near), Some(far)) => pin(&[near, far]),
            _ => Ok(()),
        }
    }
}

impl Seat {
    /// Pins the calling thread to this seat's processor, if it names one.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn take(self) -> Result<(), Failure> {
        match self.0 {
            Some(processor) => pin(&[processor]),
            None => Ok(()),
        }
    }
}

#[cfg(target_os = "linux")]
fn allowed_processors() -> Result<Vec<usize>, Failure> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let set = sched_getaffinity(None)
        .map_err(|error| Failure::Impossible(format!("the processors cannot be read: {error}")))?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&processor| set.is_set(processor))
        .collect())
}

#[cfg(target_os = "linux")]
fn pin(processors: &[usize]) -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut set = CpuSet::new();
    for &processor in processors {
        set.set(processor);
    }
    sched_setaffinity(None, &set).map_err(|error| {
        Failure::Impossible(format!(
            "no thread can be pinned to CPU {processors:?}: {error}"
        ))
    })
}

#[cfg(not(target_os = "linux"))]
fn allowed_processors() -> Result<Vec<usize>, Failure> {
    Err(Failure::Impossible(
        "threads can be pinned on Linux only".to_owned(),
    ))
}

#[cfg(not(target_os = "linux"))]
fn pin(_processors: &[usize]) -> Result<(), Failure> {
    Err(Failure::Impossible(
        "threads can be pinned on Linux only".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_allowed_processors_are_taken() {
        let one = Seats::among(Placement::OneCore, &[3, 5, 7]).unwrap();
        assert_eq!(
            one,
            Seats {
                near: Seat(Some(3)),
                far: Seat(Some(3))
            }
        );
        let two = Seats::among(Placement::TwoCores, &[3, 5, 7]).unwrap();
        assert_eq!(
            two,
            Seats {
                near: Seat(Some(3)),
                far: Seat(Some(5))
            }
        );
    }

    #[test]
    fn two_cores_on_one_processor_fail_clearly() {
        let failure = Seats::among(Placement::TwoCores, &[4]).unwrap_err();
        assert!(
            matches!(&failure, Failure::Impossible(reason) if reason.contains("2cores")),
            "{failure}"
        );
        assert!(Seats::among(Placement::OneCore, &[4]).is_ok());
    }

    #[test]
    fn free_and_hog_pin_nothing() {
        for placement in [Placement::Free, Placement::Hog] {
            let seats = Seats::of(placement).unwrap();
            assert_eq!(
                seats,
                Seats {
                    near: Seat(None),
                    far: Seat(None)
                }
            );
            seats.near.take().unwrap();
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_took_its_seat_may_use_no_other_processor() {
        let last = *allowed_processors().unwrap().last().unwrap();
        // In a thread of its own: the mask stays with the thread.
        let after = std::thread::spawn(move || {
            Seat(Some(last)).take().unwrap();
            allowed_processors().unwrap()
        });
        assert_eq!(after.join().unwrap(), [last]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_started_after_both_seats_were_taken_may_use_these() {
        let allowed = allowed_processors().unwrap();
        if allowed.len() < 2 {
            return;
        }
        let after = std::thread::spawn(|| {
            Seats::of(Placement::TwoCores).unwrap().take_both().unwrap();
            let child = std::thread::spawn(|| allowed_processors().unwrap());
            child.join().unwrap()
        });
        assert_eq!(after.join().unwrap(), allowed[..2]);
    }
}
