//! The rows about channels: which combinations of ends, payloads, capacities and styles are measured.

use crate::offer::Kind;
use crate::{Placement, Variant};

/// How many senders and receivers a channel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

const fn ends(senders: usize, receivers: usize) -> Ends {
    Ends { senders, receivers }
}

const ONE_TO_ONE: &[Ends] = &[ends(1, 1)];
const FAN_IN: &[Ends] = &[ends(4, 1)];
const SEVERAL_RECEIVERS: &[Ends] = &[ends(1, 4), ends(4, 4), ends(16, 16)];

/// How the ends are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// By threads that block, one message at a time.
    Blocking,
    /// By threads that block, in batches of up to 256 at each end that has them.
    Batches,
    /// By tasks, on a runtime with so many threads.
    Tasks(usize),
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    Bytes8,
    Bytes64,
    KiB1,
    KiB16,
    Text,
    Boxed,
}

use Payload::{Boxed, Bytes8, Bytes64, KiB1, KiB16, Text};

impl Payload {
    fn word(self) -> &'static str {
        match self {
            Bytes8 => "8B",
            Bytes64 => "64B",
            KiB1 => "1KiB",
            KiB16 => "16KiB",
            Text => "String",
            Boxed => "Box",
        }
    }

    /// How many messages a round has at most: so many that an unbounded channel stays below 200 MB.
    fn most(self) -> u64 {
        match self {
            Bytes8 | Bytes64 | Text | Boxed => 1_000_000,
            KiB1 => 100_000,
            KiB16 => 10_000,
        }
    }
}

/// How many messages a channel holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    Of(usize),
    Unbounded,
}

use Capacity::{Of, Unbounded};

impl Capacity {
    /// Whether a channel of this kind takes part.
    fn fits(self, kind: Kind) -> bool {
        (self == Unbounded) == (kind == Kind::Unbounded)
    }

    /// What a queue is opened with; one without a bound ignores it.
    pub(super) fn messages(self) -> usize {
        match self {
            Of(messages) => messages,
            Unbounded => 0,
        }
    }
}

/// What is crossed with what.
struct Group {
    ends: &'static [Ends],
    style: Style,
    payloads: &'static [Payload],
    capacities: &'static [Capacity],
}

/// Not every combination is a row: only those that users meet, and that differ. A batch has one receiver, since one of
/// several could take the mark at which another is to stop.
const GROUPS: &[Group] = &[
    Group {
        ends: ONE_TO_ONE,
        style: Style::Blocking,
        payloads: &[Bytes8, Bytes64, KiB1, KiB16, Text, Boxed],
        capacities: &[Of(16), Of(1000), Unbounded],
    },
    Group {
        ends: ONE_TO_ONE,
        style: Style::Blocking,
        payloads: &[Bytes8, Text],
        capacities: &[Of(1)],
    },
    Group {
        ends: FAN_IN,
        style: Style::Blocking,
        payloads: &[Bytes8, KiB1, Text],
        capacities: &[Of(16), Of(1000), Unbounded],
    },
    Group {
        ends: SEVERAL_RECEIVERS,
        style: Style::Blocking,
        payloads: &[Bytes8, Text],
        capacities: &[Of(1000), Unbounded],
    },
    Group {
        ends: SEVERAL_RECEIVERS,
        style: Style::Blocking,
        payloads: &[Bytes8],
        capacities: &[Of(16)],
    },
    Group {
        ends: ONE_TO_ONE,
        style: Style::Batches,
        payloads: &[Bytes8, KiB1, Text],
        capacities: &[Of(16), Of(1000), Unbounded],
    },
    Group {
        ends: FAN_IN,
        style: Style::Batches,
        payloads: &[Bytes8, Text],
        capacities: &[Of(1000), Unbounded],
    },
    Group {
        ends: ONE_TO_ONE,
        style: Style::Tasks(1),
        payloads: &[Bytes8, Text],
        capacities: &[Of(1), Of(16), Of(1000), Unbounded],
    },
    Group {
        ends: ONE_TO_ONE,
        style: Style::Tasks(2),
        payloads: &[Bytes8, Text],
        capacities: &[Of(1), Of(16), Of(1000), Unbounded],
    },
    Group {
        ends: FAN_IN,
        style: Style::Tasks(2),
        payloads: &[Bytes8],
        capacities: &[Of(16), Of(1000), Unbounded],
    },
    Group {
        ends: SEVERAL_RECEIVERS,
        style: Style::Tasks(2),
        payloads: &[Bytes8],
        capacities: &[Of(16), Of(1000), Unbounded],
    },
];

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) ends: Ends,
    pub(super) style: Style,
    pub(super) payload: Payload,
    pub(super) capacity: Capacity,
}

