use std::io::Write;

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::json;
use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{CompressionKind, Rows};

use super::source::Source;
use super::trial::Trial;
use super::verdict::{Choice, packed_for_link, ranked};
use crate::drive::rows::LINKS;
use crate::lab::number::{microseconds, whole};

/// Everything as tables, and the verdict in words.
pub(super) fn text(
    source: &Source,
    rows: &Rows,
    is_part: bool,
    trials: &[Trial],
    out: &mut impl Write,
) -> Result<()> {
    let part = if is_part { "the first " } else { "" };
    let columns = rows.schema().len();
    writeln!(
        out,
        "{source}: {part}{} rows, {columns} columns\n",
        whole(rows.len() as u64)
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
        writeln!(out, "{form} cannot carry these rows: {reason}")?;
    }
    columns_of(rows, out)?;
    writeln!(
        out,
        "What to use, by when the table is ready: encoded, compressed, sent and decoded"
    )?;
    for link in LINKS {
        let choices = ranked(trials, link);
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
        if let Some(ours) =
            packed_for_link(&choices, link).filter(|ours| ours.name() != best.name())
        {
            writeln!(
                out,
                "               Mode::for_link: {}, {:.2} times as long",
                ours.name(),
                ours.total / best.total
            )?;
        }
    }
    Ok(())
}

/// What the packed encoding makes of each column.
fn columns_of(rows: &Rows, out: &mut impl Write) -> Result<()> {
    let mut bytes = Vec::new();
    packed::encode(rows, Mode::Packed, &mut bytes)?;
    let inspection = packed::inspect(&bytes)?;
    let mut table = new_table(&["column", "type", "packed as", "bytes", "B/row"]);
    for column in &inspection.columns {
        let codecs: Vec<_> = column
            .codecs
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        table.add_row([
            column.field.name().to_owned(),
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
pub(super) fn json(rows: &Rows, trials: &[Trial], out: &mut impl Write) -> Result<()> {
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
    for column in packed::inspect(&bytes)?.columns {
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
    for link in LINKS {
        let choices = ranked(trials, link);
        if let Some(best) = choices.first() {
            let ours = packed_for_link(&choices, link);
            let line = json!({
                "mbit_per_s": link.bits_per_second() / 1_000_000, "use": best.name(), "bytes": best.bytes,
                "total_us": best.total, "transfer_us": best.transfer,
                "because": best.reason(), "mode_for_link": ours.map(Choice::name),
                "mode_for_link_us": ours.map(|ours| ours.total),
            });
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
