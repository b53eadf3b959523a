//! What the packed encoding is to be good for.

/// What the packed encoding aims at.
///
/// Each mode saves bytes of the next for more work. On ten tables of 1,000 rows, with a reader in Rust and no compressor behind,
/// `Small` was ready first below 45 to 480 Mbit/s, and `Plain` from 4.2 to 42 Gbit/s on, soonest where texts are many.
/// `Plan::for_link` (feature `compression`) tells the mode for a table and a link, and the compressor behind it.
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
    /// Smaller by some hundredths, or up to two fifths where texts are many, for 1.5 to 17 times the time: mixed radix, and an entropy coder
    /// wherever it saves something.
    Small,
    /// Every value at its full width, where it can be read in place.
    Plain,
    /// Small where it pays on a link of so many bits a second, packed elsewhere: for each column, what is saved on
    /// the link is weighed against the time that this takes on both sides, on a usual server, and with a reader in Rust or in
    /// a browser, of which the latter needs longer. From 500 Mbit/s on that is hardly ever more than `Packed` takes, too.
    Link(u64),
}

impl Mode {
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
