/// How large a table a decoder may make. A decoder checks what is declared before it takes memory for it.
///
/// The default suits answers from a server that is not quite trusted: 1 GiB, 100 million rows, 10,000 columns.
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
            bytes: 1 << 30,
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
