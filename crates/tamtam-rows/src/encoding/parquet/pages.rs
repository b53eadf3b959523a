//! The pages of a Parquet file, looked at before memory is taken for what they declare.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::page_header::PageHeader;
use super::source::Source;
use super::thrift::Unread;

/// One row group, whose pages are looked at before they are decoded.
///
/// Parquet's own reader takes memory for what pages declare, so the headers of a column's pages are read first; and
/// the counts that stand in front of texts written as lengths are compared with the page's.
pub(super) struct CheckedGroup {
    pub(super) source: Arc<Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) group: usize,
    /// Whether texts may be written as what they share with the text before.
    pub(super) allows_prefixes: bool,
}

impl CheckedGroup {
    fn group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.group)
    }

    /// The bytes of all pages of the group, after decompression.
    ///
    /// # Errors
    /// A sentence, if a column does not lie in the file, is compressed by what is not read, or has a broken page.
    pub(super) fn check(&self) -> std::result::Result<u64, String> {
        let columns = self.group().columns().iter();
        columns.map(|column| self.check_column(column)).sum()
    }

    fn check_column(&self, column: &ColumnChunkMetaData) -> std::result::Result<u64, String> {
        let name = column.column_path().string();
        if !matches!(
            column.compression(),
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)
        ) {
            return Err(format!(
                "the column {name:?} is compressed by {}; what is read is uncompressed, SNAPPY and ZSTD",
                column.compression()
            ));
        }
        let start = column
            .dictionary_page_offset()
            .unwrap_or(column.data_page_offset());
        let range = u64::try_from(start)
            .ok()
            .zip(u64::try_from(column.compressed_size()).ok())
            .and_then(|(start, length)| Some(start..start.checked_add(length)?))
            .filter(|range| range.end <= self.source.len());
        let Some(std::ops::Range { start: mut at, end }) = range else {
            return Err(format!("the column {name:?} does not lie in the file"));
        };
        let mut sum = 0;
        while at < end {
            let header = self.page_header(at, end - at).map_err(|reason| {
                format!("a page of the column {name:?} at byte {at}: {reason}")
            })?;
            at += header.length as u64;
            if u64::from(header.compressed) > end - at {
                return Err(format!("a page of the column {name:?} ends behind it"));
            }
            if header.dictionary_values > Some(header.uncompressed) {
                return Err(format!(
                    "the dictionary of the column {name:?} declares more values than it has bytes"
                ));
            }
            at += u64::from(header.compressed);
            sum += u64::from(header.uncompressed);
        }
        Ok(sum)
    }

    fn page_header(&self, at: u64, left: u64) -> std::result::Result<PageHeader, String> {
        // Statistics make some headers long.
        let mut window = 256;
        loop {
            let length = left.min(window);
            let bytes = self
                .source
                .get_bytes(at, length as usize)
                .map_err(|error| error.to_string())?;
            match PageHeader::read(&bytes) {
                Ok(header) => return Ok(header),
                Err(Unread::Longer) if length < left => window *= 16,
                Err(Unread::Longer) => return Err("its header is cut off".to_owned()),
                Err(Unread::Wrong(reason)) => return Err(format!("its header has {reason}")),
            }
        }
    }
}

impl parquet::arrow::arrow_reader::RowGroups for CheckedGroup {
    fn num_rows(&self) -> usize {
        self.group().num_rows() as usize
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.group().column(column);
        let reader = SerializedPageReader::new(self.source.clone(), chunk, self.num_rows(), None)?;
        let has_levels = self
            .metadata
            .file_metadata()
            .schema_descr()
            .column(column)
            .max_def_level()
            > 0;
        let pages = CheckedPages {
            reader,
            has_levels,
            allows_prefixes: self.allows_prefixes,
        };
        Ok(Box::new(OneColumn(Some(Box::new(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pages of one column.
struct OneColumn(Option<Box<CheckedPages>>);

impl Iterator for OneColumn {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(pages as Box<dyn PageReader>))
    }
}

impl PageIterator for OneColumn {}

struct CheckedPages {
    reader: SerializedPageReader<Source>,
    /// Whether something in front of the values says which are null.
    has_levels: bool,
    allows_prefixes: bool,
}

impl CheckedPages {
    fn check(&self, page: &Page) -> Result<()> {
        match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => {}
            Encoding::DELTA_BYTE_ARRAY if !self.allows_prefixes => {
                return Err(ParquetError::NYI(
                    "its texts are written as what they share with the text before, which can make \
                     a small file large; read it without limits if its sender is trusted"
                        .to_owned(),
                ));
            }
            _ => return Ok(()),
        }
        let buffer = page.buffer();
        let values = match page {
            // Levels of the older encoding do not say how long they are.
            Page::DataPage {
                def_level_encoding, ..
            } if self.has_levels && *def_level_encoding != Encoding::RLE => None,
            Page::DataPage { .. } if self.has_levels => {
                let length = buffer.first_chunk().copied().map(u32::from_le_bytes);
                length.and_then(|length| buffer.get(4..)?.get(length as usize..))
            }
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let length = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                buffer.get(length as usize..)
            }
            _ => Some(&buffer[..]),
        };
        // The size of a block, the miniblocks of a block, and then how many lengths there are.
        let declared = values.and_then(|values| {
            let mut values = values;
            varint(&mut values)?;
            varint(&mut values)?;
            varint(&mut values)
        });
        match declared {
            Some(declared) if declared <= page.num_values().into() => Ok(()),
            _ => Err(ParquetError::General(
                "a page of texts with more lengths than values".to_owned(),
            )),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(value);
        }
    }
    None
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.reader.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.reader.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.reader.at_record_boundary()
    }
}
