//! The forms in which a table goes that has to be there as a whole, and how many bytes it has in each of them, at the least.

use std::mem::size_of;

use tamtam_amf::amf3;
use tamtam_rows::{Kind, Nulls, Rows, Values};

/// A form in which a table goes that has to be there as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableForm {
    /// As its columns are, or in little more: packed, as Arrow, as Parquet.
    Columns,
    Json,
    JsonLines,
    Csv,
    MessagePack,
    XmlRpc,
    RecordSet,
    /// Objects of AMF0.
    Objects0,
    /// Objects of AMF3.
    Objects3,
    /// Objects in memory, of which a message of Flex is made.
    Tree,
}

/// Bytes of a form, at the least.
struct Least {
    /// Around a row.
    row: usize,
    /// Around a value.
    cell: usize,
    /// Whether the name of its column stands before each value.
    has_names: bool,
    null: usize,
    boolean: usize,
    integer: usize,
    float: usize,
    /// Around a text.
    text: usize,
    /// Dates, decimals, UUIDs.
    other: usize,
}

impl TableForm {
    /// Bytes that a table may have in it.
    pub(crate) const fn most_bytes(self) -> usize {
        match self {
            // What goes out is a tenth of it.
            TableForm::Tree => 2 * MOST_BYTES,
            _ => MOST_BYTES,
        }
    }

    /// So many bytes at the least these rows have in it, beside what stands around all of them.
    pub(crate) fn least_bytes(self, rows: &Rows) -> usize {
        let Some(least) = self.least() else {
            return 0;
        };
        let columns = rows.fields().map(|(field, column)| {
            let name = if least.has_names {
                field.name().len()
            } else {
                0
            };
            let nulls = column.nulls().map_or(0, Nulls::count);
            let values = rows.len() - nulls;
            let of_values = match column.values() {
                Values::Text(texts) => values * least.text + self.of_texts(texts.all().len()),
                Values::Bytes(slices) => values * least.text + self.of_texts(slices.all().len()),
                Values::Bool(_) => values * least.boolean,
                Values::F32(_) | Values::F64(_) => values * least.float,
                _ if is_number(field.kind()) => values * least.integer,
                _ => values * least.other,
            };
            rows.len() * (least.cell + name) + nulls * least.null + of_values
        });
        rows.len() * least.row + columns.sum::<usize>()
    }

    /// What texts of so many bytes have in it.
    fn of_texts(self, bytes: usize) -> usize {
        match self {
            // One that comes again is written as the number of the first.
            TableForm::Objects3 => 0,
            _ => bytes,
        }
    }

    /// By which words it is told.
    pub(crate) fn words(self) -> &'static str {
        match self {
            TableForm::Columns => "in memory",
            TableForm::Json => "as JSON",
            TableForm::JsonLines => "as lines of JSON",
            TableForm::Csv => "as CSV",
            TableForm::MessagePack => "as MessagePack",
            TableForm::XmlRpc => "as XML-RPC",
            TableForm::RecordSet => "as a RecordSet of AMF",
            TableForm::Objects0 | TableForm::Objects3 => "as objects of AMF",
            TableForm::Tree => "as objects of Flex",
        }
    }

    fn least(self) -> Option<Least> {
        Some(match self {
            TableForm::Columns => return None,
            TableForm::Json | TableForm::JsonLines => Least {
                row: "{}".len(),
                cell: r#""":,"#.len(),
                has_names: true,
                null: "null".len(),
                boolean: "true".len(),
                integer: 1,
                float: 1,
                text: r#""""#.len(),
                other: 1,
            },
            TableForm::Csv => Least {
                row: 0,
                cell: ",".len(),
                has_names: false,
                null: 0,
                boolean: 1,
                integer: 1,
                float: 1,
                text: 0,
                other: 1,
            },
            TableForm::MessagePack => Least {
                row: 1,
                cell: 0,
                has_names: false,
                null: 1,
                boolean: 1,
                integer: 1,
                float: 5,
                text: 1,
                other: 1,
            },
            TableForm::XmlRpc => Least {
                row: "<value><struct></struct></value>".len(),
                cell: "<member><name></name><value></value></member>".len(),
                has_names: true,
                null: "<nil/>".len(),
                boolean: "<boolean>1</boolean>".len(),
                integer: "<i4>1</i4>".len(),
                float: "<double>1</double>".len(),
                text: "<string></string>".len(),
                other: "<string>1</string>".len(),
            },
            TableForm::RecordSet | TableForm::Objects0 => {
                let is_object = self == TableForm::Objects0;
                Least {
                    // A marker and a count; or a marker and the end.
                    row: if is_object { 1 + 3 } else { 1 + 4 },
                    cell: if is_object { 2 } else { 0 },
                    has_names: is_object,
                    null: 1,
                    boolean: 2,
                    integer: 1 + 8,
                    float: 1 + 8,
                    text: 1 + 2,
                    other: 1 + 2,
                }
            }
            TableForm::Objects3 => Least {
                row: 2,
                cell: 0,
                has_names: false,
                null: 1,
                boolean: 1,
                integer: 2,
                float: 1 + 8,
                text: 2,
                other: 2,
            },
            TableForm::Tree => Least {
                row: size_of::<amf3::Value>() + size_of::<amf3::Object>() + 2 * OF_ALLOCATION,
                cell: size_of::<amf3::Value>(),
                has_names: false,
                null: 0,
                boolean: 0,
                integer: 0,
                float: 0,
                // It is counted how many have it.
                text: 2 * size_of::<usize>() + OF_ALLOCATION,
                other: 0,
            },
        })
    }
}

