//! Which codec each column of a packed table has, and how many bytes it takes.

use super::bytes::{Input, Met, Result};
use super::reader::{Chunks, InMemory, Source};
use crate::{Field, Limits};

/// What a table in the packed encoding is made of. Made by [`inspect`].
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U32), Field::new("text", Kind::Text)])?;
/// let numbers = Column::from((0..1000).collect::<Vec<u32>>());
/// let texts = (0..1000).map(|n| ["on", "off"][n % 2]).collect::<Column>();
/// let mut bytes = Vec::new();
/// packed::encode(&Rows::new(schema, [numbers, texts])?, Mode::Packed, &mut bytes)?;
/// let inspection = packed::inspect(&bytes, &Limits::default())?;
/// assert_eq!(inspection.bytes, bytes.len() as u64);
/// let columns: u64 = inspection.columns.iter().map(|column| column.bytes).sum();
/// println!("{} of {} bytes are columns", columns, inspection.bytes);
/// assert!(columns < inspection.bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// How many rows there are.
    pub rows: u64,
    /// How many chunks.
    pub chunks: u64,
    /// The bytes of all: columns, schema, heads and end.
    pub bytes: u64,
    /// Column by column.
    pub columns: Vec<InspectedColumn>,
}

/// What one column takes, and how it is coded.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U32), Field::new("text", Kind::Text)])?;
/// let numbers = Column::from((0..1000).collect::<Vec<u32>>());
/// let texts = (0..1000).map(|n| ["on", "off"][n % 2]).collect::<Column>();
/// let mut bytes = Vec::new();
/// packed::encode(&Rows::new(schema, [numbers, texts])?, Mode::Packed, &mut bytes)?;
/// let inspection = packed::inspect(&bytes, &Limits::default())?;
/// for column in &inspection.columns {
///     let (codec, chunks) = &column.codecs[0];
///     println!("{}: {} bytes, {codec} in {chunks} chunks", column.field.name(), column.bytes);
/// }
/// assert_eq!(inspection.columns[1].field.name(), "text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InspectedColumn {
    /// Its name and type.
    pub field: Field,
    /// Its bytes in all chunks.
    pub bytes: u64,
    /// How it is coded, and in how many chunks so; the most frequent first. Lists inside a list follow in brackets:
    /// `delta(packed)`.
    pub codecs: Vec<(String, u64)>,
}

/// Reads a table in the packed encoding, and says what its columns take.
///
/// Memory is taken for one chunk at a time, and the limit on bytes is one on each of them.
///
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U32)])?;
/// let rows = Rows::new(schema, [Column::from((0..1000).collect::<Vec<u32>>())])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Packed, &mut bytes)?;
/// let inspection = packed::inspect(&bytes, &Limits::default())?;
/// assert_eq!((inspection.rows, inspection.chunks), (1000, 1));
/// assert!(inspection.columns[0].bytes < 20, "steps of one take next to nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`decode`](super::decode).
pub fn inspect(bytes: &[u8], limits: &Limits) -> Result<Inspection> {
    let mut reader = Chunks::new(InMemory { bytes, position: 0 }, *limits)?;
    let mut columns: Vec<InspectedColumn> = reader
        .schema
        .fields()
        .iter()
        .map(|field| InspectedColumn {
            field: field.clone(),
            bytes: 0,
            codecs: Vec::new(),
        })
        .collect();
    let (mut rows, mut chunks) = (0, 0);
    loop {
        let mut sizes = vec![0; columns.len()];
        let mut look = |index: usize, input: &mut Input<'_>| match input.met.take() {
            // Before it is read.
            None => {
                input.met = Some(Vec::new());
                sizes[index] = input.left() as u64;
            }
            Some(met) => {
                let name = describe(&met);
                let codecs = &mut columns[index].codecs;
                match codecs.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += 1,
                    None => codecs.push((name, 1)),
                }
            }
        };
        let Some(chunk) = reader.next(&mut look)? else {
            break;
        };
        rows += chunk.len() as u64;
        chunks += 1;
        for (column, size) in columns.iter_mut().zip(sizes) {
            column.bytes += size;
        }
    }
    for column in &mut columns {
        column
            .codecs
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    Ok(Inspection {
        rows,
        chunks,
        bytes: reader.source.position(),
        columns,
    })
}

/// The codecs in the order in which they were met, with brackets around those inside others.
fn describe(met: &[Met]) -> String {
    let mut text = String::new();
    let mut rest = met;
    while let Some((first, behind)) = rest.split_first() {
        let inside = behind
            .iter()
            .take_while(|part| part.depth > first.depth)
            .count();
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(first.codec);
        if inside > 0 {
            text.push('(');
            text.push_str(&describe(&behind[..inside]));
            text.push(')');
        }
        rest = &behind[inside..];
    }
    text
}
