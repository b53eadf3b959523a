//! What the objects of a class have in common, written once.

use std::sync::Arc;

/// What the objects of a class have in common: AMF3 writes it with the first of them and refers to it afterwards.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::Traits;
///
/// let row = Traits::sealed("", ["x", "y"]);
/// assert_eq!(row.members.len(), 2);
/// assert!(!row.dynamic);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Traits {
    /// The name of the class; empty for none.
    pub class: Arc<str>,
    /// Whether an object may have properties beside those named here.
    pub dynamic: bool,
    /// The names of the sealed members: each object has a value for each, in this order.
    pub members: Vec<Arc<str>>,
}

impl Traits {
    /// Of objects with these members and no others.
    pub fn sealed<'n>(class: &str, members: impl IntoIterator<Item = &'n str>) -> Self {
        Self {
            class: class.into(),
            dynamic: false,
            members: members.into_iter().map(Into::into).collect(),
        }
    }

    /// Of objects with any properties, each with its name.
    #[must_use]
    pub fn dynamic(class: &str) -> Self {
        Self {
            class: class.into(),
            dynamic: true,
            members: Vec::new(),
        }
    }
}

/// Traits that an encoder knows, for the objects that it writes.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Encoder, Traits};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes);
/// let tile = encoder.define_traits(Traits::sealed("", ["x"]))?; // said once, with the first object
/// encoder.begin_object(tile)?;
/// encoder.write_integer(5)?;
/// encoder.end()?;
/// encoder.finish()?;
/// # Ok::<(), tamtam_amf::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraitsId(pub(super) usize);
