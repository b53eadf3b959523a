//! What to send over a link, from what each way costs.

use tamtam_rows::CompressionKind;

use super::trial::{Cost, Trial};
use tamtam_lab::rows::Link;

/// What to send over a link.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) form: &'static str,
    pub(super) by: CompressionKind,
    pub(super) bytes: u64,
    /// Microseconds until the rows are there, and how many of them each part takes.
    pub(super) total: f64,
    pub(super) encode: f64,
    pub(super) transfer: f64,
    pub(super) decode: f64,
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

/// Every way to send the table over a link, the fastest first.
pub(super) fn ranked(trials: &[Trial], link: Link) -> Vec<Choice> {
    let mut choices: Vec<Choice> = trials
        .iter()
        .filter_map(|trial| Some((trial.form, trial.outcome.as_ref().ok()?)))
        .flat_map(|(form, cost)| ways(form, cost, link))
        .collect();
    choices.sort_by(|one, other| one.total.total_cmp(&other.total));
    choices
}

fn ways(form: &'static str, cost: &Cost, link: Link) -> Vec<Choice> {
    let way = |by, bytes: u64, compress: f64, expand: f64| {
        let (encode, decode) = (cost.encode + compress, cost.decode + expand);
        Choice {
            form,
            by,
            bytes,
            total: link.ready(encode, bytes as f64, decode),
            encode,
            transfer: link.microseconds(bytes as f64),
            decode,
        }
    };
    let plain = way(CompressionKind::None, cost.bytes, 0.0, 0.0);
    let compressed = cost
        .compressed
        .iter()
        .map(|it| way(it.by, it.bytes, it.compress, it.expand));
    std::iter::once(plain).chain(compressed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::trial::Squeezed;
    use tamtam_lab::rows::LINKS;

    fn trial(form: &'static str, micros: f64, bytes: u64, squeezed: Option<u64>) -> Trial {
        let compressed = squeezed.map(|bytes| Squeezed {
            by: CompressionKind::Zstd,
            bytes,
            compress: micros * 10.0,
            expand: micros,
        });
        Trial {
            form,
            outcome: Ok(Cost {
                encode: micros,
                decode: micros,
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
            trial("large", 1.0, 1_000_000, Some(300_000)),
            trial("small", 5_000.0, 100_000, None),
            refused,
        ];
        assert_eq!(ranked(&trials, LINKS[0])[0].name(), "small");
        let choices = ranked(&trials, LINKS[3]);
        assert_eq!(choices[0].name(), "large+zstd");
        assert_eq!(choices.len(), 3);
        // 1 µs to encode and 10 to compress, 2,400,000 bits, 1 µs to expand and 1 to decode.
        assert_eq!(choices[0].total, 2_413.0);
    }
}
