//! What is asked and answered: a page of records, made of the request alone, so that each answer is another one and its
//! client can verify it.

use serde::{Deserialize, Serialize};

/// More records no client asks for; the server does not trust it.
const RECORDS_LIMIT: u64 = 10_000;

/// A request: a page of a set of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "gateway", derive(schemars::JsonSchema))]
pub(crate) struct Request {
    /// Which set.
    pub(super) set: u64,
    /// The first record's number.
    pub(super) offset: u64,
    /// How many records.
    pub(super) limit: u64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "gateway", derive(schemars::JsonSchema))]
pub(crate) struct Page {
    pub(super) set: u64,
    pub(super) offset: u64,
    pub(super) records: Vec<Record>,
}

/// A record, as a board has them on which users place coloured things.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "gateway", derive(schemars::JsonSchema))]
pub(crate) struct Record {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) colour: u32,
}

/// Answers a request: what every server does. A request that cannot be read has an empty answer.
#[must_use]
pub fn answer(request: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<Request>(request)
        .ok()
        .and_then(|request| serde_json::to_vec(&request.page()).ok())
        .unwrap_or_default()
}

impl Request {
    /// What is due.
    pub(crate) fn page(self) -> Page {
        let numbers = (0..self.limit.min(RECORDS_LIMIT)).map(|number| self.offset + number);
        Page {
            set: self.set,
            offset: self.offset,
            records: numbers
                .map(|id| PageDue::of(self.set, id))
                .map(|due| due.record())
                .collect(),
        }
    }

    /// Looks at every field of `page`.
    ///
    /// # Errors
    /// Something is not what is due; says what.
    pub(super) fn verify(self, page: &Page) -> Result<(), String> {
        if (page.set, page.offset) != (self.set, self.offset) {
            return Err(format!(
                "the page of set {} from {} came where that of set {} from {} was due",
                page.set, page.offset, self.set, self.offset
            ));
        }
        if page.records.len() as u64 != self.limit {
            return Err(format!(
                "{} records came where {} were due",
                page.records.len(),
                self.limit
            ));
        }
        for (record, id) in page.records.iter().zip(self.offset..) {
            let due = PageDue::of(self.set, id);
            if !due.is(record) {
                return Err(format!("{record:?} came where {:?} was due", due.record()));
            }
        }
        Ok(())
    }
}

/// What a record is to hold. Its name is in two parts, so that a record can be compared without making another one.
struct PageDue {
    id: u64,
    name: [&'static str; 2],
    x: f64,
    y: f64,
    colour: u32,
}

impl PageDue {
    fn of(set: u64, id: u64) -> Self {
        let mixed = mix(set.rotate_left(32) ^ id);
        let bits = |from: u32, count: u32| (mixed >> from) & ((1 << count) - 1);
        // Quarters, which JSON carries exactly.
        let coordinate = |bits: u64| (bits as f64 - 8192.0) / 4.0;
        PageDue {
            id,
            name: [FIRST[bits(0, 3) as usize], LAST[bits(3, 3) as usize]],
            x: coordinate(bits(6, 14)),
            y: coordinate(bits(20, 14)),
            colour: bits(34, 24) as u32,
        }
    }

    fn record(&self) -> Record {
        Record {
            id: self.id,
            name: self.name.concat(),
            x: self.x,
            y: self.y,
            colour: self.colour,
        }
    }

    fn is(&self, record: &Record) -> bool {
        let [first, last] = self.name;
        record.id == self.id
            && record.name.strip_prefix(first) == Some(last)
            && record.x == self.x
            && record.y == self.y
            && record.colour == self.colour
    }
}

const FIRST: [&str; 8] = [
    "amber ", "brave ", "calm ", "distant ", "early ", "faint ", "gentle ", "hollow ",
];
const LAST: [&str; 8] = [
    "anchor", "beacon", "canyon", "drum", "echo", "ferry", "garden", "harbour",
];

/// The last step of Steele, Lea and Flood's generator ("Fast splittable pseudorandom number generators", 2014): each bit of
/// the number changes half of the result's.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
