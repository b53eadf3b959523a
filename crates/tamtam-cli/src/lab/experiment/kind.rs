//! What contenders are like, where an experiment compares like with like.

/// A contender that shows what the hardware can do, or what the work costs without a way between two sides, rather than a
/// way that one would program in: a verdict does not rank against it. What it shows, in words, if `name` is one.
#[must_use]
pub(in crate::lab) fn limit(name: &str) -> Option<&'static str> {
    match name {
        "bare-spin" => Some("shows the limit of the hardware; it is not a way to program"),
        "direct" => Some("is a call of a function: what the work costs, for nothing goes anywhere"),
        _ => None,
    }
}

/// Whether the contender `name` cannot wait: it keeps its processor busy for as long as nothing comes, so that what waits
/// for something is not compared with it in time.
#[must_use]
pub(in crate::lab) fn spins(name: &str) -> bool {
    matches!(name, "rtrb" | "rtrb-chunks")
}

/// Contenders that take many messages at a time: where kinds are kept apart, a verdict compares them with each other and
/// not with those that take one by one.
const BATCHED: &[&str] = &[
    "channel-recv-many",
    "channel-unbounded-recv-many",
    "mpsc-recv-many",
    "mpsc-bounded-recv-many",
    "spsc-batches",
    "ipc-channel-batches",
    "kanal-drain",
    "kanal-drain-unbounded",
    "rtrb-chunks",
    "mutex-swap",
    "mutex-swap-unbounded",
    "unix-stream-batches",
];

/// The end of the names of contenders without a limit.
const UNBOUNDED: &str = "-unbounded";

/// What a contender is like, where kinds are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lab) enum Kind {
    /// It holds a limited number of messages.
    Bounded,
    /// It holds any number.
    Unbounded,
    /// It takes many messages at a time.
    Batched,
}

impl Kind {
    /// All kinds, in the order of their verdicts.
    pub(in crate::lab) const ALL: [Kind; 3] = [Kind::Bounded, Kind::Unbounded, Kind::Batched];

    /// The kind of the contender `name`.
    #[must_use]
    pub(in crate::lab) fn of(name: &str) -> Self {
        if BATCHED.contains(&name) {
            Kind::Batched
        } else if name.ends_with(UNBOUNDED) || name == "mpsc" {
            Kind::Unbounded
        } else {
            Kind::Bounded
        }
    }

    /// The peer that all programs have: the one to compare with first.
    #[must_use]
    pub(in crate::lab) fn baseline(self) -> &'static str {
        match self {
            Kind::Bounded => "std::sync::mpsc",
            Kind::Unbounded => "std::sync::mpsc-unbounded",
            Kind::Batched => "mutex-swap",
        }
    }
}
