//! How far a conversion is: a line on a terminal, nothing elsewhere.

use std::io::{self, IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget};

/// How far a conversion is: a line on a terminal, nothing elsewhere.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    bytes: Arc<AtomicU64>,
}

impl Progress {
    pub(super) fn new() -> Progress {
        let bar = ProgressBar::new_spinner();
        if stderr().is_terminal() {
            bar.set_message("looking at the columns");
            bar.enable_steady_tick(Duration::from_millis(200));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Progress {
            bar,
            bytes: Arc::default(),
        }
    }

    /// Counts what is written.
    pub(super) fn counted<W: Write>(&self, to: W) -> Counted<W> {
        Counted {
            to,
            bytes: Arc::clone(&self.bytes),
        }
    }

    pub(super) fn show(&self, rows: u64) {
        self.bar
            .set_message(line(rows, self.bytes.load(Ordering::Relaxed)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn line(rows: u64, bytes: u64) -> String {
    format!("{} rows, {} written", HumanCount(rows), HumanBytes(bytes))
}

/// Something to write to, of which [`Progress`] knows how many bytes it took.
#[derive(Debug)]
pub(super) struct Counted<W> {
    to: W,
    bytes: Arc<AtomicU64>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_and_said_with_the_rows() {
        let progress = Progress::new();
        let mut to = progress.counted(Vec::new());
        to.write_all(&[7; 3 << 20]).unwrap();
        assert_eq!(progress.bytes.load(Ordering::Relaxed), 3 << 20);
        assert_eq!(line(1_234_567, 3 << 20), "1,234,567 rows, 3.00 MiB written");
    }
}
