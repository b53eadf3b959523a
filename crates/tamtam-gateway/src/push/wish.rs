//! What a subscriber wants of a topic or property, and how much it may be behind.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which values a subscriber gets.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Policy, Wish};
///
/// let wish = Wish::new().policy(Policy::LatestOfEachKey);
/// assert_eq!(serde_json::to_value(&wish)?["policy"], "latest_of_each_key");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Each value, one by one.
    #[default]
    All,
    /// The newest value, whenever the client has room for it: those between are passed over.
    Latest,
    /// The newest value of each key that has changed; for topics with keys.
    LatestOfEachKey,
    /// Each value, those of an interval together: in one message, or in several where they have more than about 16 KiB.
    Batches,
}

/// What becomes of a subscriber of [`Policy::All`] or [`Policy::Batches`] that is farther behind than it may be.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{WhenBehind, Wish};
///
/// let wish = Wish::new().most_messages(100).when_behind(WhenBehind::Close);
/// # drop(wish);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenBehind {
    /// The oldest values that it has not got are passed over, and counted.
    #[default]
    Drop,
    /// Its connection is closed.
    Close,
}

/// In which form a subscriber gets the values.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{PushForm, Wish};
///
/// let wish = Wish::new().form(PushForm::Packed);
/// # drop(wish);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushForm {
    /// JSON, in frames of text.
    #[default]
    Json,
    /// Packed rows, in binary frames: for tables, over a WebSocket.
    Packed,
}

/// What a subscriber wants: which values, in which form, from where on, and how far it may be behind.
///
/// These are the parameters of the method `subscribe` on a WebSocket, and of the query of `/events/NAME`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_gateway::{Policy, Wish};
///
/// let wish = Wish::new().policy(Policy::Latest).interval(Duration::from_millis(100));
/// let query = serde_json::json!({"policy": "latest", "interval_ms": 100});
/// assert_eq!(wish, serde_json::from_value(query)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wish {
    pub(crate) policy: Policy,
    #[serde(skip_serializing_if = "is_usual")]
    pub(crate) when_behind: WhenBehind,
    #[serde(skip_serializing_if = "is_usual")]
    pub(crate) form: PushForm,
    /// Milliseconds from one look for values to the next, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) most_messages: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) most_bytes: Option<usize>,
    /// The number that was seen last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<u64>,
    /// The run of the server that the number is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Wish {
    /// How many values a subscriber may be behind, unless it says otherwise.
    pub const USUAL_MOST_MESSAGES: usize = 1_000;
    /// How many bytes of values a subscriber may be behind, unless it says otherwise.
    pub const USUAL_MOST_BYTES: usize = 256 << 10;
    /// From one look for the values of [`Policy::Batches`] to the next, unless another one is asked for.
    pub const USUAL_INTERVAL: Duration = Duration::from_millis(100);

    /// All values from now on, in JSON; one that is farther behind than usual loses the oldest.
    #[must_use]
    pub fn new() -> Wish {
        Wish::default()
    }

    /// Which values.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Wish {
        self.policy = policy;
        self
    }

    /// What to do when it is too far behind.
    #[must_use]
    pub fn when_behind(mut self, then: WhenBehind) -> Wish {
        self.when_behind = then;
        self
    }

    /// In which form.
    #[must_use]
    pub fn form(mut self, form: PushForm) -> Wish {
        self.form = form;
        self
    }

    /// So long from one look for values to the next, at least: what came meanwhile is sent together, or passed over, as the
    /// policy has it. In milliseconds.
    ///
    /// What an interval gathers is what the subscriber is behind: where that is more than usual, it wants larger bounds
    /// ([`most_messages`](Wish::most_messages), [`most_bytes`](Wish::most_bytes)), and a topic that keeps as much.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Wish {
        self.interval_ms = Some(u64::try_from(interval.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// So many values it may be behind. What the server keeps of the topic is a bound, too.
    #[must_use]
    pub fn most_messages(mut self, messages: usize) -> Wish {
        self.most_messages = Some(messages);
        self
    }

    /// So many bytes of values it may be behind. What the server keeps of the topic is a bound, too.
    #[must_use]
    pub fn most_bytes(mut self, bytes: usize) -> Wish {
        self.most_bytes = Some(bytes);
        self
    }

    /// Goes on behind the number that was seen last: what is kept of what came since is sent again, and what is not is
    /// counted as missed. With 0 all that is kept comes, of a topic with keys the newest value of each.
    #[must_use]
    pub fn after(mut self, number: u64) -> Wish {
        self.after = Some(number);
        self
    }

    /// The number that was seen last is of this run of the server. In another run numbers begin anew, and what is kept
    /// comes from its beginning.
    #[must_use]
    pub fn run(mut self, run: impl Into<String>) -> Wish {
        self.run = Some(run.into());
        self
    }

    /// Whether the run that it names can be one of any server.
    pub(crate) fn has_run_of_a_server(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.len() <= LONGEST_RUN)
    }

    pub(crate) fn pause(&self) -> Option<Duration> {
        match (self.interval_ms, self.policy) {
            (Some(milliseconds), _) => Some(Duration::from_millis(milliseconds.min(LONGEST_MS))),
            (None, Policy::Batches) => Some(Wish::USUAL_INTERVAL),
            (None, _) => None,
        }
    }

    pub(crate) fn lag(&self) -> Lag {
        Lag {
            messages: self.most_messages.unwrap_or(Wish::USUAL_MOST_MESSAGES),
            bytes: self.most_bytes.unwrap_or(Wish::USUAL_MOST_BYTES),
        }
    }

    /// How far behind it is closed.
    pub(crate) fn closes(&self) -> Option<Lag> {
        (self.when_behind == WhenBehind::Close).then(|| self.lag())
    }
}

/// Bytes of the name of a run, at most.
const LONGEST_RUN: usize = 64;

/// An interval is at most a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1_000;

/// How far a subscriber may be behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}
