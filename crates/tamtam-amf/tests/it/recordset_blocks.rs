//! Many rows at a time say and refuse what the same rows do one by one.

use tamtam_amf::recordset::{
    Block, Cell, CellKind, CellSink, Column, Encoder, Expected, ServerInfo, read, read_into,
};
use tamtam_amf::{DecodeError, EncodeError, Limits};

const ROWS: u32 = 300;

/// What cells a reader has handed out.
type Cells = Vec<(usize, usize, String)>;

/// Columns of each kind, for the first of which a text may be put in.
struct Table {
    numbers: Vec<f64>,
    flags: Vec<bool>,
    texts: Vec<String>,
    others: Vec<Option<u8>>,
}

impl Table {
    fn new() -> Self {
        let rows = 0..ROWS;
        Table {
            numbers: rows.clone().map(|row| f64::from(row) * 0.75).collect(),
            flags: rows.clone().map(|row| row % 3 == 0).collect(),
            texts: rows
                .clone()
                .map(|row| "aäb€".repeat((row % 8) as usize))
                .collect(),
            others: rows
                .map(|row| (row % 5 != 2).then_some(row as u8))
                .collect(),
        }
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match column {
            0 => Cell::Number(self.numbers[row]),
            1 => Cell::Boolean(self.flags[row]),
            2 => Cell::String(&self.texts[row]),
            _ => self.others[row].map_or(Cell::Null, |other| Cell::Number(other.into())),
        }
    }

    fn by_rows(&self) -> Vec<u8> {
        self.written(|encoder| {
            for row in 0..ROWS as usize {
                encoder.write_row((0..4).map(|column| self.cell(row, column)))?;
            }
            Ok(())
        })
    }

    fn by_columns(&self, at_once: usize) -> Vec<u8> {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let others: Vec<_> = (0..ROWS as usize).map(|row| self.cell(row, 3)).collect();
        self.written(|encoder| {
            for first in (0..ROWS as usize).step_by(at_once) {
                let rows = first..(first + at_once).min(ROWS as usize);
                encoder.write_columns(&[
                    Column::Number(&self.numbers[rows.clone()]),
                    Column::Boolean(&self.flags[rows.clone()]),
                    Column::Text(&texts[rows.clone()]),
                    Column::Any(&others[rows]),
                ])?;
            }
            Ok(())
        })
    }

    fn written(&self, write: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>) -> Vec<u8> {
        let mut bytes = b"before".to_vec();
        let info = ServerInfo::whole(["number", "flag", "text", "other"], ROWS);
        let mut encoder = Encoder::new(&mut bytes, info, ROWS).unwrap();
        write(&mut encoder).unwrap();
        encoder.finish().unwrap();
        assert!(bytes.starts_with(b"before"));
        bytes.split_off(6)
    }
}

/// Takes whole blocks as long as all that is in them is valid.
#[derive(Default)]
struct ByBlocks {
    cells: Cells,
    rows_in_blocks: usize,
    /// A number that is not taken in a block.
    unwanted: Option<f64>,
}

const EXPECTED: [Expected; 4] = [
    expected(CellKind::Number, false),
    expected(CellKind::Boolean, false),
    expected(CellKind::Text, false),
    expected(CellKind::Number, true),
];

const fn expected(kind: CellKind, is_nullable: bool) -> Expected {
    Expected { kind, is_nullable }
}

impl<'a> CellSink<'a> for ByBlocks {
    fn cell(&mut self, row: usize, column: usize, cell: Cell<'a>) {
        self.cells.push((row, column, format!("{cell:?}")));
    }

    fn expected(&self) -> Vec<Expected> {
        EXPECTED.to_vec()
    }

    fn block(&mut self, block: &Block<'a>) -> bool {
        // One row's cells in each, which are put in order when all are valid.
        let mut columns = vec![Vec::new(); 4];
        let [numbers, flags, texts, others] = &mut columns[..] else {
            unreachable!("there are four");
        };
        let is_taken = block.numbers(0, |number| {
            numbers.push(Cell::Number(number.unwrap()));
            number != self.unwanted
        }) && block.booleans(1, |flag| {
            flags.push(Cell::Boolean(flag.unwrap()));
            true
        }) && block.texts(2, |text| {
            let text = std::str::from_utf8(text.unwrap());
            texts.extend(text.map(Cell::String));
            text.is_ok()
        }) && block.numbers(3, |other| {
            others.push(other.map_or(Cell::Null, Cell::Number));
            true
        });
        if is_taken {
            let first = self.cells.len() / 4;
            for row in 0..block.rows() {
                for (column, cells) in columns.iter().enumerate() {
                    self.cell(first + row, column, cells[row]);
                }
            }
            self.rows_in_blocks += block.rows();
        }
        is_taken
    }
}

