//! Structs that are rows.

use crate::{
    Column, Element, Field, Kind, Lane, Lanes, Nulls, Rows, Schema, ShapeError, Slices, Strings,
    Values,
};

/// A struct that is a row of a table. [`record!`](crate::record) makes one.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Record, record};
///
/// record! {
///     #[derive(Debug, PartialEq)]
///     struct Point {
///         x: f64,
///         label: Option<String>,
///     }
/// }
///
/// fn main() -> Result<(), tamtam_rows::ShapeError> {
///     let points = [Point { x: 0.5, label: None }];
///     let rows = Point::to_rows(&points)?;
///     assert_eq!(rows.schema().fields()[0].name(), "x");
///     assert!(Point::from_rows(&rows)?.eq(points));
///     Ok(())
/// }
/// ```
pub trait Record: Sized + 'static {
    /// The columns of a table, to read records from.
    type Columns<'a>;

    /// The columns that the fields make.
    fn schema() -> Schema;

    /// A table of these records, column by column.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the text or the bytes of a column exceed 4 GiB.
    fn to_rows(records: &[Self]) -> Result<Rows, ShapeError>;

    /// The columns by the names of the fields.
    ///
    /// # Errors
    /// If one is not there, is of another type, or holds nulls where the field has no `Option`.
    fn columns(rows: &Rows) -> Result<Self::Columns<'_>, ShapeError>;

    /// The record in a row.
    ///
    /// # Panics
    /// If there is no such row.
    fn read(columns: &Self::Columns<'_>, row: usize) -> Self;

    /// Each row of the table as a record.
    ///
    /// # Errors
    /// As [`columns`](Record::columns).
    fn from_rows(rows: &Rows) -> Result<impl ExactSizeIterator<Item = Self> + '_, ShapeError> {
        let columns = Self::columns(rows)?;
        Ok((0..rows.len()).map(move |row| Self::read(&columns, row)))
    }
}

/// Defines a struct whose fields are the columns of a table.
///
/// Fields may be booleans, integers, floats, `String`, `Vec<u8>`, `[u8; 16]` for UUIDs, and `Option`s of these. The column of
/// a field that is called `r#type` is called `type`.
///
/// ```
/// use tamtam_rows::{Record, record};
///
/// record! {
///     /// A tile on the board.
///     #[derive(Debug, PartialEq)]
///     pub struct Tile {
///         pub slot: u16,
///         pub color: String,
///         pub turn: Option<i16>,
///     }
/// }
///
/// let tiles = [Tile { slot: 1, color: "ff8800".into(), turn: None }];
/// let rows = Tile::to_rows(&tiles)?;
/// assert_eq!(rows.column("slot").unwrap().slice::<u16>().unwrap(), [1]);
/// assert!(Tile::from_rows(&rows)?.eq(tiles));
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $( $(#[$field_attribute:meta])* $field_visibility:vis $field:ident : $type:ty ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $( $(#[$field_attribute])* $field_visibility $field: $type, )*
        }

        impl $crate::Record for $name {
            type Columns<'a> = ($( <$type as $crate::Cell>::Source<'a>, )*);

            fn schema() -> $crate::Schema {
                // It is cheap to clone, and not so to make.
                static SCHEMA: ::std::sync::OnceLock<$crate::Schema> = ::std::sync::OnceLock::new();
                SCHEMA.get_or_init(|| {
                    $crate::Schema::new([
                        $( <$type as $crate::Cell>::field($crate::name_of_field(stringify!($field))), )*
                    ]).expect("no field is a decimal")
                }).clone()
            }

            fn to_rows(records: &[Self]) -> ::core::result::Result<$crate::Rows, $crate::ShapeError> {
                // Where each field lies in words of 64 bits that several fields share.
                const LANES: &[$crate::Lane] =
                    &$crate::Lane::all([$( <$type as $crate::Cell>::BITS, )*]);
                // What is in one of these words. All but the record's values is known when it is compiled.
                #[inline(always)]
                fn word(record: &$name, word: usize) -> u64 {
                    let (mut all, mut field) = (0, 0);
                    $(
                        all |= LANES[field].of(word, <$type as $crate::Cell>::bits(&record.$field));
                        field += 1;
                    )*
                    all
                }
                let (mut lanes, mut field) = ($crate::Lanes::default(), 0);
                $crate::Rows::new(<Self as $crate::Record>::schema(), [
                    $( {
                        let lane = LANES[field];
                        lanes.gather(lane, field, records, |record| word(record, lane.word()));
                        field += 1;
                        match <$type as $crate::Cell>::gathered(&mut lanes, lane) {
                            ::core::option::Option::Some(column) => column,
                            ::core::option::Option::None => {
                                <$type as $crate::Cell>::column(records.iter().map(|record| &record.$field))?
                            }
                        }
                    }, )*
                ])
            }

            fn columns(
                rows: &$crate::Rows,
            ) -> ::core::result::Result<Self::Columns<'_>, $crate::ShapeError> {
                ::core::result::Result::Ok(($(
                    <$type as $crate::Cell>::source(rows, $crate::name_of_field(stringify!($field)))?,
                )*))
            }

            fn read(columns: &Self::Columns<'_>, row: usize) -> Self {
                let ($( $field, )*) = columns;
                $name { $( $field: <$type as $crate::Cell>::read($field, row), )* }
            }
        }
    };
}

