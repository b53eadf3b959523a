//! Where the decoders of row by row forms put their values: columns of known types, within limits.

use crate::cell_text::{self, Integer};
use crate::{Column, DecodeError, Field, Kind, Limits, Nulls, Rows, Schema, ShapeError, Values};

/// A table that grows row by row, or column by column.
pub(super) struct Intake<'a> {
    form: &'static str,
    schema: &'a Schema,
    limits: &'a Limits,
    pub(super) columns: Vec<Inlet>,
    rows: u64,
    /// The bytes of a row but for what is in text and bytes.
    a_row: u64,
    /// Those of text and bytes.
    variable: u64,
}

/// Why a value was not taken.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// It is not of the column's type.
    Kind,
    /// The column's text or bytes would exceed 4 GiB.
    TooLarge,
}

impl From<ShapeError> for Refusal {
    fn from(_: ShapeError) -> Refusal {
        Refusal::TooLarge
    }
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        form: &'static str,
        schema: Option<&'a Schema>,
        limits: &'a Limits,
    ) -> Result<Intake<'a>, DecodeError> {
        let schema = schema.ok_or(DecodeError::NeedsSchema { form })?;
        let columns: Vec<Inlet> = schema.fields().iter().map(Inlet::new).collect();
        if columns.len() > limits.columns {
            return Err(DecodeError::Limit {
                form,
                what: "columns",
                declared: columns.len() as u64,
                limit: limits.columns as u64,
            });
        }
        let width = |field: &Field| field.kind().width().unwrap_or(4) as u64;
        Ok(Intake {
            form,
            schema,
            limits,
            columns,
            rows: 0,
            a_row: schema.fields().iter().map(width).sum(),
            variable: 0,
        })
    }

    pub(super) fn schema(&self) -> &'a Schema {
        self.schema
    }

    /// How many rows there are: the number of the row that is being read.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// So many bytes of text more.
    #[inline]
    pub(super) fn add_variable(&mut self, bytes: usize) {
        self.variable += bytes as u64;
    }

    /// One more row is whole.
    #[inline]
    pub(super) fn end_row(&mut self) -> Result<(), DecodeError> {
        self.rows += 1;
        let bytes = self.rows * self.a_row + self.variable;
        if self.rows > self.limits.rows {
            return Err(self.above("rows", self.rows, self.limits.rows));
        }
        if bytes > self.limits.bytes {
            return Err(self.above("bytes", bytes, self.limits.bytes));
        }
        Ok(())
    }

    #[cold]
    fn above(&self, what: &'static str, declared: u64, limit: u64) -> DecodeError {
        DecodeError::Limit {
            form: self.form,
            what,
            declared,
            limit,
        }
    }

    /// The error that says which value in which column was refused, in the row that is being read.
    #[cold]
    pub(super) fn refused(&self, column: usize, refusal: Refusal, value: &str) -> DecodeError {
        refused(
            self.form,
            &self.schema.fields()[column],
            self.rows as usize,
            refusal,
            value,
        )
    }

    /// The table.
    pub(super) fn finish(self) -> Result<Rows, DecodeError> {
        let columns = self
            .columns
            .into_iter()
            .map(Inlet::finish)
            .collect::<Result<Vec<Column>, ShapeError>>()?;
        Ok(Rows::new(self.schema.clone(), columns)?)
    }
}

/// The error for a value that a column does not take.
#[cold]
pub(super) fn refused(
    form: &'static str,
    field: &Field,
    row: usize,
    refusal: Refusal,
    value: &str,
) -> DecodeError {
    match refusal {
        Refusal::TooLarge => DecodeError::Shape(ShapeError::TooLarge),
        Refusal::Kind => {
            const SHOWN: usize = 60;
            let mut value: String = value.to_owned();
            if value.len() > SHOWN {
                let end = (0..=SHOWN).rev().find(|&at| value.is_char_boundary(at));
                value.truncate(end.unwrap_or(0));
                value.push_str("...");
            }
            DecodeError::Value {
                form,
                column: field.name().to_owned(),
                row,
                value,
                kind: field.kind().clone(),
            }
        }
    }
}

/// A column that grows.
pub(super) struct Inlet {
    kind: Kind,
    is_nullable: bool,
    is_integer: bool,
    pub(super) values: Values,
    /// From the first null on.
    nulls: Option<Nulls>,
    /// For what is decoded on its way.
    scratch: Vec<u8>,
}

