//! JSON lines: one object for each metric of each contender in each variant.

use std::io::Write;

use anyhow::Result;

use super::Writer;
use super::lines::lines;
use super::recording::Recording;

/// One JSON object a line.
#[derive(Debug)]
pub(in crate::lab) struct Json;

impl Writer for Json {
    fn write(&self, sessions: &[Recording], output: &mut dyn Write) -> Result<()> {
        for line in lines(sessions) {
            serde_json::to_writer(&mut *output, &line)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }
}
