//! JSON from a reader, in blocks of whole rows.

use std::io::Read;

use crate::{DecodeError, Limits};

const FORM: &str = "json";

/// How much is read at once.
const BLOCK: usize = 1 << 20;

/// How the rows of a text lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As the elements of one array.
    Array,
    /// One behind the other, usually a line each.
    Lines,
    /// As an object of columns, which has no rows to be divided at.
    Columns,
}

/// Rows that were read.
#[derive(Debug)]
pub(crate) struct Block<'b> {
    /// JSON of its own: an array of rows, or all columns.
    pub(crate) bytes: &'b [u8],
    pub(crate) layout: Layout,
    /// The same as it lies in the text, where that is something else: rows with nothing between them, and where they end.
    lines: Option<(&'b [u8], &'b [usize])>,
    /// Where in the text these bytes stand.
    offset: u64,
    /// The line in which they begin.
    line: u64,
}

impl Block<'_> {
    /// The error as it is in the whole text.
    pub(crate) fn in_all(&self, mut error: DecodeError) -> DecodeError {
        match &mut error {
            DecodeError::Malformed { at, reason, .. } => {
                let line = self.line(*at as usize);
                reason.push_str(&format!(" (line {line})"));
                *at = self.offset + self.place(*at as usize).0 as u64;
            }
            DecodeError::Truncated { at, .. } => {
                *at = self.offset + self.place(*at as usize).0 as u64;
            }
            DecodeError::Value {
                line: Some(line), ..
            }
            | DecodeError::Nested {
                line: Some(line), ..
            } => *line += self.line - 1,
            _ => {}
        }
        error
    }

    /// In which line of the text this place of the block is.
    pub(crate) fn line(&self, at: usize) -> u64 {
        let (at, bytes) = self.place(at);
        self.line + feeds(&bytes[..at.min(bytes.len())])
    }

    /// Where a place of the block is in these bytes of the text.
    fn place(&self, at: usize) -> (usize, &[u8]) {
        match self.lines {
            None => (at, self.bytes),
            Some((bytes, ends)) => {
                // Before each row stands a bracket or a comma that is not in the text.
                let before = ends.iter().enumerate();
                let before = before.take_while(|&(row, &end)| end + row + 1 < at).count();
                (at.saturating_sub(before + 1), bytes)
            }
        }
    }
}

fn feeds(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Where in a text the next byte stands.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    /// How many arrays and objects of the rows are open.
    depth: u64,
    is_in_text: bool,
    is_escaped: bool,
}

impl Scan {
    /// Goes on behind this byte. `None` if it closes what is not open.
    #[inline]
    fn step(&mut self, byte: u8) -> Option<()> {
        if self.is_in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_text = false,
                _ => {}
            }
            return Some(());
        }
        match byte {
            b'"' => self.is_in_text = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.checked_sub(1)?,
            _ => {}
        }
        Some(())
    }

    fn is_between(&self) -> bool {
        self.depth == 0 && !self.is_in_text
    }
}

/// Divides a text between rows.
pub(crate) struct JsonBlocks<R> {
    source: R,
    most: u64,
    buffer: Vec<u8>,
    /// What of the buffer is of no more use.
    given: usize,
    /// Where the buffer begins in the text.
    offset: u64,
    /// In which line.
    line: u64,
    is_at_end: bool,
    layout: Option<Layout>,
    /// Whether elements of an array were given out.
    has_begun: bool,
    is_done: bool,
    /// Rows that lay on lines, as an array.
    joined: Vec<u8>,
    /// Where they end in the buffer.
    ends: Vec<usize>,
}

