//! Ways of publishing the latest value.

/// A way of publishing the latest value: it is set by one and read by others, and neither side waits for the other.
pub trait Latest<V>: Copy + Send + Sync + 'static {
    /// What sets it.
    type Writer: SetLatest<V>;
    /// What reads it.
    type Reader: GetLatest<V>;

    /// A fresh place that holds `first`.
    fn open(&self, first: V) -> (Self::Writer, Self::Reader);
}

/// The side of a [`Latest`] that sets the value.
pub trait SetLatest<V>: Send + 'static {
    /// Puts `value` in place of the one before.
    fn set(&mut self, value: V);
}

/// The side of a [`Latest`] that reads the value.
pub trait GetLatest<V>: Send + 'static {
    /// A copy of the value, at least as new as the last one whose `set` had returned before.
    fn get(&mut self) -> V;
}