/// What comes out of bytes in both ways, which is the same, and how many rows came in blocks.
fn both(bytes: &[u8], limits: Limits) -> (Result<Cells, DecodeError>, usize) {
    let mut cells = Cells::new();
    let found = read(bytes, limits, |row, column, cell| {
        cells.push((row, column, format!("{cell:?}")));
    });
    let mut by_blocks = ByBlocks::default();
    let in_blocks = read_into(bytes, limits, &mut by_blocks);
    assert_eq!(in_blocks, found);
    match found {
        Ok(_) => assert_eq!(by_blocks.cells, cells),
        // Cells that came before the error are the same.
        Err(_) => assert_eq!(by_blocks.cells[..], cells[..by_blocks.cells.len()]),
    }
    (found.map(|_| cells), by_blocks.rows_in_blocks)
}

#[test]
fn columns_are_written_as_rows_are() {
    let mut table = Table::new();
    assert_eq!(table.by_columns(1), table.by_rows());
    assert_eq!(table.by_columns(127), table.by_rows());
    assert_eq!(table.by_columns(ROWS as usize), table.by_rows());
    // Lengths of both kinds of strings, and those that are copied in pieces.
    for (row, text) in table.texts.iter_mut().enumerate().take(20) {
        *text = "x".repeat(row);
    }
    table.texts[200] = "y".repeat(65_535);
    table.texts[201] = "z".repeat(65_536);
    assert_eq!(table.by_columns(ROWS as usize), table.by_rows());
}

#[test]
fn rows_of_one_length_are_written_as_others_are() {
    let mut table = Table::new();
    for width in [0, 1, 3, 6, 17, 33, 300] {
        for (row, text) in table.texts.iter_mut().enumerate() {
            *text = char::from(b'a' + row as u8 % 26).to_string().repeat(width);
        }
        for other in [None, Some(7)] {
            table.others.fill(other);
            for at_once in [1, 2, 3, 127, 128, 129, ROWS as usize] {
                assert_eq!(table.by_columns(at_once), table.by_rows());
            }
            // One cell is longer, the last one among those that are written together.
            table.others[255] = other.xor(Some(1));
            assert_eq!(table.by_columns(ROWS as usize), table.by_rows());
            table.others[255] = other;
            table.texts[0].push('b');
            assert_eq!(table.by_columns(ROWS as usize), table.by_rows());
            table.texts[0].pop();
        }
    }
}

#[test]
fn integers_are_written_as_doubles() {
    let written = |columns: &[Column<'_>]| {
        let mut bytes = Vec::new();
        let info = ServerInfo::whole(["least", "greatest"], 1);
        let mut encoder = Encoder::new(&mut bytes, info, 1).unwrap();
        encoder.write_columns(columns).unwrap();
        encoder.finish().unwrap();
        let mut found = Vec::new();
        read(&bytes, Limits::default(), |_, _, cell| match cell {
            Cell::Number(number) => found.push(number),
            other => panic!("{other:?}"),
        })
        .unwrap();
        found
    };
    assert_eq!(
        written(&[Column::I8(&[-128]), Column::I8(&[127])]),
        [-128.0, 127.0]
    );
    assert_eq!(
        written(&[Column::U8(&[0]), Column::U8(&[255])]),
        [0.0, 255.0]
    );
    assert_eq!(
        written(&[Column::I16(&[-32_768]), Column::U16(&[65_535])]),
        [-32_768.0, 65_535.0]
    );
    assert_eq!(
        written(&[Column::I32(&[i32::MIN]), Column::U32(&[u32::MAX])]),
        [-2_147_483_648.0, 4_294_967_295.0]
    );
}

