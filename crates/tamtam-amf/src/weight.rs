//! What a copy of a value costs, by which references are paid.

/// What a copy of a value costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    pub(crate) values: usize,
    /// Of text and content.
    pub(crate) bytes: usize,
    /// Containers within each other.
    pub(crate) height: usize,
}

impl Weight {
    /// Takes in the weight of a value inside.
    pub(crate) fn add(&mut self, child: Weight) {
        self.values += child.values;
        self.bytes += child.bytes;
        self.height = self.height.max(child.height);
    }
}