/// The name of a column of a field: `type` of a field that Rust calls `r#type`.
#[doc(hidden)]
pub fn name_of_field(field: &str) -> &str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// A type that the fields of a [`Record`] may have.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Cell, Kind};
///
/// assert_eq!(u16::kind(), Kind::U16);
/// assert!(!String::field("name").is_nullable());
/// assert!(Option::<String>::field("name").is_nullable());
/// ```
pub trait Cell: Sized {
    /// A column of such values.
    type Source<'a>;

    /// The type of the column.
    fn kind() -> Kind;

    /// The column's name and type.
    fn field(name: &str) -> Field {
        Field::new(name, Self::kind())
    }

    /// How many bits it has, if several such fields are gathered together: 16 or 32, and otherwise 0.
    #[doc(hidden)]
    const BITS: u32 = 0;

    /// These bits.
    #[doc(hidden)]
    #[inline(always)]
    fn bits(&self) -> u64 {
        0
    }

    /// The column that was gathered together with others, if it was.
    #[doc(hidden)]
    #[inline(always)]
    fn gathered(_lanes: &mut Lanes, _lane: Lane) -> Option<Column> {
        None
    }

    /// A column of these values.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`].
    fn column<'a>(
        cells: impl ExactSizeIterator<Item = &'a Self> + Clone,
    ) -> Result<Column, ShapeError>
    where
        Self: 'a;

    /// The column of this name, to read from.
    ///
    /// # Errors
    /// If it is not there, is of another type, or holds nulls.
    fn source<'a>(rows: &'a Rows, name: &str) -> Result<Self::Source<'a>, ShapeError>;

    /// The value in a row.
    ///
    /// # Panics
    /// If there is no such row.
    fn read(source: &Self::Source<'_>, row: usize) -> Self;
}

/// The column of this name, and the first null in it.
fn find<'a>(rows: &'a Rows, name: &str) -> Result<&'a Column, ShapeError> {
    rows.column(name)
        .ok_or_else(|| ShapeError::NoColumn(name.to_owned()))
}

fn without_nulls<'a>(rows: &'a Rows, name: &str) -> Result<&'a Column, ShapeError> {
    let column = find(rows, name)?;
    match column.nulls().and_then(|nulls| nulls.rows().next()) {
        Some(row) => Err(ShapeError::Null {
            column: name.to_owned(),
            row,
        }),
        None => Ok(column),
    }
}

fn another_type(kind: Kind, name: &str, column: &Column) -> ShapeError {
    ShapeError::Kind {
        column: name.to_owned(),
        expected: kind,
        given: format!("a column of {}", column.values().name()),
    }
}

