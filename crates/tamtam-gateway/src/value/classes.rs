//! Which Rust type is which class of AMF.

use std::collections::{BTreeMap, BTreeSet};

/// Names of Rust types, as serde knows them, with the names of their classes. Variants of an enum are types here,
/// `Enum::Variant`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClassNames {
    of_types: BTreeMap<String, String>,
    /// The classes that write themselves.
    external: BTreeSet<String>,
}

impl ClassNames {
    pub(crate) fn add(&mut self, name: &str, class: &str) {
        self.of_types.insert(name.to_owned(), class.to_owned());
    }

    pub(crate) fn add_external(&mut self, class: &str) {
        self.external.insert(class.to_owned());
    }

    pub(crate) fn is_external(&self, class: &str) -> bool {
        self.external.contains(class)
    }

    /// The class of a type.
    pub(super) fn class_of(&self, name: &str) -> Option<&str> {
        self.of_types.get(name).map(|class| &**class)
    }

    /// The class of a variant of an enum.
    pub(super) fn class_of_variant(&self, name: &str, variant: &str) -> Option<&str> {
        self.class_of(&format!("{name}::{variant}"))
    }
}
