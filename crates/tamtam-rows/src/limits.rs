//! How much memory a decoder may take for what bytes declare.

/// How large a table a decoder may make. A decoder checks what is declared before it takes memory for it.
///
/// The default suits answers from a server that is not quite trusted, in a program that has 1 GiB of memory: 256 MiB, 100
/// million rows, 10,000 columns. While it reads, a decoder may need as many bytes as twice the limit besides, and those that it
/// reads from. Where larger tables are known to come: `Limits { bytes: 4 << 30, ..Limits::default() }`.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{Column, DecodeError, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U8)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u8; 100])])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Packed, &mut bytes)?;
///
/// let few = Limits { rows: 99, ..Limits::default() };
/// assert!(matches!(packed::decode(&bytes, &few), Err(DecodeError::Limit { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the decoded columns in memory.
    pub bytes: u64,
    /// The rows.
    pub rows: u64,
    /// The columns.
    pub columns: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 1 << 28,
            rows: 100_000_000,
            columns: 10_000,
        }
    }
}

impl Limits {
    /// No limit at all, for what comes from oneself.
    pub const NONE: Limits = Limits {
        bytes: u64::MAX,
        rows: u64::MAX,
        columns: usize::MAX,
    };
}
