//! Makes traits known to an encoder.

use std::sync::Arc;

use super::encoder::Encoder;
use super::integer::check_name;
use super::tables::Defined;
use super::traits::{Traits, TraitsId};
use crate::EncodeError;

/// The most members that traits can name: 29 bits but the four that tell their kind.
const MAX_MEMBERS: usize = (1 << 25) - 1;

impl Encoder<'_> {
    /// Makes the traits of a class known to this encoder. They are written with the first object that has them.
    ///
    /// # Errors
    ///
    /// More than 2²⁵ − 1 members; a name of 256 MiB or more.
    pub fn define_traits(
        &mut self,
        traits: impl Into<Arc<Traits>>,
    ) -> Result<TraitsId, EncodeError> {
        let traits = traits.into();
        if let Some(last) = self.tables.last
            && Arc::ptr_eq(&self.tables.defined[last.0].traits, &traits)
        {
            return Ok(last);
        }
        let id = match self.tables.ids.get(&traits) {
            Some(&id) => TraitsId(id),
            None => self.define_new_traits(traits)?,
        };
        self.tables.last = Some(id);
        Ok(id)
    }

    /// The traits of objects of a class with these members and no others.
    #[cfg(feature = "serde")]
    pub(crate) fn traits_of(
        &mut self,
        class: &str,
        members: &[&str],
    ) -> Result<TraitsId, EncodeError> {
        if let Some(last) = self.tables.last {
            let traits = &self.tables.defined[last.0].traits;
            let same = *traits.class == *class
                && !traits.dynamic
                && traits.members.len() == members.len()
                && traits
                    .members
                    .iter()
                    .zip(members)
                    .all(|(known, member)| **known == **member);
            if same {
                return Ok(last);
            }
        }
        self.define_traits(Traits::sealed(class, members.iter().copied()))
    }

    fn define_new_traits(&mut self, traits: Arc<Traits>) -> Result<TraitsId, EncodeError> {
        if traits.members.len() > MAX_MEMBERS {
            return Err(EncodeError::TooLong {
                what: "sealed members",
                count: traits.members.len(),
                limit: MAX_MEMBERS,
            });
        }
        check_name(&traits.class)?;
        for member in &traits.members {
            check_name(member)?;
        }
        let id = self.tables.defined.len();
        self.tables.ids.insert(Arc::clone(&traits), id);
        self.tables.defined.push(Defined {
            traits,
            place: None,
        });
        Ok(TraitsId(id))
    }
}
