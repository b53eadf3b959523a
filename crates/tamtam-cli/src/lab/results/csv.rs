//! Comma-separated values: the fields of the JSON lines as columns, with a heading.

use std::io::Write;

use anyhow::Result;

use super::Writer;
use super::lines::lines;
use super::recording::Recording;

/// One figure a line, below a heading.
#[derive(Debug)]
pub(in crate::lab) struct Csv;

impl Writer for Csv {
    fn write(&self, sessions: &[Recording], output: &mut dyn Write) -> Result<()> {
        let mut writer = ::csv::Writer::from_writer(output);
        for line in lines(sessions) {
            writer.serialize(line)?;
        }
        Ok(writer.flush()?)
    }
}
