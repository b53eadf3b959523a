//! A visit without a visitor, for tests: clicks the button, waits for the end of the search, looks whether the window
//! then sleeps, and takes a picture.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui::{Event, Modifiers, PointerButton};

use crate::screen::Screen;
use crate::view::{State, View};

/// So long the window is looked at when nothing happens.
const IDLE: Duration = Duration::from_secs(1);

pub(crate) struct Visit {
    pub(crate) picture: PathBuf,
    step: Step,
}

enum Step {
    Enter,
    /// The button was pressed with this many drawings behind us.
    Press {
        drawn: u64,
    },
    Wait,
    Rest {
        until: Instant,
        drawn: u64,
        rounds: u64,
    },
}

/// What the loop did while nothing happened.
pub(crate) struct Rest {
    pub(crate) drawings: u64,
    pub(crate) rounds: u64,
}

pub(crate) enum Next {
    /// Go on, and come again at this time at the latest, if there is one.
    Continue(Option<Instant>),
    Leave(Rest),
}

impl Visit {
    pub(crate) fn new(picture: PathBuf) -> Self {
        Visit {
            picture,
            step: Step::Enter,
        }
    }

    /// Called whenever the loop is about to wait, after so many rounds of it.
    pub(crate) fn go_on(&mut self, screen: &mut Screen, view: &View, rounds: u64) -> Next {
        let press = |pressed| {
            view.button.map(|button| Event::PointerButton {
                pos: button.center(),
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            })
        };
        match self.step {
            Step::Enter => {
                if let (Some(button), Some(event)) = (view.button, press(true)) {
                    screen.pretend(Event::PointerMoved(button.center()));
                    screen.pretend(event);
                    self.step = Step::Press {
                        drawn: screen.drawn,
                    };
                }
            }
            Step::Press { drawn } => {
                if screen.drawn > drawn
                    && let Some(event) = press(false)
                {
                    screen.pretend(event);
                    screen.pretend(Event::PointerGone);
                    self.step = Step::Wait;
                }
            }
            Step::Wait => {
                let has_ended = matches!(view.state, State::Ended { .. });
                if has_ended && screen.is_at_rest() {
                    let until = Instant::now() + IDLE;
                    let drawn = screen.drawn;
                    self.step = Step::Rest {
                        until,
                        drawn,
                        rounds,
                    };
                    return Next::Continue(Some(until));
                }
            }
            Step::Rest {
                until,
                drawn,
                rounds: before,
            } => {
                if Instant::now() < until {
                    return Next::Continue(Some(until));
                }
                return Next::Leave(Rest {
                    drawings: screen.drawn - drawn,
                    rounds: rounds - before,
                });
            }
        }
        Next::Continue(None)
    }
}
