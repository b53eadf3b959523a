//! On which cores the threads of an experiment run.

use std::fmt;
use std::str::FromStr;

/// Where the threads of an experiment run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Not pinned: the system chooses.
    Free,
    /// Both sides pinned to the first processor that this process may use.
    OneCore,
    /// The sides pinned to the first and the second processor that this process may use.
    TwoCores,
    /// Not pinned, with one busy-looping process a core beside it. The lab's front end starts those; to the
    /// measuring side this is [`Free`](Placement::Free).
    Hog,
}

impl Placement {
    /// Every placement, in the order in which lists show them.
    pub const ALL: [Placement; 4] = [
        Placement::Free,
        Placement::OneCore,
        Placement::TwoCores,
        Placement::Hog,
    ];

    /// The word that stands for it in a variant's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Placement::Free => "free",
            Placement::OneCore => "1core",
            Placement::TwoCores => "2cores",
            Placement::Hog => "hog",
        }
    }

    /// How many threads a pool of actors gets: one for each core of the placement.
    #[must_use]
    pub fn threads(self) -> usize {
        match self {
            Placement::OneCore => 1,
            Placement::TwoCores => 2,
            Placement::Free | Placement::Hog => {
                std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
            }
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Placement::ALL
            .into_iter()
            .find(|placement| placement.as_str() == word)
            .ok_or_else(|| format!("unknown placement {word:?}: free, 1core, 2cores or hog"))
    }
}
