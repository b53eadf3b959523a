//! The right of way of a thread that has a timetable to keep.

use std::marker::PhantomData;

/// While it is kept, the calling thread runs as soon as it has something to do, before all threads without that right.
///
/// Who sends by a timetable beside busy threads is otherwise let in when the system sees fit: where there are fewer
/// cores than threads, that is up to one of its time slices later, some milliseconds, and then all that has become due
/// is sent at once. Its receiver would be measured at another load than was said (Tene, *How NOT to Measure
/// Latency*, 2013, calls that coordinated omission).
#[derive(Debug)]
pub(crate) struct Precedence {
    /// To what the thread goes back.
    before: system::Rank,
    /// It is this thread's.
    not_send: PhantomData<*const ()>,
}

impl Precedence {
    /// Takes it for the calling thread.
    ///
    /// # Errors
    /// The system does not give it: why, and what one can do.
    pub(crate) fn take() -> Result<Self, String> {
        Ok(Precedence {
            before: system::raise()?,
            not_send: PhantomData,
        })
    }
}

impl Drop for Precedence {
    fn drop(&mut self) {
        system::restore(self.before);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::process::{getpriority_process, setpriority_process};
    use thread_priority::unix::{
        set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
    };
    use thread_priority::{
        Error, NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority,
        ThreadSchedulePolicy,
    };

    /// How a thread stood among others: its niceness, if it was one of the usual ones.
    pub(crate) type Rank = Option<i32>;

    pub(crate) fn raise() -> Result<Rank, String> {
        let refused = |error: Error| {
            let reason = match error {
                Error::OS(number) => std::io::Error::from_raw_os_error(number).to_string(),
                other => format!("{other:?}"),
            };
            format!(
                "{reason}; root, CAP_SYS_NICE or a limit `ulimit -r` of at least 1 would allow it"
            )
        };
        if let ThreadSchedulePolicy::Realtime(_) = thread_schedule_policy().map_err(refused)? {
            return Ok(None);
        }
        // Of a process 0 the system understands: of this thread.
        let niceness = getpriority_process(None).unwrap_or(0);
        // The lowest one that goes before all usual threads.
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy)
            .map_err(refused)?;
        Ok(Some(niceness))
    }

    pub(crate) fn restore(rank: Rank) {
        let Some(niceness) = rank else { return };
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        // The way down is always free. It sets a niceness, too, so the right one comes last; if that is lower than one
        // may ask for, the one that the thread had was not its own doing.
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
        let _ = setpriority_process(None, niceness);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(crate) type Rank = ();

    pub(crate) fn raise() -> Result<Rank, String> {
        Err("only on Linux is it asked for".to_owned())
    }

    pub(crate) fn restore((): Rank) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;
    use thread_priority::ThreadSchedulePolicy;
    use thread_priority::unix::thread_schedule_policy;

    use super::Precedence;

    #[test]
    fn a_thread_has_it_as_long_as_it_keeps_it_or_is_told_why_not() {
        let policy = || thread_schedule_policy().unwrap();
        let niceness = || getpriority_process(None).unwrap();
        let before = (policy(), niceness());
        match Precedence::take() {
            Ok(precedence) => {
                assert!(
                    matches!(policy(), ThreadSchedulePolicy::Realtime(_)),
                    "{:?}",
                    policy()
                );
                drop(precedence);
            }
            Err(why) => assert!(why.contains("ulimit -r"), "{why}"),
        }
        assert_eq!((policy(), niceness()), before);
    }
}
