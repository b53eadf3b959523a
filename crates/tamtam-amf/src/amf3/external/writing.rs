//! Writes objects of externalizable classes.

use super::flex::{HAS_NEXT, Members};
use super::{Externalizable, Form, MAX_OWN_DEPTH};
use crate::EncodeError;
use crate::amf3::encoder::{Encoder, Frame};
use crate::amf3::integer::check_name;
use crate::amf3::marker::OBJECT;
use crate::amf3::value::Value;

impl Encoder<'_> {
    /// Begins an object of an externalizable class: what the class writes, [bytes](Self::write_raw) and values, then
    /// [`end`](Self::end). [`write_externalizable`](Self::write_externalizable) does all of it for a class that is known.
    ///
    /// # Errors
    ///
    /// As an array; a name of 256 MiB or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::amf3::{Encoder, decode};
    ///
    /// let mut bytes = Vec::new();
    /// let mut encoder = Encoder::new(&mut bytes);
    /// encoder.begin_externalizable("flex.messaging.io.ArrayCollection")?;
    /// encoder.begin_array(1)?;
    /// encoder.write_integer(5)?;
    /// encoder.end()?;
    /// encoder.end()?;
    /// encoder.finish()?;
    /// assert_eq!(decode(&bytes, Default::default())?.get("source"), Some(&vec![5.into()].into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_externalizable(&mut self, class: &str) -> Result<(), EncodeError> {
        check_name(class)?;
        self.open(OBJECT, Frame::External)?;
        self.tables.write_externalizable(class, self.out);
        Ok(())
    }

    /// Writes bytes as they are, in an object of an externalizable class.
    ///
    /// # Errors
    ///
    /// Not directly in such an object.
    pub fn write_raw(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        match self.frame {
            Frame::External => {
                self.out.extend_from_slice(bytes);
                Ok(())
            }
            _ => Err(EncodeError::NotExternalizable),
        }
    }

    /// Writes an object of an externalizable class as its class does it.
    ///
    /// # Errors
    ///
    /// Not the place for a value; a class that this encoder does not know; a member that the class does not have; what the
    /// class refuses.
    pub fn write_externalizable(&mut self, object: &Externalizable) -> Result<(), EncodeError> {
        let Some(form) = self.classes.find(&object.class) else {
            return Err(EncodeError::Externalizable {
                class: object.class.to_string(),
            });
        };
        self.begin_externalizable(&object.class)?;
        match form {
            Form::Flags(members) => self.write_flagged(members, object)?,
            Form::Own(own) => {
                if self.own_depth == MAX_OWN_DEPTH {
                    let limit = MAX_OWN_DEPTH;
                    return Err(EncodeError::TooDeep { limit });
                }
                let open = self.open_containers();
                self.own_depth += 1;
                (own.write)(object, self)?;
                self.own_depth -= 1;
                let left = self.open_containers();
                if left < open {
                    return Err(EncodeError::NothingOpen);
                }
                if left > open {
                    return Err(EncodeError::StillOpen { open: left - open });
                }
            }
        }
        self.end()
    }

    fn write_flagged(
        &mut self,
        members: Members,
        object: &Externalizable,
    ) -> Result<(), EncodeError> {
        let names = || members.levels.iter().flat_map(|level| level.iter());
        for (place, (name, _)) in object.members.iter().enumerate() {
            let known = names().any(|byte| byte.contains(&&**name));
            let twice = object.members[..place]
                .iter()
                .any(|(other, _)| other == name);
            if !known || twice {
                return Err(EncodeError::Member {
                    class: object.class.to_string(),
                    member: name.to_string(),
                });
            }
        }
        if members.implied && object.members.is_empty() {
            return Err(EncodeError::NotOneValue { written: 0 });
        }
        let mut there: Vec<&Value> = Vec::with_capacity(object.members.len());
        for level in members.levels {
            there.clear();
            let mut flags: Vec<u8> = Vec::with_capacity(level.len());
            for names in *level {
                let mut byte = 0;
                for (bit, name) in names.iter().enumerate() {
                    if let Some(value) = object.get(name) {
                        byte |= 1 << bit;
                        there.push(value);
                    }
                }
                flags.push(byte);
            }
            while flags.len() > 1 && flags.last() == Some(&0) {
                flags.pop();
            }
            let last = flags.len() - 1;
            for flag in &mut flags[..last] {
                *flag |= HAS_NEXT;
            }
            if !members.implied {
                self.write_raw(&flags)?;
            }
            for value in &there {
                self.write_value(value)?;
            }
        }
        Ok(())
    }
}
