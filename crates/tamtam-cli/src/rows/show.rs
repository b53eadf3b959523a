//! The first rows of a file as a table.

use std::io::Write;
use std::iter::once;

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tamtam_rows::encoding::Text;
use tamtam_rows::{Column, Encoding, Field, Kind, Rows, Schema};

use super::arguments::ShowArguments;
use super::counted;
use super::source::{First, Source};
use crate::printable::printable;
use crate::standard_output;

/// Prints the first rows of a file as a table.
pub(super) fn command(arguments: &ShowArguments) -> Result<()> {
    let source = Source::file(&arguments.file, &arguments.reading)?;
    let mut first = First::new(arguments.rows);
    source.stream(&mut first, arguments.rows)?;
    let is_part = first.is_cut();
    let rows = first.rows()?;
    let mut out = standard_output::lock();
    print(&rows, &mut out)?;
    let behind = if is_part { ", and more" } else { "" };
    writeln!(out, "{}{behind}", counted(rows.len() as u64, "row"))?;
    drop(out);
    super::note(&source);
    Ok(())
}

/// Prints rows as a table, and behind them how many there are in all.
///
/// # Errors
/// If they cannot be written.
#[cfg(feature = "gateway")]
pub(crate) fn print_table(rows: &Rows, all: u64, out: &mut impl Write) -> Result<()> {
    print(rows, out)?;
    let shown = rows.len() as u64;
    let behind = if shown < all {
        format!("; {shown} of them are shown")
    } else {
        String::new()
    };
    writeln!(out, "{}{behind}", counted(all, "row"))?;
    Ok(())
}

fn print(rows: &Rows, out: &mut impl Write) -> Result<()> {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(
        rows.schema()
            .fields()
            .iter()
            .map(|field| format!("{}\n{}", printable(field.name()), field.kind())),
    );
    for cells in texts(rows)? {
        table.add_row(cells);
    }
    for (index, field) in rows.schema().fields().iter().enumerate() {
        let is_text = matches!(field.kind(), Kind::Text | Kind::Bytes | Kind::Uuid);
        if let (false, Some(column)) = (is_text, table.column_mut(index)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "{table}")?;
    Ok(())
}

/// The values as delimited text has them. A null is nothing there; here it is said.
fn texts(rows: &Rows) -> Result<Vec<Vec<String>>> {
    if rows.is_empty() || rows.schema().is_empty() {
        return Ok(Vec::new());
    }
    // A column in front: a line without anything in it would be no row.
    let front = Field::new("", Kind::U8);
    let fields = once(front).chain(rows.schema().fields().iter().cloned());
    let columns = once(Column::from(vec![0_u8; rows.len()])).chain(rows.columns().iter().cloned());
    let fronted = Rows::new(Schema::new(fields)?, columns)?;
    let mut bytes = Vec::new();
    Text::BARE.encode(&fronted, &mut bytes)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes.as_slice());
    let mut all = Vec::with_capacity(rows.len());
    for (row, record) in reader.records().enumerate() {
        let record = record?;
        all.push(
            record
                .iter()
                .skip(1)
                .enumerate()
                .map(|(column, text)| {
                    if rows.columns()[column].is_null(row) {
                        "null".to_owned()
                    } else {
                        // What would move the terminal's cursor is shown instead.
                        text.chars()
                            .map(|character| {
                                if character.is_control() {
                                    '\u{fffd}'
                                } else {
                                    character
                                }
                            })
                            .collect()
                    }
                })
                .collect(),
        );
    }
    Ok(all)
}
