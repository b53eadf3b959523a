//! Tables in the plain mode, read where they lie.

mod column;
mod plain;

use super::bytes::{FORM, Input, Result};
use super::reader::{Chunks, InMemory, each_column};
use crate::{DecodeError, Limits, Schema};

pub use column::{InPlace, ViewColumn};
use plain::Refused;

/// A table in the [plain mode](super::Mode::Plain) of the packed encoding, read where its bytes lie: in memory that was
/// received, or in a file that is mapped.
///
/// All of it is verified when it is opened: checksums, bounds, and UTF-8. From then on a value costs no more than a
/// look at it. A table lies in chunks of at most [`ROWS_PER_CHUNK`](super::ROWS_PER_CHUNK) rows, and so do its columns.
///
/// Values can be used in place if they lie aligned, and if the processor is little-endian, as the format is. The first
/// is so where `bytes` begin at a multiple of 8, as what an allocator gives and what is mapped do. Of what is not so,
/// a copy is made, since a receiver of bytes cannot always choose where: [`is_in_place`](View::is_in_place) tells.
///
/// ```
/// use tamtam_rows::packed::{self, Mode, View};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U16), Field::nullable("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 8]), Column::from_iter([Some("seven"), None])])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Plain, &mut bytes)?;
///
/// let view = View::new(&bytes, &Limits::default())?;
/// for chunk in view.chunks() {
///     let numbers = chunk.column("n").unwrap().slice::<u16>().unwrap();
///     assert_eq!(numbers, [7, 8]);
///     let names = chunk.column("name").unwrap();
///     assert_eq!((names.text(0), names.text(1)), (Some("seven"), None));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct View<'a> {
    schema: Schema,
    chunks: Vec<Chunk<'a>>,
    rows: u64,
}

#[derive(Clone, Debug)]
struct Chunk<'a> {
    rows: usize,
    columns: Vec<ViewColumn<'a>>,
}

impl<'a> View<'a> {
    /// Opens a table, which must be all of `bytes`. The limit on bytes is one on the memory that is taken: some hundred
    /// bytes for each column of each chunk, and what must be copied.
    ///
    /// # Errors
    /// [`DecodeError::NotPlain`] if it was written in another mode; and as [`decode`](super::decode).
    pub fn new(bytes: &'a [u8], limits: &Limits) -> Result<View<'a>> {
        let mut reader = Chunks::new(InMemory { bytes, position: 0 }, *limits)?;
        let (mut chunks, mut rows) = (Vec::new(), 0);
        let mut left = *limits;
        while let Some(head) = reader.head()? {
            let columns = head.columns.start as usize..head.columns.end as usize;
            let mut input = Input::new(&bytes[columns], head.columns.start, &left);
            let mut columns = Vec::new();
            input.reserve((size_of::<ViewColumn<'_>>() * reader.schema.len()) as u64)?;
            each_column(input, &reader.schema, |_, field, part| {
                let column = plain::column(part, field, head.rows);
                columns.push(column.map_err(|refused| match refused {
                    Refused::Damaged(error) => error,
                    Refused::NotPlain => DecodeError::NotPlain {
                        form: FORM,
                        column: field.name().to_owned(),
                        chunk: head.number,
                    },
                })?);
                left.bytes = part.budget;
                Ok(())
            })?;
            rows += head.rows as u64;
            chunks.push(Chunk {
                rows: head.rows,
                columns,
            });
        }
        reader.source.expect_end()?;
        Ok(View {
            schema: reader.schema,
            chunks,
            rows,
        })
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many rows there are in all chunks.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The chunks, in the order of their rows; each has at least one.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ViewChunk<'_>> + '_ {
        self.chunks.iter().map(|chunk| ViewChunk {
            schema: &self.schema,
            rows: chunk.rows,
            columns: &chunk.columns,
        })
    }

    /// Whether nothing had to be copied.
    pub fn is_in_place(&self) -> bool {
        let mut columns = self.chunks.iter().flat_map(|chunk| &chunk.columns);
        columns.all(ViewColumn::is_in_place)
    }
}

/// Some rows of a [`View`], which lie together.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode, View};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U16)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 8])])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Plain, &mut bytes)?;
/// let view = View::new(&bytes, &Limits::default())?;
/// let chunk = view.chunks().next().expect("it has one chunk");
/// assert_eq!((chunk.len(), chunk.columns().len()), (2, 1));
/// assert!(chunk.column("m").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ViewChunk<'v> {
    schema: &'v Schema,
    rows: usize,
    columns: &'v [ViewColumn<'v>],
}

impl<'v> ViewChunk<'v> {
    /// How many rows it has: at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the schema.
    pub fn columns(&self) -> &'v [ViewColumn<'v>] {
        self.columns
    }

    /// The first column of this name.
    pub fn column(&self, name: &str) -> Option<&'v ViewColumn<'v>> {
        let fields = self.schema.fields();
        let index = fields.iter().position(|field| field.name() == name)?;
        self.columns.get(index)
    }
}
