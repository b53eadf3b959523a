//! References, replaced by copies of what they mean.
//!
//! A decoder builds a tree first, with the references in it as they came. Most trees have none, and then that is all.
//! Otherwise the tree is walked once more in the order in which it was written, so that the containers are counted as
//! their sender counted them. What is referred to is kept when it ends, and copied where it is meant again; each copy
//! is paid from the limits before it is made, so that a few bytes cannot unfold to a large tree.

use std::collections::{HashMap, VecDeque};

use crate::input::Input;
use crate::weight::Weight;
use crate::{Cause, DecodeError};

/// A value of either format, as the walk sees it.
pub(crate) trait Tree: Clone {
    /// The place that this value refers to, if it is a reference.
    fn reference(&self) -> Option<usize>;
    /// Whether this value has a place of its own in the table; `leaves` is [`References::leaves`].
    fn is_numbered(&self, leaves: bool) -> bool;
    /// Whether this value is a container, as the limit of depth counts them.
    fn is_container(&self) -> bool;
    /// What a copy costs.
    fn weight(&self) -> Weight;
    /// Walks over the values inside, in the order in which they are written.
    fn walk_inside(&mut self, walk: &mut Walk<'_, Self>) -> Result<(), DecodeError>;
}

/// The references of one kind that a decoder met.
#[derive(Clone, Debug)]
pub(crate) struct References<T> {
    /// Where they were, in order, and what they refer to.
    met: VecDeque<(usize, usize)>,
    /// What is referred to: `None` until it has ended.
    meant: HashMap<usize, Option<T>>,
    /// The place that the next container takes.
    next: usize,
    /// Whether dates and XML of AMF0 have places.
    pub(crate) leaves: bool,
}

impl<T> References<T> {
    /// Of a tree whose first container takes the place `first` of the table.
    pub(crate) fn from(first: usize) -> Self {
        Self {
            met: VecDeque::new(),
            meant: HashMap::new(),
            next: first,
            leaves: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.met.is_empty()
    }

    /// Takes note of a reference at a position in the input; `first` is the place of the first container here.
    pub(crate) fn note(&mut self, position: usize, index: usize) -> Result<(), DecodeError> {
        if index < self.next {
            return Input::error_at(position, Cause::Outside { index });
        }
        self.met.push_back((position, index));
        self.meant.insert(index, None);
        Ok(())
    }
}

/// The walk that replaces references.
pub(crate) struct Walk<'w, T> {
    pub(crate) references: &'w mut References<T>,
    pub(crate) account: &'w mut dyn Account,
    /// Containers around what is looked at.
    pub(crate) depth: usize,
}

/// Where copies are paid, and for trees of AMF0 what walks over the AMF3 in them.
pub(crate) trait Account {
    fn pay(&mut self, weight: &Weight, depth: usize, position: usize) -> Result<(), DecodeError>;
    fn walk_foreign(
        &mut self,
        value: &mut crate::amf3::Value,
        depth: usize,
    ) -> Result<(), DecodeError>;
}

impl<T: Tree> Walk<'_, T> {
    pub(crate) fn walk(&mut self, value: &mut T) -> Result<(), DecodeError> {
        if value.reference().is_some() {
            // Every reference of the tree was noted in this order.
            if let Some((position, index)) = self.references.met.pop_front() {
                match self.references.meant.get(&index) {
                    Some(Some(meant)) => {
                        self.account.pay(&meant.weight(), self.depth, position)?;
                        *value = meant.clone();
                    }
                    _ => return Input::error_at(position, Cause::Cycle { index }),
                }
            }
            return Ok(());
        }
        let place = self.references.next;
        let numbered = value.is_numbered(self.references.leaves);
        self.references.next += usize::from(numbered);
        let inside = usize::from(value.is_container());
        self.depth += inside;
        value.walk_inside(self)?;
        self.depth -= inside;
        if numbered && !self.references.is_empty() && self.references.meant.contains_key(&place) {
            let position = self.references.met[0].0;
            // What is kept is a copy, too.
            let weight = value.weight();
            self.account.pay(
                &Weight {
                    height: 0,
                    ..weight
                },
                self.depth,
                position,
            )?;
            self.references.meant.insert(place, Some(value.clone()));
        }
        Ok(())
    }
}
