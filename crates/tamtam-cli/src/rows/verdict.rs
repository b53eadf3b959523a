use std::time::Duration;

use tamtam_rows::packed::{Mode, Packed};
use tamtam_rows::{CompressionKind, Encoding};

use super::trial::{Cost, Trial};

/// The links that the verdict speaks of, in megabits a second.
pub(super) const LINKS: [u32; 4] = [1, 8, 100, 1_000];

/// What to send over a link.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) link: u32,
    pub(super) form: &'static str,
    pub(super) by: CompressionKind,
    pub(super) bytes: u64,
    /// Until the rows are there, and how much of it each part takes.
    pub(super) total: Duration,
    pub(super) encode: Duration,
    pub(super) transfer: Duration,
    pub(super) decode: Duration,
}

impl Choice {
    /// `packed`, or `text+zstd`.
    pub(super) fn name(&self) -> String {
        match self.by {
            CompressionKind::None => self.form.to_owned(),
            by => format!("{}+{}", self.form, by.name()),
        }
    }

    /// Why it is this one: what takes most of the time.
    pub(super) fn reason(&self) -> &'static str {
        if self.transfer >= self.encode && self.transfer >= self.decode {
            "the transfer takes longest: few bytes count"
        } else if self.encode >= self.decode {
            "encoding takes longest: its speed counts"
        } else {
            "decoding takes longest: its speed counts"
        }
    }
}

/// Our packed encoding in the mode that it chooses for a link by itself.
pub(super) fn packed_for_link(choices: &[Choice], link: u32) -> Option<&Choice> {
    let mode = Mode::for_link(u64::from(link) * 1_000_000);
    let name = Packed { mode }.name();
    let is_it = |choice: &&Choice| choice.form == name && choice.by == CompressionKind::None;
    choices.iter().find(is_it)
}

/// How long so many bytes take over a link.
pub(super) fn transfer(bytes: u64, link: u32) -> Duration {
    Duration::from_secs_f64(bytes as f64 * 8.0 / (f64::from(link) * 1e6))
}

/// Every way to send the table over a link, the fastest first.
pub(super) fn ranked(trials: &[Trial], link: u32) -> Vec<Choice> {
    let mut choices: Vec<Choice> = trials
        .iter()
        .filter_map(|trial| Some((trial.form, trial.outcome.as_ref().ok()?)))
        .flat_map(|(form, cost)| ways(form, cost, link))
        .collect();
    choices.sort_by_key(|choice| choice.total);
    choices
}

fn ways(form: &'static str, cost: &Cost, link: u32) -> Vec<Choice> {
    let way = |by, bytes, compress: Duration, decompress: Duration| {
        let (encode, decode) = (cost.encode + compress, cost.decode + decompress);
        let transfer = transfer(bytes, link);
        Choice {
            link,
            form,
            by,
            bytes,
            total: encode + transfer + decode,
            encode,
            transfer,
            decode,
        }
    };
    let plain = way(
        CompressionKind::None,
        cost.bytes,
        Duration::ZERO,
        Duration::ZERO,
    );
    let compressed = cost
        .compressed
        .iter()
        .map(|it| way(it.by, it.bytes, it.compress, it.decompress));
    std::iter::once(plain).chain(compressed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::trial::Squeezed;

    fn trial(form: &'static str, micros: u64, bytes: u64, squeezed: Option<u64>) -> Trial {
        let time = Duration::from_micros(micros);
        let compressed = squeezed.map(|bytes| Squeezed {
            by: CompressionKind::Zstd,
            bytes,
            compress: time * 10,
            decompress: time,
        });
        Trial {
            form,
            outcome: Ok(Cost {
                encode: time,
                decode: time,
                bytes,
                compressed: compressed.into_iter().collect(),
            }),
        }
    }

    #[test]
    fn a_slow_link_wants_few_bytes_and_a_fast_one_little_work() {
        let refused = Trial {
            form: "refused",
            outcome: Err("no".to_owned()),
        };
        let trials = [
            trial("large", 1, 1_000_000, Some(300_000)),
            trial("small", 5_000, 100_000, None),
            refused,
        ];
        assert_eq!(ranked(&trials, 1)[0].name(), "small");
        assert_eq!(ranked(&trials, 1_000)[0].name(), "large+zstd");
        assert_eq!(ranked(&trials, 1_000).len(), 3);
        let trials = [
            trial("packed", 10, 1_000, Some(10)),
            trial("packed-small", 20, 900, None),
        ];
        for (link, name) in [
            (1, "packed-small"),
            (8, "packed-small"),
            (100, "packed"),
            (1_000, "packed"),
        ] {
            let choices = ranked(&trials, link);
            assert_eq!(packed_for_link(&choices, link).unwrap().name(), name);
        }
        assert_eq!(transfer(1_000_000, 8), Duration::from_secs(1));
    }
}
