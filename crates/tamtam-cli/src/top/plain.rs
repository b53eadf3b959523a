//! What is shown as plain text, for scripts and where there is no terminal.

use std::fmt::Write as _;

use super::view::{Table, View};

/// The whole view; each line ends with a new line.
pub(crate) fn text(view: &View) -> String {
    let mut text = format!("{}\n\n", view.program);
    for warning in &view.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if !view.processes.rows.is_empty() {
        add_table(&mut text, &view.processes);
        text.push('\n');
    }
    if !view.homes.rows.is_empty() {
        add_table(&mut text, &view.homes);
        text.push('\n');
    }
    if !view.actors.rows.is_empty() {
        add_table(&mut text, &view.actors);
        let shown = view.actors.rows.len() as u64;
        if shown < view.observed {
            // Text takes everything.
            let _ = writeln!(text, "the first {shown} of {} actors", view.observed);
        }
    }
    if let Some(note) = view.note {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn add_table(text: &mut String, table: &Table) {
    let headings = table.columns.iter().map(|column| column.heading).collect();
    let rows = table.rows.iter();
    let rows = rows.map(|row| row.iter().map(|value| value.text.as_str()).collect());
    let lines: Vec<Vec<&str>> = std::iter::once(headings).chain(rows).collect();
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|place| {
            let cells = lines.iter().filter_map(|line| line.get(place));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for line in &lines {
        let mut shown = String::new();
        for ((cell, column), width) in line.iter().zip(table.columns).zip(&widths) {
            let _ = if column.is_number {
                write!(shown, "{cell:>width$}  ")
            } else {
                write!(shown, "{cell:<width$}  ")
            };
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
}
