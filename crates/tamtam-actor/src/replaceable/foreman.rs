//! What is in the public cell of a replaceable actor.

use core::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};

use super::instance::{Instance, Nursery};
use super::succession::{Found, Part, Succession};
use crate::actor::Actor;
use crate::address::Envelope;
use crate::cell::{Behavior, Call, Cell, Own, System, Turn, WatchKey};
use crate::ended::EndReason;
use crate::error::AskError;
use crate::mailbox::{Popped, Upstream};
use crate::restart::{Birth, Policy, Restart};

/// What a supervisor hears of an actor that was replaced.
const HUNG: &str = "a handler had not come back, and the actor was replaced";

/// Makes the instances of an actor, and passes on to them what comes before messages.
pub(super) struct Foreman<A: Actor> {
    own: Own<Envelope<A::Message>>,
    succession: Arc<Succession<A::Message>>,
    nursery: Arc<Nursery<A>>,
    policy: Policy,
    /// The actor is to stop: no other instance follows.
    is_stopping: bool,
    /// The actor is to stop when it has handled what was accepted.
    is_finishing: bool,
    /// If it is supervised: its supervisor wants it to be at work.
    is_resumed: bool,
    /// What the supervisor waits for that has said so, or that wants it to pause.
    awaited: Option<AwaitedCall>,
}

/// What is called once: by an instance, or in its place if that was replaced.
#[derive(Clone)]
struct AwaitedCall(Arc<Mutex<Option<Call>>>);

impl AwaitedCall {
    fn new(call: Call) -> Self {
        AwaitedCall(Arc::new(Mutex::new(Some(call))))
    }

    fn call(&self) {
        let call = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(call) = call {
            call();
        }
    }

    fn to_call(&self) -> Call {
        let this = self.clone();
        Box::new(move || this.call())
    }
}

impl<A: Actor> Foreman<A> {
    pub(super) fn new(
        own: Own<Envelope<A::Message>>,
        succession: Arc<Succession<A::Message>>,
        mut birth: Birth<A>,
    ) -> Self {
        let policy = match birth.again() {
            Some(again) => again.policy.clone(),
            None => Policy::own(Restart::never()),
        };
        Foreman {
            own,
            succession,
            nursery: Nursery::new(birth),
            policy,
            is_stopping: false,
            is_finishing: false,
            is_resumed: false,
            awaited: None,
        }
    }

    /// Does what comes before messages.
    fn attend(&mut self, system: System) {
        match system {
            // A message that is told later, which is sent in this turn: all else is for instances, and comes there.
            System::Continue(continuation) => continuation.go_on(&mut ()),
            System::Stop => {
                self.is_stopping = true;
                self.pass_on(System::Stop);
            }
            System::End(reason) => {
                self.own.life().note(reason.clone());
                self.is_stopping = true;
                self.pass_on(System::End(reason));
            }
            System::Finish => {
                self.is_finishing = true;
                self.own.close();
                self.pass_on(System::Finish);
            }
            System::Orphaned => self.pass_on(System::Orphaned),
            System::Resume(call) => {
                self.is_resumed = true;
                let call = self.await_call(call);
                self.pass_on(System::Resume(call));
            }
            System::Suspend(call) => {
                self.is_resumed = false;
                if let Some(call) = self.await_call(Some(call)) {
                    self.pass_on(System::Suspend(call));
                }
            }
            // Nothing is put back here.
            System::Look | System::Left(_) => {}
            System::Settle(owed) => owed.deliver(AskError::Unanswered),
        }
    }

    /// Keeps what the supervisor waits for, should the instance not come to it.
    fn await_call(&mut self, call: Option<Call>) -> Option<Call> {
        self.awaited = call.map(AwaitedCall::new);
        self.awaited.as_ref().map(AwaitedCall::to_call)
    }

    /// If there is no instance, the next one is told when it is made.
    fn pass_on(&self, system: System) {
        if let Found::Present(cell) = self.succession.look() {
            cell.push_system(system);
        }
    }

    /// Makes an instance. All but the first one take the place of another that was replaced.
    fn make(&mut self, number: u64) {
        let is_supervised = matches!(self.policy, Policy::Reported(_));
        let mut is_reported = false;
        if is_supervised && number != 0 {
            // The one that was to say so is gone; its successor pauses until it is told to begin.
            if let Some(awaited) = self.awaited.take() {
                awaited.call();
            }
            is_reported = core::mem::take(&mut self.is_resumed);
        }
        let public = self.own.to_arc();
        let part = Arc::new(Part::new(&self.succession, &public, number));
        let home = public.home().standing_for(public.task_location());
        let home = home.unwrap_or_else(|| Arc::clone(public.home()));
        let birth = self.nursery.birth(self.policy.clone());
        let upstream = Arc::clone(&part) as Arc<dyn Upstream<A::Message>>;
        let own_part = Arc::clone(&part);
        // SAFETY: the actor may be used and dropped on each thread on which this home has turns: who has made this foreman has
        // promised it.
        let cell = unsafe {
            Cell::instance(public.id(), home, upstream, |own| {
                Instance::new(own, birth, own_part)
            })
        };
        let watcher = Box::new(move |ended: &crate::ended::Ended| {
            part.note_end(ended.reason.clone());
        });
        if cell.life().add_watcher(WatchKey::next(), watcher).is_err() {
            unreachable!("it has not begun");
        }
        self.succession.settle(&cell);
        if self.is_finishing {
            cell.push_system(System::Finish);
        }
        if !public.has_addresses() {
            cell.push_system(System::Orphaned);
        }
        if !is_supervised {
            cell.nudge();
        } else if self.is_resumed {
            let call = self.awaited.as_ref().map(AwaitedCall::to_call);
            cell.push_system(System::Resume(call));
        } else if let Some(awaited) = self.awaited.take() {
            // It pauses anyway.
            awaited.call();
        }
        if is_reported && let Policy::Reported(report) = &self.policy {
            report(EndReason::Panicked(Arc::from(HUNG)));
        }
    }
}

impl<A: Actor> Behavior<Envelope<A::Message>> for Foreman<A> {
    fn turn(&mut self) -> Turn {
        loop {
            if self.own.has_system() {
                for system in self.own.take_system() {
                    self.attend(system);
                }
            }
            match self.succession.look() {
                Found::Ended(reason) => {
                    self.own.life().note(reason);
                    return Turn::Stop;
                }
                Found::Vacant(_) if self.is_stopping => return Turn::Stop,
                Found::Vacant(number) => self.make(number),
                Found::Present(_) => {}
            }
            // SAFETY: this is the cell's turn.
            match unsafe { self.own.find::<true>(false, &mut MaybeUninit::uninit()) } {
                Popped::Message(_) => unreachable!("messages lie where instances take them from"),
                Popped::Woken => {}
                Popped::Empty => return Turn::Done,
            }
        }
    }

    fn panicked(&mut self, why: EndReason) -> Turn {
        self.own.life().note(why);
        Turn::Stop
    }

    fn stopped(&mut self) {}

    fn actor_type(&self) -> &'static str {
        core::any::type_name::<A>()
    }
}

impl<A: Actor> Drop for Foreman<A> {
    fn drop(&mut self) {
        self.succession.close(self.own.time());
        // Its home has ended, if there is an instance.
        self.pass_on(System::End(EndReason::HomeEnded));
    }
}
