//! A supervisor at work: what it hears, and the steps in which it lets its children begin, pause and end.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{ChildKind, Event, OnDrop, Step, Strategy, Tree};
use crate::actor::Actor;
use crate::address::Address;
use crate::cell::{Call, System};
use crate::context::Context;
use crate::ended::EndReason;
use crate::restart::gave_up;

/// What a supervisor is about.
enum Aim {
    /// Keep its children alive.
    Keep,
    /// End, in order.
    End,
    /// End, since it may not begin them again any more.
    GiveUp(EndReason),
}

/// A supervisor at work.
pub(super) struct Overseer {
    tree: Arc<Tree>,
    /// It ends by itself, not for want of addresses.
    own: Option<Address<Event>>,
    aim: Aim,
    steps: VecDeque<Step>,
    current: Option<Step>,
    /// Tells its instances apart.
    epoch: u64,
    /// The numbers of the children that it has heard of, and not yet heard of their ends; `true` for those that pause.
    is_paused: BTreeMap<usize, bool>,
    /// It has been told to stop, since it has not finished in time.
    is_overdue: bool,
    recent: VecDeque<Instant>,
}

impl Overseer {
    pub(super) fn new(tree: &Arc<Tree>) -> Self {
        let numbers = tree.numbers();
        Overseer {
            own: None,
            aim: Aim::Keep,
            steps: numbers.iter().copied().map(Step::Resume).collect(),
            current: None,
            epoch: tree.epochs.fetch_add(1, Ordering::Relaxed),
            is_paused: numbers.into_iter().map(|number| (number, true)).collect(),
            is_overdue: false,
            recent: VecDeque::new(),
            tree: Arc::clone(tree),
        }
    }

    /// Goes on with the next step, if none is being waited for.
    fn go_on(&mut self, cx: &mut Context<Self>) {
        while self.current.is_none() {
            let Some(step) = self.steps.pop_front() else {
                return self.arrive(cx);
            };
            self.take(step, cx);
        }
    }

    fn take(&mut self, step: Step, cx: &mut Context<Self>) {
        let (Step::Suspend(number) | Step::Resume(number) | Step::Finish(number)) = step;
        let Some(child) = self.tree.child(number) else {
            return;
        };
        let Some(is_paused) = self.is_paused.get(&number).copied() else {
            return;
        };
        if child.place.life().has_ended() {
            return;
        }
        self.current = Some(step);
        match step {
            Step::Suspend(_) => self.tree.suspend(number, self.when_done(step, cx)),
            Step::Resume(_) => {
                let done = self.when_done(step, cx);
                Arc::clone(&child.place).send(System::Resume(Some(done)));
            }
            // Whether it has finished is told by its end.
            Step::Finish(_) => {
                self.is_overdue = false;
                match &child.kind {
                    // There is no child that could finish.
                    _ if is_paused => self.tree.stop(number),
                    ChildKind::Supervisor { address, .. } => drop(address.tell(Event::ShutDown)),
                    ChildKind::Worker { .. } => Arc::clone(&child.place).send(System::Finish),
                }
                let deadline = child.deadline;
                cx.after(deadline, move |this, cx| this.hurry(number, cx));
            }
        }
    }

    /// Notes whether a child pauses; `false` if it has ended.
    fn note_pause(&mut self, number: usize, is_paused: bool) -> bool {
        let noted = self.is_paused.get_mut(&number);
        noted.map(|noted| *noted = is_paused).is_some()
    }

    fn when_done(&self, step: Step, cx: &mut Context<Self>) -> Call {
        let (own, epoch) = (cx.address().downgrade(), self.epoch);
        let done = OnDrop::new(move || {
            if let Some(own) = own.upgrade() {
                let _ = own.tell(Event::Done(step, epoch));
            }
        });
        Box::new(move || drop(done))
    }

    /// A child's time is over.
    fn hurry(&mut self, number: usize, cx: &mut Context<Self>) {
        if self.current != Some(Step::Finish(number)) {
            return;
        }
        if core::mem::replace(&mut self.is_overdue, true) {
            // It does not come back from what it is at. It has its wish to stop, and we go. One that can be replaced ends now.
            if let Some(child) = self.tree.child(number) {
                child.place.replace();
            }
            self.current = None;
            return self.go_on(cx);
        }
        // If it has ended just now, that is about to be told.
        let Some(child) = self.tree.child(number) else {
            return;
        };
        self.tree.stop(number);
        let deadline = child.deadline;
        cx.after(deadline, move |this, cx| this.hurry(number, cx));
    }

    /// The supervisor ends: the step at which a child is, other than its end, has the child's deadline from now on.
    fn limit_step(&mut self, cx: &mut Context<Self>) {
        let Some(step @ (Step::Suspend(number) | Step::Resume(number))) = self.current else {
            return;
        };
        match self.tree.child(number) {
            Some(child) => {
                let deadline = child.deadline;
                cx.after(deadline, move |this, cx| this.overrun(step, cx));
            }
            // Its end is about to be told.
            None => self.current = None,
        }
    }

