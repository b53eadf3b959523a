//! What a trial of forms found, in words, tables and JSON.

use std::io::Write;

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::json;
use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{CompressionKind, Limits, Rows};

use super::counted;
use super::source::Source;
use super::trial::{Planned, Trial};
use super::verdict::ranked;
use crate::number::{microseconds, whole};
use crate::printable::{printable, printable_lines};
use tamtam_lab::rows::Link;

/// Everything as tables, and the verdict in words.
pub(super) fn text(
    source: &Source,
    rows: &Rows,
    is_part: bool,
    trials: &[Trial],
    plans: &[(Link, Option<Planned>)],
    out: &mut impl Write,
) -> Result<()> {
    let part = if is_part { "the first " } else { "" };
    let columns = rows.schema().len();
    writeln!(
        out,
        "{source}: {part}{}, {}\n",
        counted(rows.len() as u64, "row"),
        counted(columns as u64, "column")
    )?;
    let mut table = new_table(&[
        "form", "encode", "decode", "bytes", "B/row", "gzip", "zstd", "brotli",
    ]);
    let mut refused = Vec::new();
    for trial in trials {
        match &trial.outcome {
            Err(reason) => refused.push((trial.form, reason)),
            Ok(cost) => {
                let mut cells = vec![
                    trial.form.to_owned(),
                    microseconds(cost.encode),
                    microseconds(cost.decode),
                    whole(cost.bytes),
                    format!("{:.2}", cost.bytes as f64 / rows.len() as f64),
                ];
                for kind in [
                    CompressionKind::Gzip,
                    CompressionKind::Zstd,
                    CompressionKind::Brotli,
                ] {
                    let found = cost.compressed.iter().find(|it| it.by == kind);
                    cells.push(found.map_or("-".to_owned(), |it| whole(it.bytes)));
                }
                table.add_row(cells);
            }
        }
    }
    align_right(&mut table, 1..8);
    writeln!(out, "{table}\n")?;
    for (form, reason) in refused {
        let reason = printable_lines(reason);
        writeln!(out, "{form} cannot carry these rows: {reason}")?;
    }
    columns_of(rows, out)?;
    writeln!(
        out,
        "What to use, by when the table is ready: encoded, compressed, sent and decoded"
    )?;
    for (link, planned) in plans {
        let choices = ranked(trials, *link);
        let Some(best) = choices.first() else {
            continue;
        };
        write!(
            out,
            "  {:>4} Mbit/s  {}: {} for {} bytes; {}",
            link.megabits_per_second,
            best.name(),
            microseconds(best.total),
            whole(best.bytes),
            best.reason()
        )?;
        match choices.iter().find(|other| other.form != best.form) {
            Some(next) => writeln!(
                out,
                " (next: {}, {:.2} times as long)",
                next.name(),
                next.total / best.total
            )?,
            None => writeln!(out)?,
        }
        if let Some(Planned { plan, bytes, total }) = planned {
            writeln!(
                out,
                "               Plan::for_link: {plan}: {} for {} bytes, {:.2} times as long",
                microseconds(*total),
                whole(*bytes),
                total / best.total
            )?;
        }
    }
    Ok(())
}

/// What the packed encoding makes of each column.
fn columns_of(rows: &Rows, out: &mut impl Write) -> Result<()> {
    let mut bytes = Vec::new();
    packed::encode(rows, Mode::Packed, &mut bytes)?;
    let inspection = packed::inspect(&bytes, &Limits::NONE)?;
    let mut table = new_table(&["column", "type", "packed as", "bytes", "B/row"]);
    for column in &inspection.columns {
        let codecs: Vec<_> = column
            .codecs
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        table.add_row([
            printable(column.field.name()),
            column.field.kind().to_string(),
            codecs.join(", "),
            whole(column.bytes),
            format!("{:.2}", column.bytes as f64 / rows.len() as f64),
        ]);
    }
    align_right(&mut table, 3..5);
    writeln!(out, "{table}\n")?;
    Ok(())
}

fn new_table(names: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(names.to_vec());
    table
}

fn align_right(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A line for each form, one for each column, and one for each link.
pub(super) fn json(
    rows: &Rows,
    trials: &[Trial],
    plans: &[(Link, Option<Planned>)],
    out: &mut impl Write,
) -> Result<()> {
    for trial in trials {
        let line = match &trial.outcome {
            Err(reason) => json!({"form": trial.form, "refused": reason}),
            Ok(cost) => json!({
                "form": trial.form, "rows": rows.len(), "encode_us": cost.encode,
                "decode_us": cost.decode, "bytes": cost.bytes,
                "compressed": cost.compressed.iter().map(|it| json!({
                    "by": it.by.name(), "bytes": it.bytes, "compress_us": it.compress,
                    "decompress_us": it.expand,
                })).collect::<Vec<_>>(),
            }),
        };
        writeln!(out, "{line}")?;
    }
    let mut bytes = Vec::new();
    packed::encode(rows, Mode::Packed, &mut bytes)?;
    for column in packed::inspect(&bytes, &Limits::NONE)?.columns {
        let codecs: Vec<_> = column
            .codecs
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let line = json!({
            "column": column.field.name(), "type": column.field.kind().to_string(), "codecs": codecs,
            "bytes": column.bytes,
        });
        writeln!(out, "{line}")?;
    }
    for (link, planned) in plans {
        let choices = ranked(trials, *link);
        if let Some(best) = choices.first() {
            let line = json!({
                "mbit_per_s": link.bits_per_second() / 1_000_000, "use": best.name(), "bytes": best.bytes,
                "total_us": best.total, "transfer_us": best.transfer,
                "because": best.reason(),
                "plan": planned.as_ref().map(|planned| planned.plan.to_string()),
                "plan_bytes": planned.as_ref().map(|planned| planned.bytes),
                "plan_us": planned.as_ref().map(|planned| planned.total),
            });
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