impl<R: Read> JsonBlocks<R> {
    pub(crate) fn new(source: R, limits: &Limits) -> JsonBlocks<R> {
        JsonBlocks {
            source,
            most: limits.bytes,
            buffer: Vec::new(),
            given: 0,
            offset: 0,
            line: 1,
            is_at_end: false,
            layout: None,
            has_begun: false,
            is_done: false,
            joined: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The next rows; `None` at the end. There is at least one block, unless the text has nothing in it.
    pub(crate) fn next(&mut self) -> Result<Option<Block<'_>>, DecodeError> {
        self.leave(self.given);
        self.given = 0;
        if self.is_done {
            return self.expect_end();
        }
        let layout = match self.layout {
            Some(layout) => layout,
            None => {
                self.read()?;
                let layout = self.found()?;
                *self.layout.insert(layout)
            }
        };
        match layout {
            Layout::Array => self.elements().map(Some),
            Layout::Lines => self.lines(),
            Layout::Columns => self.all().map(Some),
        }
    }

    /// Leaves so many bytes of the buffer behind.
    fn leave(&mut self, bytes: usize) {
        self.line += feeds(&self.buffer[..bytes]);
        self.offset += bytes as u64;
        self.buffer.drain(..bytes);
    }

    fn read(&mut self) -> Result<(), DecodeError> {
        if self.buffer.len() as u64 > self.most.saturating_add(BLOCK as u64) {
            return Err(DecodeError::Limit {
                form: FORM,
                what: "bytes of one row",
                declared: self.buffer.len() as u64,
                limit: self.most,
            });
        }
        let mut limited = (&mut self.source).take(BLOCK as u64);
        let read = limited.read_to_end(&mut self.buffer)?;
        self.is_at_end = read < BLOCK;
        Ok(())
    }

    /// What the beginning shows; what lies before the first bracket is left behind.
    fn found(&mut self) -> Result<Layout, DecodeError> {
        let behind = |from: usize| {
            let rest = self.buffer.get(from..).unwrap_or_default();
            let blank = rest.iter().take_while(|byte| is_blank(**byte)).count();
            (from + blank, rest.get(blank).copied())
        };
        let (start, first) = behind(0);
        let layout = match first {
            None => Layout::Lines,
            // The names, on a line of their own.
            Some(b'[') if !matches!(behind(start + 1).1, Some(b'[' | b'{' | b']') | None) => {
                Layout::Lines
            }
            Some(b'[') => Layout::Array,
            Some(b'{') => {
                let mut scan = Scan::default();
                let name = behind(start + 1).0;
                let mut end = name;
                // The first name.
                while let Some(&byte) = self.buffer.get(end) {
                    end += 1;
                    scan.step(byte);
                    if !scan.is_in_text {
                        break;
                    }
                }
                let (colon, _) = behind(end);
                // An empty object is a table without columns.
                let is_empty = self.buffer.get(name) == Some(&b'}');
                if is_empty || behind(colon + 1).1 == Some(b'[') {
                    Layout::Columns
                } else {
                    Layout::Lines
                }
            }
            Some(_) => {
                return Err(self.malformed(start, "it begins with neither an array nor an object"));
            }
        };
        // The bracket of an array stays: it is that of the first block.
        self.leave(start);
        Ok(layout)
    }

    #[cold]
    fn malformed(&self, at: usize, reason: &str) -> DecodeError {
        DecodeError::Malformed {
            form: FORM,
            at: self.offset + at as u64,
            reason: format!("{reason} (line {})", self.line + feeds(&self.buffer[..at])),
        }
    }

    #[cold]
    fn truncated(&self) -> DecodeError {
        DecodeError::Truncated {
            form: FORM,
            what: "more JSON",
            at: self.offset + self.buffer.len() as u64,
        }
    }

    /// Elements of the array. The buffer begins with what stands before them, a bracket or a comma, and what stands behind
    /// them is another: both are made brackets, so that they are an array of their own.
    fn elements(&mut self) -> Result<Block<'_>, DecodeError> {
        let mut scan = Scan::default();
        let (mut at, mut comma) = (1, None);
        let end = loop {
            while let Some(&byte) = self.buffer.get(at) {
                if scan.is_between() {
                    match byte {
                        b',' => comma = Some(at),
                        b']' => break,
                        _ => {}
                    }
                }
                if scan.step(byte).is_none() {
                    return Err(self.malformed(at, "a bracket closes what is not open"));
                }
                at += 1;
            }
            if at < self.buffer.len() {
                self.is_done = true;
                break at;
            }
            match comma {
                Some(comma) => break comma,
                None if self.is_at_end => return Err(self.truncated()),
                None => self.read()?,
            }
        };
        let is_blank = self.buffer[1..end].iter().all(|byte| is_blank(*byte));
        if is_blank && (self.has_begun || !self.is_done) {
            return Err(self.malformed(end, "a row is missing beside a comma"));
        }
        self.has_begun = true;
        // A comma stays, to be the bracket of what follows.
        self.given = if self.is_done { end + 1 } else { end };
        self.buffer[0] = b'[';
        self.buffer[end] = b']';
        Ok(Block {
            bytes: &self.buffer[..=end],
            layout: Layout::Array,
            lines: None,
            offset: self.offset,
            line: self.line,
        })
    }

    /// Rows one behind the other, joined by commas.
    fn lines(&mut self) -> Result<Option<Block<'_>>, DecodeError> {
        let mut scan = Scan::default();
        let mut ends = std::mem::take(&mut self.ends);
        ends.clear();
        let mut at = 0;
        loop {
            while let Some(&byte) = self.buffer.get(at) {
                if scan.step(byte).is_none() {
                    return Err(self.malformed(at, "a bracket closes what is not open"));
                }
                at += 1;
                if matches!(byte, b']' | b'}') && scan.is_between() {
                    ends.push(at);
                }
            }
            if self.is_at_end {
                // What is left is a row, too, if not a whole one.
                let last = ends.last().copied().unwrap_or(0);
                if !self.buffer[last..].iter().all(|byte| is_blank(*byte)) {
                    if !scan.is_between() {
                        return Err(self.truncated());
                    }
                    ends.push(at);
                }
                break;
            }
            if !ends.is_empty() {
                break;
            }
            self.read()?;
        }
        let Some(&last) = ends.last() else {
            self.is_done = true;
            self.given = self.buffer.len();
            return Ok(None);
        };
        self.joined.clear();
        let mut from = 0;
        for &end in &ends {
            self.joined.push(if from == 0 { b'[' } else { b',' });
            // With the line feed between them, so that lines stay what they are.
            self.joined.extend_from_slice(&self.buffer[from..end]);
            from = end;
        }
        self.joined.push(b']');
        self.given = last;
        self.ends = ends;
        Ok(Some(Block {
            bytes: &self.joined,
            layout: Layout::Lines,
            lines: Some((&self.buffer[..last], &self.ends)),
            offset: self.offset,
            line: self.line,
        }))
    }

    /// The whole text.
    fn all(&mut self) -> Result<Block<'_>, DecodeError> {
        while !self.is_at_end {
            self.read()?;
        }
        self.is_done = true;
        self.given = self.buffer.len();
        Ok(Block {
            bytes: &self.buffer,
            layout: Layout::Columns,
            lines: None,
            offset: self.offset,
            line: self.line,
        })
    }

    /// Nothing may follow.
    fn expect_end(&mut self) -> Result<Option<Block<'_>>, DecodeError> {
        loop {
            if let Some(at) = self.buffer.iter().position(|byte| !is_blank(*byte)) {
                return Err(self.malformed(at, "trailing characters"));
            }
            if self.is_at_end {
                return Ok(None);
            }
            self.leave(self.buffer.len());
            self.read()?;
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
