//! Texts of a column that are remarkable for one reason: how many, a few of them, and where the first stands.

/// Texts of a column that are remarkable for one reason: how many, a few of them, and where the first stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    count: u64,
    examples: Vec<String>,
    first: First,
}

#[derive(Clone, Copy, Debug, Default)]
enum First {
    #[default]
    None,
    /// At this byte of the block that is looked at.
    At(usize),
    Line(u64),
}

/// How many different texts are kept.
const EXAMPLES: usize = 3;
/// How many characters of each.
const SHOWN: usize = 40;

impl Seen {
    pub(super) fn push(&mut self, text: &str, at: usize) {
        self.count += 1;
        if self.count == 1 {
            self.first = First::At(at);
        }
        if self.examples.len() < EXAMPLES {
            let mut example: String = text.chars().take(SHOWN).collect();
            if example.len() < text.len() {
                example.push_str("...");
            }
            if !self.examples.contains(&example) {
                self.examples.push(example);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn examples(&self) -> &[String] {
        &self.examples
    }

    /// To be called before the block is left: only there a place can be made a line.
    pub(super) fn end_block(&mut self, line: &mut dyn FnMut(usize) -> u64) {
        if let First::At(at) = self.first {
            self.first = First::Line(line(at));
        }
    }

    pub(super) fn line(&self) -> u64 {
        match self.first {
            First::Line(line) => line,
            First::None | First::At(_) => 0,
        }
    }
}