/// What each form but the tree may have.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// What an allocator needs for itself, about.
const OF_ALLOCATION: usize = 16;

fn is_number(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Date | Kind::Time(_) | Kind::Timestamp(..) | Kind::Decimal { .. } | Kind::Uuid
    )
}

#[cfg(test)]
mod tests {
    use tamtam_rows::encoding::{
        Amf0Objects, Amf0RecordSet, Amf3Objects, JsonObjects, MessagePack, Text, XmlRpc,
    };
    use tamtam_rows::{Column, Encoding, Field, Schema, Unit};

    use super::*;

    /// The smallest values of each kind, or nulls.
    fn smallest(rows: usize, is_null: bool) -> Rows {
        let fields = [
            Field::nullable("yes", Kind::Bool),
            Field::nullable("byte", Kind::U8),
            Field::nullable("number", Kind::I64),
            Field::nullable("half", Kind::F32),
            Field::nullable("double", Kind::F64),
            Field::nullable("text", Kind::Text),
            Field::nullable("day", Kind::Date),
            Field::nullable("time", Kind::Time(Unit::Second)),
        ];
        let texts = (0..rows).map(|_| (!is_null).then_some(""));
        let column = |values| {
            let mut nulls = Nulls::new();
            (0..rows).for_each(|_| nulls.push(is_null));
            Column::with_nulls(values, nulls).unwrap()
        };
        let columns = [
            column(Values::Bool(vec![!is_null; rows])),
            column(Values::U8(vec![0; rows])),
            column(Values::I64(vec![0; rows])),
            column(Values::F32(vec![0.0; rows])),
            column(Values::F64(vec![0.0; rows])),
            texts.collect(),
            column(Values::I32(vec![0; rows])),
            column(Values::I64(vec![0; rows])),
        ];
        Rows::new(Schema::new(fields).unwrap(), columns).unwrap()
    }

    #[test]
    fn no_table_has_fewer_bytes_than_are_said_and_none_of_the_smallest_many_more() {
        let forms: [(TableForm, &dyn Encoding); 7] = [
            (TableForm::Json, &JsonObjects),
            (TableForm::Csv, &Text::BARE),
            (TableForm::MessagePack, &MessagePack),
            (TableForm::XmlRpc, &XmlRpc),
            (TableForm::RecordSet, &Amf0RecordSet),
            (TableForm::Objects0, &Amf0Objects::TYPED),
            (TableForm::Objects3, &Amf3Objects),
        ];
        for (form, encoding) in forms {
            for is_null in [false, true] {
                let (rows, more) = (smallest(1_000, is_null), smallest(2_000, is_null));
                let bytes = |rows: &Rows| {
                    let mut bytes = Vec::new();
                    encoding.encode(rows, &mut bytes).unwrap();
                    bytes.len()
                };
                // Without what stands around all of them.
                let of_rows = bytes(&more) - bytes(&rows);
                let least = form.least_bytes(&rows);
                assert!(least <= of_rows, "{form:?} {is_null}: {least} {of_rows}");
                assert!(
                    of_rows <= 3 * least,
                    "{form:?} {is_null}: {least} {of_rows}"
                );
            }
        }
    }
}
