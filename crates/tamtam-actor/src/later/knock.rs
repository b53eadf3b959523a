//! What a timer that is due does for the turn of its actor to come: it knocks.

use std::any::Any;
use std::sync::Arc;

use crate::cell::{Continuation, Door};
use crate::time::{Alarm, AnyAlarm, Key, Time, elsewhere};

/// Knocks at an actor. One that has closed may still be about to finish: the timers `OF_ACTOR` have their turns until it has
/// ended, others until it has closed.
pub(super) struct TimerKnock<const OF_ACTOR: bool> {
    door: Arc<dyn Door>,
}

impl<const OF_ACTOR: bool> TimerKnock<OF_ACTOR> {
    /// What rings instead of a timer that is to happen in the turn of its actor.
    pub(super) fn at(door: Arc<dyn Door>) -> AnyAlarm {
        AnyAlarm::new(Self { door })
    }
}

impl<const OF_ACTOR: bool> Alarm for TimerKnock<OF_ACTOR> {
    fn ring(self, key: Key) {
        let Self { door } = self;
        let is_over = if OF_ACTOR {
            door.has_ended()
        } else {
            door.is_closed()
        };
        let knocked = Knocked::new(door.time(), key);
        if is_over {
            // It would not be opened.
            drop(knocked);
        } else {
            door.knock(knocked);
        }
    }
}

/// A timer that is due, on its way to the turn of its actor.
struct Knocked {
    time: Time,
    /// None when the turn has come.
    key: Option<Key>,
}

impl Knocked {
    fn new(time: &Time, key: Key) -> Box<Self> {
        Box::new(Knocked {
            time: time.clone(),
            key: Some(key),
        })
    }
}

impl Continuation for Knocked {
    fn go_on(mut self: Box<Self>, running: &mut dyn Any) {
        let Some(key) = self.key.take() else { return };
        let alarm = self.time.begin(key);
        drop(self);
        // It may have been cancelled; or the actor has been begun again since, which has ended the timers from before.
        if let Some(alarm) = alarm {
            alarm.happen(key, running);
        }
    }
}

impl Drop for Knocked {
    fn drop(&mut self) {
        // The actor stopped before it opened.
        if let Some(key) = self.key {
            let mut alarm = AnyAlarm::default();
            if self.time.take(key, &mut alarm) {
                elsewhere(alarm, AnyAlarm::die);
            }
        }
    }
}
