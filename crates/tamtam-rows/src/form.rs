//! What all forms of a table have in common.

use crate::{DecodeError, EncodeError, Limits, Rows, Schema};

/// A form that a table can take as bytes.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{Mode, Packed};
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// /// How long a table is in some form, and whether it comes back as it was.
/// fn try_form(form: &dyn Encoding, rows: &Rows) -> Result<usize, Box<dyn std::error::Error>> {
///     let mut bytes = Vec::new();
///     form.encode(rows, &mut bytes)?;
///     let back = form.decode(&bytes, Some(rows.schema()), &Limits::default())?;
///     assert_eq!(&back, rows, "{} has changed it", form.name());
///     Ok(bytes.len())
/// }
///
/// let schema = Schema::new([Field::new("n", Kind::U32)])?;
/// let rows = Rows::new(schema, [Column::from((0..1000).collect::<Vec<u32>>())])?;
/// let [packed, plain] = [Mode::Packed, Mode::Plain].map(|mode| try_form(&Packed { mode }, &rows));
/// assert!(packed? < plain? / 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Encoding: Send + Sync {
    /// Its name: lower case, words joined by a hyphen.
    fn name(&self) -> &'static str;

    /// Whether the bytes say of themselves what the columns are called and of which types they are. Those that do not
    /// are decoded with the schema that [`decode`](Encoding::decode) is given.
    fn describes_itself(&self) -> bool;

    /// Writes a table behind what is in `out`.
    ///
    /// # Errors
    /// If the form cannot carry the table; what is in `out` behind its former end is then of no use.
    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// The table in these bytes. A schema, where given, is what the table must have.
    ///
    /// # Errors
    /// If the bytes are damaged, exceed the limits, or hold another table; and
    /// [`DecodeError::NeedsSchema`] if none is given and the form needs one.
    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError>;
}
