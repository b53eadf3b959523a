/// What the packed encoding aims at.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{Column, Field, Kind, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U32)])?;
/// let rows = Rows::new(schema, [Column::from((0..1_000_u32).map(|n| n % 50).collect::<Vec<_>>())])?;
/// let length = |mode| {
///     let mut bytes = Vec::new();
///     packed::encode(&rows, mode, &mut bytes).unwrap();
///     bytes.len()
/// };
/// assert!(length(Mode::Small) <= length(Mode::Packed));
/// assert!(length(Mode::Packed) < length(Mode::Plain));
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Small at the speed of memory: the least time from one program to another over fast links.
    #[default]
    Packed,
    /// Smaller by some hundredths, for two to three times the time: mixed radix, and an entropy coder wherever it
    /// saves something.
    Small,
    /// Every value at its full width, where it can be read in place.
    Plain,
    /// Small where it pays on a link of so many bits a second, packed elsewhere: for each column, what is saved on
    /// the link is weighed against the time that this takes on both sides. [`Mode::for_link`] says when.
    Link(u64),
}

/// Below this speed in bits a second, bytes are what counts.
const LINK_FROM: u64 = 20_000_000;
/// From this speed on, no codec of the small mode is worth its time but those that the packed mode takes, too.
const PACKED_FROM: u64 = 500_000_000;
/// From this speed on, work is what counts.
const PLAIN_FROM: u64 = 5_000_000_000;

impl Mode {
    /// The mode in which a table is ready first behind a link of this speed, in bits a second: small below 20 Mbit/s,
    /// plain from 5 Gbit/s on; between, small where it pays at this speed, which is nowhere from 500 Mbit/s on.
    ///
    /// Each mode saves bytes of the next for more work. Whether a column is worth the work of the small mode is decided when
    /// it is encoded, by what that takes on a usual server and with a reader in Rust or in a browser, of which the latter
    /// needs longer. Whether the plain mode pays is decided by the speed alone: on ten tables of the lab it did so from 4.2
    /// to 42 Gbit/s on, soonest for tables of many texts. Where it matters, try `tamtam rows` on the table.
    ///
    /// ```
    /// use tamtam_rows::packed::Mode;
    ///
    /// assert_eq!(Mode::for_link(8_000_000), Mode::Small);
    /// assert_eq!(Mode::for_link(100_000_000), Mode::Link(100_000_000));
    /// assert_eq!(Mode::for_link(1_000_000_000), Mode::Packed);
    /// assert_eq!(Mode::for_link(u64::MAX), Mode::Plain); // within a machine
    /// ```
    #[must_use]
    pub const fn for_link(bits_per_second: u64) -> Mode {
        match bits_per_second {
            0..LINK_FROM => Mode::Small,
            LINK_FROM..PACKED_FROM => Mode::Link(bits_per_second),
            PACKED_FROM..PLAIN_FROM => Mode::Packed,
            PLAIN_FROM.. => Mode::Plain,
        }
    }

    /// Whether codecs are tried that save little for their time.
    pub(super) fn tries_hard(self) -> bool {
        matches!(self, Mode::Small | Mode::Link(_))
    }

    /// How many bits on the link take as long as so many nanoseconds of work: none where only bytes count.
    pub(super) fn bits_in(self, nanoseconds: f64) -> f64 {
        match self {
            Mode::Small => 0.0,
            Mode::Link(bits_per_second) => nanoseconds * bits_per_second as f64 / 1e9,
            Mode::Packed | Mode::Plain => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mode;
    use crate::packed::{decode, encode};
    use crate::{Column, Field, Kind, Limits, Rows, Schema};

    #[test]
    fn the_faster_the_link_the_less_the_work() {
        let modes = [
            0,
            19_999_999,
            20_000_000,
            499_999_999,
            500_000_000,
            4_999_999_999,
            5_000_000_000,
        ]
        .map(Mode::for_link);
        assert_eq!(
            modes,
            [
                Mode::Small,
                Mode::Small,
                Mode::Link(20_000_000),
                Mode::Link(499_999_999),
                Mode::Packed,
                Mode::Packed,
                Mode::Plain
            ]
        );
    }

    /// Two columns: packing wastes half a bit a value of the one, a twentieth of the other.
    fn table() -> Rows {
        let schema = Schema::new([
            Field::new("much", Kind::U16),
            Field::new("little", Kind::U16),
        ]);
        // No pattern that another codec finds: squares modulo a prime.
        let column = |prime: u64| {
            let values = (1..=1000_u64).map(|n| (n * n % 1_000_003 * n % prime) as u16);
            Column::from(values.collect::<Vec<_>>())
        };
        Rows::new(schema.unwrap(), [column(359), column(907)]).unwrap()
    }

    fn length(rows: &Rows, mode: Mode) -> usize {
        let mut bytes = Vec::new();
        encode(rows, mode, &mut bytes).unwrap();
        assert_eq!(&decode(&bytes, &Limits::NONE).unwrap(), rows);
        bytes.len()
    }

    #[test]
    fn a_column_is_small_where_that_pays_on_the_link() {
        let rows = table();
        let small = length(&rows, Mode::Small);
        let packed = length(&rows, Mode::Packed);
        let on = |megabits: u64| length(&rows, Mode::Link(megabits * 1_000_000));
        assert_eq!(on(1), small);
        assert_eq!(on(10_000), packed);
        // Between, it is one column of the two.
        let between = on(40);
        assert!(
            small < between && between < packed,
            "{small}, {between}, {packed}"
        );
        let lengths: Vec<usize> = [1, 5, 20, 40, 100, 200, 500, 10_000].map(on).to_vec();
        assert!(lengths.is_sorted(), "{lengths:?}");
    }
}
