//! What was learned of the answers that were looked at: by method, by how fast the link was, by the form that was sent.

use std::collections::BTreeMap;
use std::time::Duration;

use tamtam_rows::CompressionKind;

use crate::exchange::Sent;
use crate::protocol::rest::Form;
use crate::weigh::Weighed;

/// An answer that was looked at.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) protocol: &'static str,
    /// The method gives a list of objects that are all alike, and could give a table.
    pub(super) could_be_table: bool,
    pub(super) bytes_per_second: Option<f64>,
    pub(super) sent: Sent,
    pub(super) compression: CompressionKind,
    pub(super) forms: Vec<Weighed>,
    /// The forms were weighed by some of its rows.
    pub(super) estimate: Option<Estimate>,
}

/// By how many rows an answer was estimated that has more of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) rows: u64,
    pub(super) of_rows: u64,
}

impl Estimate {
    pub(super) fn factor(self) -> f64 {
        self.of_rows as f64 / self.rows as f64
    }
}

/// How fast a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    /// Up to so many Mbit/s.
    UpTo(u32),
    /// Faster than all of these.
    Faster,
    /// It has never held the server up.
    Unseen,
}

/// Mbit/s between the classes of links.
const CLASSES: [u32; 4] = [1, 10, 100, 1_000];

impl Link {
    pub(super) fn of(bytes_per_second: Option<f64>) -> Link {
        let Some(speed) = bytes_per_second else {
            return Link::Unseen;
        };
        let megabits = speed * 8.0 / 1e6;
        let class = CLASSES
            .into_iter()
            .find(|&most| megabits <= f64::from(most));
        class.map_or(Link::Faster, Link::UpTo)
    }

    /// In words.
    pub(super) fn name(self) -> String {
        match self {
            Link::UpTo(1) => "up to 1 Mbit/s".to_owned(),
            Link::UpTo(most) => format!("{} to {most} Mbit/s", most / 10),
            Link::Faster => "more than 1000 Mbit/s".to_owned(),
            Link::Unseen => "not seen: no answer has filled it".to_owned(),
        }
    }
}

/// All answers of one method, in one form, over links of one class.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) protocol: &'static str,
    pub(super) could_be_table: bool,
    pub(super) samples: u64,
    /// By what clients would have answers compressed; nothing if none reads any.
    pub(super) accepted: Option<CompressionKind>,
    pub(super) plain_bytes: u64,
    pub(super) wire_bytes: u64,
    pub(super) compressed: u64,
    pub(super) compress: Duration,
    pub(super) compression: Option<CompressionKind>,
    pub(super) bytes_per_second: f64,
    pub(super) forms: BTreeMap<&'static str, Sums>,
    /// Answers that were estimated, by how many rows, and how many they had.
    pub(super) estimated: u64,
    pub(super) estimated_by_rows: u64,
    pub(super) estimated_rows: u64,
}

/// The sums of a form's figures, over as many answers as could be written so.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) samples: u64,
    pub(super) bytes: u64,
    pub(super) encode: Duration,
    pub(super) compressed_bytes: u64,
    pub(super) compress: Duration,
}

/// All groups. There are as many as methods, classes and forms, whatever comes.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) groups: BTreeMap<(String, Link, &'static str), Group>,
}

impl Ledger {
    pub(super) fn add(&mut self, seen: Seen) {
        let link = Link::of(seen.bytes_per_second);
        let Some(form) = form_of(&seen) else {
            return;
        };
        let group = self.groups.entry((seen.method, link, form)).or_default();
        group.protocol = seen.protocol;
        group.could_be_table |= seen.could_be_table;
        group.samples += 1;
        group.plain_bytes += seen.sent.plain_bytes as u64;
        group.wire_bytes += seen.sent.wire_bytes as u64;
        group.compressed += u64::from(seen.sent.compression != CompressionKind::None);
        group.compress += match seen.estimate {
            // What was compressed on its way was not timed.
            Some(_)
                if seen.sent.compress.is_zero()
                    && seen.sent.compression != CompressionKind::None =>
            {
                let same = seen.forms.iter().find(|weighed| weighed.form == form);
                same.map_or(Duration::ZERO, |same| same.compress)
            }
            _ => seen.sent.compress,
        };
        if let Some(estimate) = seen.estimate
            && estimate.rows < estimate.of_rows
        {
            group.estimated += 1;
            group.estimated_by_rows += estimate.rows;
            group.estimated_rows += estimate.of_rows;
        }
        group.compression = Some(seen.compression);
        if seen.sent.accepted != CompressionKind::None {
            group.accepted = Some(seen.sent.accepted);
        }
        group.bytes_per_second += seen.bytes_per_second.unwrap_or_default();
        for weighed in seen.forms {
            let sums = group.forms.entry(weighed.form).or_default();
            sums.samples += 1;
            sums.bytes += weighed.bytes as u64;
            sums.encode += weighed.encode;
            sums.compressed_bytes += weighed.compressed_bytes as u64;
            sums.compress += weighed.compress;
        }
    }
}

/// The form that was sent.
fn form_of(seen: &Seen) -> Option<&'static str> {
    match seen.protocol {
        "json-rpc" => return Some("json-rpc"),
        "xml-rpc" => return Some("xml-rpc"),
        // Which of AMF's forms it was tells its size.
        "amf" => {
            let of_amf = seen
                .forms
                .iter()
                .filter(|weighed| weighed.form.starts_with("amf"));
            let nearest =
                of_amf.min_by_key(|weighed| weighed.bytes.abs_diff(seen.sent.plain_bytes));
            return nearest.map(|weighed| weighed.form);
        }
        _ => {}
    }
    let forms = [
        (Form::Json, "json"),
        (Form::Packed, "packed"),
        (Form::Arrow, "arrow"),
        (Form::Parquet, "parquet"),
        (Form::JsonLines, "jsonl"),
        (Form::MessagePack, "msgpack"),
        (Form::Csv, "csv"),
    ];
    let sent = forms
        .into_iter()
        .find(|(form, _)| form.content_type().name() == seen.sent.content_type);
    sent.map(|(_, name)| name)
}