#[test]
fn columns_that_make_no_rows_are_refused() {
    let refused = |columns: &[Column<'_>]| {
        let mut bytes = Vec::new();
        let info = ServerInfo::whole(["a", "b"], 2);
        let mut encoder = Encoder::new(&mut bytes, info, 2).unwrap();
        encoder.write_columns(columns).unwrap_err()
    };
    let one = Column::U8(&[1]);
    let two = Column::Text(&["x", "y"]);
    let three = Column::Boolean(&[true; 3]);
    assert_eq!(
        refused(&[two, one]),
        EncodeError::Uneven { rows: 2, other: 1 }
    );
    assert_eq!(refused(&[one]), EncodeError::FewerThanAnnounced { left: 1 });
    assert_eq!(refused(&[]), EncodeError::FewerThanAnnounced { left: 2 });
    assert_eq!(refused(&[two, two, two]), EncodeError::MoreThanAnnounced);
    assert_eq!(refused(&[three, three]), EncodeError::MoreThanAnnounced);
    assert_eq!(
        EncodeError::Uneven { rows: 2, other: 1 }.to_string(),
        "a column has 1 cells beside one that has 2: columns of a table are of one length"
    );
}

#[test]
fn columns_wait_for_a_row_that_was_begun() {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["a"], 2), 2).unwrap();
    encoder.begin_row().unwrap();
    let error = encoder.write_columns(&[Column::U8(&[1])]).unwrap_err();
    assert_eq!(error, EncodeError::NotACell);
    encoder.write_cell(Cell::Null).unwrap();
    encoder.end_row().unwrap();
    encoder.write_columns(&[Column::U8(&[1])]).unwrap();
    encoder.finish().unwrap();
}

#[test]
fn blocks_have_the_cells_that_rows_have() {
    let (cells, in_blocks) = both(&Table::new().by_rows(), Limits::default());
    assert_eq!(cells.unwrap().len(), 4 * ROWS as usize);
    assert_eq!(in_blocks, ROWS as usize);
}

#[test]
fn a_row_that_is_not_as_expected_is_read_by_itself() {
    let mut table = Table::new();
    // Longer than a string that a block finds.
    table.texts[200] = "z".repeat(65_536);
    let (cells, in_blocks) = both(&table.by_rows(), Limits::default());
    assert_eq!(cells.unwrap().len(), 4 * ROWS as usize);
    assert!((200..ROWS as usize).contains(&in_blocks), "{in_blocks}");
}

#[test]
fn rows_that_a_sink_does_not_take_come_cell_by_cell() {
    let table = Table::new();
    let bytes = table.by_rows();
    let mut by_blocks = ByBlocks {
        unwanted: Some(table.numbers[130]),
        ..ByBlocks::default()
    };
    read_into(&bytes, Limits::default(), &mut by_blocks).unwrap();
    assert_eq!(by_blocks.cells, both(&bytes, Limits::default()).0.unwrap());
    // The second block was refused, and the third was tried again.
    assert_eq!(by_blocks.rows_in_blocks, 128 + (ROWS as usize - 2 * 128));
}

#[test]
fn damaged_rows_are_refused_at_the_same_place() {
    let bytes = Table::new().by_rows();
    assert!(both(&bytes, Limits::default()).0.is_ok());
    // Each byte of some rows, within a block and around the end of one, is another one or the last.
    let (begin, end) = (bytes.len() / 3, bytes.len() / 3 + 250);
    for at in begin..end {
        for byte in [0, 2, 5, 0x0a, 0xff, bytes[at] ^ 1] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            let _ = both(&damaged, Limits::default());
        }
        both(&bytes[..at], Limits::default()).0.unwrap_err();
    }
}

#[test]
fn limits_hold_at_the_same_row() {
    let bytes = Table::new().by_rows();
    let is_enough = |limits| both(&bytes, limits).0.is_ok();
    let values = (1..10_000)
        .find(|&values| {
            is_enough(Limits {
                values,
                ..Limits::default()
            })
        })
        .unwrap();
    // All cells and rows, and what is around them.
    assert!(
        (5 * ROWS as usize..5 * ROWS as usize + 20).contains(&values),
        "{values}"
    );
    for depth in 0..8 {
        let enough = is_enough(Limits {
            depth,
            ..Limits::default()
        });
        assert_eq!(enough, depth >= 4, "a depth of {depth}");
    }
    for (bytes, enough) in [(bytes.len(), true), (bytes.len() - 1, false)] {
        let limits = Limits {
            bytes,
            ..Limits::default()
        };
        assert_eq!(is_enough(limits), enough);
    }
}

#[test]
fn a_first_row_of_another_width_is_found_in_both_ways() {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["a", "b"], 3), 3).unwrap();
    for row in 0..3 {
        encoder
            .write_row([Cell::Number(row.into()), Cell::Null])
            .unwrap();
    }
    encoder.finish().unwrap();
    let (cells, in_blocks) = both(&bytes, Limits::default());
    assert_eq!((cells.unwrap().len(), in_blocks), (6, 0));
}