    /// The time of a step that is not a child's end is over: as if it were the child's end that has not come in time.
    fn overrun(&mut self, step: Step, cx: &mut Context<Self>) {
        let (Step::Suspend(number) | Step::Resume(number) | Step::Finish(number)) = step;
        if self.current != Some(step) {
            return;
        }
        let end = Step::Finish(number);
        self.steps.retain(|step| *step != end);
        self.current = Some(end);
        self.is_overdue = false;
        self.hurry(number, cx);
    }

    /// No step is left.
    fn arrive(&mut self, cx: &mut Context<Self>) {
        match &self.aim {
            Aim::Keep => {}
            Aim::End => cx.stop(),
            // As a panic, though without the panic hook: what decides what follows a panic decides now.
            Aim::GiveUp(reason) => std::panic::resume_unwind(Box::new(reason.clone())),
        }
    }

    /// A child has failed for good or pauses, and children have to begin again.
    fn repair(&mut self, number: usize, why: &EndReason, cx: &mut Context<Self>) {
        let now = cx.now();
        let within = self.tree.within;
        self.recent
            .retain(|then| now.saturating_duration_since(*then) <= within);
        if self.recent.len() >= self.tree.limit as usize {
            return self.give_up(gave_up(self.tree.limit, why), cx);
        }
        self.recent.push_back(now);
        self.tree.restarts.fetch_add(1, Ordering::Relaxed);
        let is_concerned = |other: &usize| match self.tree.strategy {
            Strategy::OneForOne => *other == number,
            Strategy::OneForAll => true,
            Strategy::RestForOne => *other >= number,
        };
        let concerned: Vec<usize> = self
            .is_paused
            .keys()
            .copied()
            .filter(is_concerned)
            .collect();
        let others = concerned.iter().rev().filter(|other| **other != number);
        self.steps.extend(others.copied().map(Step::Suspend));
        self.steps.extend(concerned.into_iter().map(Step::Resume));
    }

    fn give_up(&mut self, reason: EndReason, cx: &mut Context<Self>) {
        self.aim = Aim::GiveUp(reason);
        self.steps.clear();
        let all = self.is_paused.keys().copied().rev();
        if self.tree.has_parent {
            // They may begin again, if it says so.
            self.steps.extend(all.map(Step::Suspend));
        } else {
            self.steps.extend(all.map(Step::Finish));
            self.limit_step(cx);
        }
    }
}

impl Actor for Overseer {
    type Message = Event;

    fn started(&mut self, cx: &mut Context<Self>) {
        self.own = Some(cx.address());
        self.go_on(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut Context<Self>) {
        match event {
            Event::Added(number, newcomer) => {
                // A supervisor that ends takes none: the newcomer is dropped, and so the child is stopped.
                if let Aim::Keep = self.aim {
                    newcomer.accept();
                    // Without it: one that has ended already, whose end may have been told before this.
                    if self.tree.child(number).is_some() {
                        self.is_paused.insert(number, true);
                        self.steps.push_back(Step::Resume(number));
                    }
                }
            }
            Event::Failed(number, why) => {
                let is_there = self.note_pause(number, true);
                let begins = Step::Resume(number);
                match self.aim {
                    _ if !is_there => {}
                    // With the others; a step is done before the failure of the next one is told.
                    Aim::Keep if self.current == Some(begins) || self.steps.contains(&begins) => {}
                    Aim::Keep => self.repair(number, &why, cx),
                    // It may begin again, if our supervisor says so.
                    Aim::GiveUp(_) if self.tree.has_parent => {}
                    // There is no child that could finish.
                    Aim::End | Aim::GiveUp(_) => self.tree.stop(number),
                }
            }
            Event::Done(step, epoch) => {
                // An earlier instance of this supervisor may have waited for others.
                if epoch == self.epoch && self.current == Some(step) {
                    self.current = None;
                    match step {
                        Step::Suspend(number) => drop(self.note_pause(number, true)),
                        Step::Resume(number) => drop(self.note_pause(number, false)),
                        Step::Finish(_) => {}
                    }
                }
            }
            Event::Ended(number, reason) => {
                self.is_paused.remove(&number);
                if self.current == Some(Step::Finish(number)) {
                    self.current = None;
                }
                if matches!(self.aim, Aim::Keep) && reason.is_abnormal() {
                    // Not by a panic of its own, so it cannot begin again.
                    self.give_up(gave_up(self.tree.limit, &reason), cx);
                }
            }
            Event::ShutDown => {
                if !matches!(self.aim, Aim::End) {
                    self.aim = Aim::End;
                    let all = self.is_paused.keys().copied().rev().map(Step::Finish);
                    // One is about to end where children are given up.
                    let current = self.current;
                    self.steps = all.filter(|step| Some(*step) != current).collect();
                    self.limit_step(cx);
                }
            }
        }
        self.go_on(cx);
    }
}
