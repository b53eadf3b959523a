//! Rows as objects of AMF0.

use super::{Column, Layout, count_rows};
use crate::EncodeError;
use crate::amf0::{self, Encoder, Name, OBJECT, OBJECT_TAIL};

impl Encoder<'_> {
    /// Writes objects within an array: as many as each of the columns has cells, with its names as the names of their
    /// properties. It takes less time than object by object.
    ///
    /// # Errors
    ///
    /// Not within an array without names, or one that expects fewer values; another number of columns than of names, columns of
    /// different lengths, a text of 4 GiB or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::amf0::{Encoder, Name, Value, decode};
    /// use tamtam_amf::recordset::Column;
    ///
    /// let names = [Name::new("id")?, Name::new("colour")?];
    /// let mut bytes = Vec::new();
    /// let mut encoder = Encoder::new(&mut bytes);
    /// encoder.begin_strict_array(3)?;
    /// encoder.write_objects(&names, &[Column::U16(&[1, 2, 3]), Column::Text(&["red", "green", "blue"])])?;
    /// encoder.end()?;
    /// encoder.finish()?;
    ///
    /// let Value::StrictArray(rows) = decode(&bytes, Default::default())? else { panic!() };
    /// assert_eq!(rows[1].get("colour"), Some(&"green".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_objects(
        &mut self,
        names: &[Name],
        columns: &[Column<'_>],
    ) -> Result<(), EncodeError> {
        match names.len() {
            fewer if fewer < columns.len() => return Err(EncodeError::NoName),
            more if more > columns.len() => {
                let left = more - columns.len();
                return Err(EncodeError::FewerThanAnnounced { left });
            }
            _ => {}
        }
        let rows = count_rows(columns)?;
        self.begin_containers(amf0::length_of("rows", rows)?)?;
        let names = names.iter().map(Name::without_marker);
        Layout::new(&[OBJECT], columns, names, &OBJECT_TAIL).write(columns, self.out())
    }
}
