//! Values that stand for themselves: without a place in a table, and with nothing inside.

/// A value of either format that stands for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar<'a> {
    /// Null or undefined.
    Null,
    Boolean(bool),
    /// Of AMF3.
    Integer(i32),
    Number(f64),
    Text(&'a str),
}
