//! A channel that is drained once per frame.

use super::VERSION;
use super::channel::CHANNEL;
use crate::{Card, Contender, Measure, frames};

/// A channel that is drained once per frame, as article A's `MessageChannel` is.
#[derive(Debug, Clone, Copy)]
pub(super) struct PerFrame;

impl Contender for PerFrame {
    fn card(&self) -> Card {
        Card {
            name: "per-frame",
            version: VERSION,
            ours: true,
            about: "a channel each way that is drained once per frame: a round trip costs a frame",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        frames::measures(CHANNEL)
    }
}