macro_rules! cells {
    ($($type:ty => $kind:ident $(($bits:ident, $wide:literal, $take:ident))?),*) => {$(
        impl Cell for $type {
            type Source<'a> = &'a [$type];

            $(
                const BITS: u32 = $wide;

                #[inline(always)]
                fn bits(&self) -> u64 {
                    u64::from(bytemuck::cast::<$type, $bits>(*self))
                }

                #[inline(always)]
                fn gathered(lanes: &mut Lanes, lane: Lane) -> Option<Column> {
                    lane.is_shared().then(|| {
                        Column::new(<$type>::into_values(bytemuck::allocation::cast_vec(lanes.$take(lane))))
                    })
                }
            )?

            fn kind() -> Kind {
                Kind::$kind
            }

            #[inline]
            fn column<'a>(cells: impl ExactSizeIterator<Item = &'a Self> + Clone) -> Result<Column, ShapeError> {
                Ok(Column::new(<$type>::into_values(cells.copied().collect())))
            }

            fn source<'a>(rows: &'a Rows, name: &str) -> Result<&'a [$type], ShapeError> {
                let column = without_nulls(rows, name)?;
                column.slice().ok_or_else(|| another_type(Self::kind(), name, column))
            }

            #[inline]
            fn read(source: &&[$type], row: usize) -> $type {
                source[row]
            }
        }

        impl Cell for Option<$type> {
            type Source<'a> = (&'a [$type], Option<&'a Nulls>);

            fn kind() -> Kind {
                Kind::$kind
            }

            fn field(name: &str) -> Field {
                Field::nullable(name, Self::kind())
            }

            #[inline]
            fn column<'a>(cells: impl ExactSizeIterator<Item = &'a Self> + Clone) -> Result<Column, ShapeError> {
                let nulls = cells.clone().map(Option::is_none).collect();
                let values = cells.map(|cell| cell.unwrap_or_default()).collect();
                Column::with_nulls(<$type>::into_values(values), nulls)
            }

            fn source<'a>(rows: &'a Rows, name: &str) -> Result<Self::Source<'a>, ShapeError> {
                let column = find(rows, name)?;
                let values = column.slice().ok_or_else(|| another_type(Self::kind(), name, column))?;
                Ok((values, column.nulls()))
            }

            #[inline]
            fn read(source: &Self::Source<'_>, row: usize) -> Option<$type> {
                let is_null = source.1.is_some_and(|nulls| nulls.is_null(row));
                (!is_null).then(|| source.0[row])
            }
        }
    )*};
}
cells! {
    bool => Bool, i8 => I8, i16 => I16 (u16, 16, take_16), i32 => I32 (u32, 32, take_32), i64 => I64, u8 => U8,
    u16 => U16 (u16, 16, take_16), u32 => U32 (u32, 32, take_32), u64 => U64, f32 => F32 (u32, 32, take_32),
    f64 => F64, [u8; 16] => Uuid
}

macro_rules! variable_cells {
    ($($type:ty, $list:ident, $kind:ident, $empty:expr, $get:ident, $own:ident);*) => {$(
        impl Cell for $type {
            type Source<'a> = &'a $list;

            fn kind() -> Kind {
                Kind::$kind
            }

            #[inline]
            fn column<'a>(cells: impl ExactSizeIterator<Item = &'a Self> + Clone) -> Result<Column, ShapeError> {
                if let Some(all) = $list::of_one_length(cells.clone().map(|cell| &**cell)) {
                    return Ok(Column::new(Values::$kind(all)));
                }
                let mut all = $list::with_capacity(cells.clone().map(|cell| cell.len()).sum());
                for cell in cells {
                    all.push(cell)?;
                }
                Ok(Column::new(Values::$kind(all)))
            }

            fn source<'a>(rows: &'a Rows, name: &str) -> Result<&'a $list, ShapeError> {
                let column = without_nulls(rows, name)?;
                column.$get().ok_or_else(|| another_type(Self::kind(), name, column))
            }

            fn read(source: &&$list, row: usize) -> $type {
                source.get(row).$own()
            }
        }

        impl Cell for Option<$type> {
            type Source<'a> = (&'a $list, Option<&'a Nulls>);

            fn kind() -> Kind {
                Kind::$kind
            }

            fn field(name: &str) -> Field {
                Field::nullable(name, Self::kind())
            }

            fn column<'a>(cells: impl ExactSizeIterator<Item = &'a Self> + Clone) -> Result<Column, ShapeError> {
                let mut all = $list::new();
                for cell in cells.clone() {
                    all.push(cell.as_ref().map_or($empty, |cell| cell))?;
                }
                Column::with_nulls(Values::$kind(all), cells.map(Option::is_none).collect())
            }

            fn source<'a>(rows: &'a Rows, name: &str) -> Result<Self::Source<'a>, ShapeError> {
                let column = find(rows, name)?;
                let values = column.$get().ok_or_else(|| another_type(Self::kind(), name, column))?;
                Ok((values, column.nulls()))
            }

            fn read(source: &Self::Source<'_>, row: usize) -> Option<$type> {
                let is_null = source.1.is_some_and(|nulls| nulls.is_null(row));
                (!is_null).then(|| source.0.get(row).$own())
            }
        }
    )*};
}
variable_cells! {
    String, Strings, Text, "", texts, to_owned;
    Vec<u8>, Slices, Bytes, &[], slices, to_vec
}