impl Inlet {
    pub(super) fn new(field: &Field) -> Inlet {
        Inlet {
            kind: field.kind().clone(),
            is_nullable: field.is_nullable(),
            is_integer: matches!(
                field.kind(),
                Kind::I8
                    | Kind::I16
                    | Kind::I32
                    | Kind::I64
                    | Kind::U8
                    | Kind::U16
                    | Kind::U32
                    | Kind::U64
            ),
            values: Values::new(field.kind()),
            nulls: None,
            scratch: Vec::new(),
        }
    }

    pub(super) fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Whether it is one of integers that mean nothing else.
    pub(super) fn is_integer(&self) -> bool {
        self.is_integer
    }

    /// To be called behind each value that was put into [`values`](Inlet::values) by hand.
    #[inline]
    pub(super) fn was_pushed(&mut self) {
        if let Some(nulls) = &mut self.nulls {
            nulls.push(false);
        }
    }

    /// One more row that is null.
    pub(super) fn push_null(&mut self) -> Result<(), Refusal> {
        if !self.is_nullable {
            return Err(Refusal::Kind);
        }
        let before = self.values.len();
        match &mut self.values {
            Values::Bool(values) => values.push(false),
            Values::I8(values) => values.push(0),
            Values::I16(values) => values.push(0),
            Values::I32(values) => values.push(0),
            Values::I64(values) => values.push(0),
            Values::I128(values) => values.push(0),
            Values::U8(values) => values.push(0),
            Values::U16(values) => values.push(0),
            Values::U32(values) => values.push(0),
            Values::U64(values) => values.push(0),
            Values::F32(values) => values.push(0.0),
            Values::F64(values) => values.push(0.0),
            Values::Uuid(values) => values.push([0; 16]),
            Values::Text(texts) => texts.push("")?,
            Values::Bytes(slices) => slices.push(&[])?,
        }
        self.nulls
            .get_or_insert_with(|| Nulls::none(before))
            .push(true);
        Ok(())
    }

    /// One more row, from its text as [`cell_text::write`] writes it. The bytes that it takes beyond the column's
    /// width.
    #[inline]
    pub(super) fn push_text(&mut self, text: &str) -> Result<usize, Refusal> {
        fn some<T>(parsed: Option<T>) -> Result<T, Refusal> {
            parsed.ok_or(Refusal::Kind)
        }
        fn int<T: Integer>(text: &str) -> Result<T, Refusal> {
            some(cell_text::integer(text.as_bytes()))
        }
        let bytes = text.as_bytes();
        let mut variable = 0;
        match &mut self.values {
            Values::Bool(values) => values.push(some(cell_text::truth(bytes))?),
            Values::I8(values) => values.push(int(text)?),
            Values::I16(values) => values.push(int(text)?),
            Values::I32(values) if self.kind == Kind::Date => {
                let days = some(cell_text::date(bytes))?;
                values.push(some(days.try_into().ok())?);
            }
            Values::I32(values) => values.push(int(text)?),
            Values::I64(values) => values.push(some(match &self.kind {
                Kind::Time(unit) => cell_text::time(bytes, *unit),
                Kind::Timestamp(unit, zone) => cell_text::timestamp(bytes, *unit, zone),
                _ => cell_text::integer(bytes),
            })?),
            Values::U8(values) => values.push(int(text)?),
            Values::U16(values) => values.push(int(text)?),
            Values::U32(values) => values.push(int(text)?),
            Values::U64(values) => values.push(int(text)?),
            Values::I128(values) => {
                let (precision, scale) = match self.kind {
                    Kind::Decimal { precision, scale } => (precision, scale),
                    _ => (38, 0),
                };
                values.push(some(cell_text::decimal(bytes, precision, scale))?);
            }
            Values::F32(values) => values.push(some(cell_text::real(text))?),
            Values::F64(values) => values.push(some(cell_text::real(text))?),
            Values::Uuid(values) => values.push(some(cell_text::uuid(bytes))?),
            Values::Text(texts) => {
                texts.push(text)?;
                variable = text.len();
            }
            Values::Bytes(slices) => {
                if !cell_text::bytes(bytes, &mut self.scratch) {
                    return Err(Refusal::Kind);
                }
                slices.push(&self.scratch)?;
                variable = self.scratch.len();
            }
        }
        self.was_pushed();
        Ok(variable)
    }

    pub(super) fn finish(self) -> Result<Column, ShapeError> {
        match self.nulls {
            Some(nulls) => Column::with_nulls(self.values, nulls),
            None => Ok(Column::new(self.values)),
        }
    }
}