impl Row {
    /// Its name: `1000000/2cores/1to1-8B-cap16`.
    pub(super) fn variant(self) -> Variant {
        let Ends { senders, receivers } = self.ends;
        let style = match self.style {
            Style::Blocking => "",
            Style::Batches => "batches-",
            Style::Tasks(1) => "async1-",
            Style::Tasks(_) => "async2-",
        };
        let payload = self.payload.word();
        let capacity = match self.capacity {
            Of(messages) => format!("cap{messages}"),
            Unbounded => "unbounded".to_owned(),
        };
        let placement = match (self.ends, self.style) {
            (_, Style::Tasks(1)) => Placement::OneCore,
            (_, Style::Tasks(_)) => Placement::TwoCores,
            (
                Ends {
                    senders: 1,
                    receivers: 1,
                },
                _,
            ) => Placement::TwoCores,
            _ => Placement::Free,
        };
        Variant::new(self.payload.most(), placement).with_extra(format!(
            "{senders}to{receivers}-{style}{payload}-{capacity}"
        ))
    }
}

/// Which ends a contender's queue can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    OneToOne,
    FanIn,
    Many,
}

impl Shape {
    fn of(ends: Ends) -> Self {
        match ends {
            Ends {
                senders: 1,
                receivers: 1,
            } => Shape::OneToOne,
            Ends { receivers: 1, .. } => Shape::FanIn,
            _ => Shape::Many,
        }
    }
}

/// The rows of this style in which a channel of such a kind takes part, of this shape.
pub(super) fn rows(
    shape: Shape,
    kind: Kind,
    wanted: fn(Style) -> bool,
) -> impl Iterator<Item = Row> {
    all().filter(move |row| {
        Shape::of(row.ends) == shape && row.capacity.fits(kind) && wanted(row.style)
    })
}

/// All rows about channels, in the order of their groups.
pub(super) fn all() -> impl Iterator<Item = Row> {
    GROUPS.iter().flat_map(|group| {
        group.ends.iter().flat_map(move |&ends| {
            group.payloads.iter().flat_map(move |&payload| {
                group.capacities.iter().map(move |&capacity| Row {
                    ends,
                    style: group.style,
                    payload,
                    capacity,
                })
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_row_is_named_after_what_it_is() {
        let names: Vec<String> = all().map(|row| row.variant().to_string()).collect();
        for name in [
            "1000000/2cores/1to1-8B-cap16",
            "10000/2cores/1to1-16KiB-unbounded",
            "1000000/free/16to16-String-cap1000",
            "1000000/free/4to1-batches-8B-unbounded",
            "1000000/1core/1to1-async1-8B-cap1",
            "1000000/2cores/4to4-async2-8B-cap1000",
        ] {
            assert!(
                names.iter().any(|other| other == name),
                "{name} in {names:?}"
            );
        }
        let unique: HashSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "a row is declared twice");
    }

    #[test]
    fn a_payload_has_the_word_of_its_packet() {
        use crate::{Packet, Packet1K, Packet8, Packet16K, Packet64};
        for (payload, size) in [
            (Bytes8, Packet8::SIZE),
            (Bytes64, Packet64::SIZE),
            (KiB1, Packet1K::SIZE),
            (KiB16, Packet16K::SIZE),
            (Text, <String as Packet>::SIZE),
            (Boxed, <Box<Packet64> as Packet>::SIZE),
        ] {
            assert_eq!(payload.word(), size);
        }
    }

    #[test]
    fn a_batch_has_one_receiver() {
        assert!(
            all().all(|row| row.style != Style::Batches || row.ends.receivers == 1),
            "one of several would take the marks of the others"
        );
    }
}
