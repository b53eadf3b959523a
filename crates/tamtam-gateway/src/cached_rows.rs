//! A table that many calls get, and what it is in each form once it was asked for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tamtam_rows::{CompressionKind, Rows};

/// A table that is the answer of many calls: it is encoded once for each form that is asked for, and compressed once for each
/// way that clients accept.
///
/// For tables that change seldom: the tiles of a board, a list of countries, what a query gave a minute ago. A method keeps
/// one of these and gives a clone of it, which copies nothing; when the table has changed, it makes another. Whatever protocol
/// carries a call, the bytes are those that [`Rows`] themselves would have been. What is kept beside the table is bounded: the
/// form that has been there for longest goes first.
///
/// | kept | encoded for each call |
/// |---|---|
/// | every form by URL, each as it is compressed, with its tag; JSON for JSON-RPC; AMF's record sets and objects | a range of rows; XML-RPC; Flex's messages; a push |
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{CachedRows, Fault, Method};
/// use tamtam_rows::{Column, Field, Kind, Rows, Schema};
///
/// let numbers = Schema::new([Field::new("number", Kind::I16)])?;
/// let table = CachedRows::new(Rows::new(numbers, [Column::from(vec![1_i16, 2, 3])])?);
/// let method = Method::new("list", move |(): ()| {
///     let table = table.clone();
///     async { Ok::<CachedRows, Fault>(table) }
/// });
/// # drop(method);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CachedRows(Arc<Cache>);

struct Cache {
    rows: Rows,
    most_bytes: usize,
    encoded: Mutex<Forms>,
}

/// The oldest first.
#[derive(Default)]
struct Forms {
    forms: VecDeque<(Key, Encoded)>,
    bytes: usize,
}

/// A form by its name, and by what the client would have it compressed.
type Key = (&'static str, CompressionKind);

/// The table in one form.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    pub(crate) body: Bytes,
    /// By what it is compressed: what is small is not, whatever the client accepts.
    pub(crate) kind: CompressionKind,
    /// How many bytes it was before.
    pub(crate) plain_bytes: usize,
    /// What tells it from other answers.
    pub(crate) tag: Arc<str>,
}

impl CachedRows {
    /// Bytes of all forms that are kept of a table, unless it says otherwise.
    pub const MOST_BYTES: usize = 16 << 20;

    /// This table, of which as many bytes of its forms are kept as [`MOST_BYTES`](CachedRows::MOST_BYTES).
    pub fn new(rows: Rows) -> CachedRows {
        CachedRows::with_most_bytes(rows, CachedRows::MOST_BYTES)
    }

    /// This table, of which at most so many bytes of its forms are kept. A form that alone is larger is encoded for each call.
    pub fn with_most_bytes(rows: Rows, most_bytes: usize) -> CachedRows {
        CachedRows(Arc::new(Cache {
            rows,
            most_bytes,
            encoded: Mutex::default(),
        }))
    }

    /// The table.
    pub fn rows(&self) -> &Rows {
        &self.0.rows
    }

    /// How many bytes of its forms are kept now.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_gateway::CachedRows;
    /// use tamtam_rows::{Rows, Schema};
    ///
    /// let table = CachedRows::new(Rows::empty(Schema::new([])?));
    /// // It was not asked for yet.
    /// assert_eq!(table.cached_bytes(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cached_bytes(&self) -> usize {
        self.forms().bytes
    }

    /// The table in this form, if it is kept.
    pub(crate) fn get(&self, form: &'static str, wanted: CompressionKind) -> Option<Encoded> {
        let forms = self.forms();
        let found = forms.forms.iter().find(|(key, _)| *key == (form, wanted));
        found.map(|(_, encoded)| encoded.clone())
    }

    /// Keeps the table in this form, if it has room beside or in place of older ones.
    pub(crate) fn keep(&self, form: &'static str, wanted: CompressionKind, encoded: &Encoded) {
        let (key, bytes) = ((form, wanted), encoded.body.len());
        if bytes > self.0.most_bytes {
            return;
        }
        let mut forms = self.forms();
        // Another call may have been as early.
        if forms.forms.iter().any(|(known, _)| *known == key) {
            return;
        }
        while forms.bytes + bytes > self.0.most_bytes {
            let Some((_, oldest)) = forms.forms.pop_front() else {
                break;
            };
            forms.bytes -= oldest.body.len();
        }
        forms.bytes += bytes;
        forms.forms.push_back((key, encoded.clone()));
    }

    /// Appends the table in a form that is not compressed by itself, which `encode` writes if it is not kept.
    ///
    /// # Errors
    /// What `encode` gives; `out` is then as it was.
    pub(crate) fn write<E>(
        &self,
        form: &'static str,
        out: &mut Vec<u8>,
        encode: impl FnOnce(&Rows, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(encoded) = self.get(form, CompressionKind::None) {
            out.extend_from_slice(&encoded.body);
            return Ok(());
        }
        let before = out.len();
        encode(self.rows(), out).inspect_err(|_| out.truncate(before))?;
        let body = Bytes::copy_from_slice(&out[before..]);
        self.keep(form, CompressionKind::None, &Encoded::plain(body));
        Ok(())
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.0
            .encoded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Encoded {
    /// One that is not compressed.
    pub(crate) fn plain(body: Bytes) -> Encoded {
        Encoded {
            kind: CompressionKind::None,
            plain_bytes: body.len(),
            tag: tag_of(&body).into(),
            body,
        }
    }
}

/// What tells bytes from others.
pub(crate) fn tag_of(body: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(body))
}

impl fmt::Debug for CachedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedRows")
            .field("rows", &self.rows().len())
            .field("cached_bytes", &self.cached_bytes())
            .finish_non_exhaustive()
    }
}

impl From<Rows> for CachedRows {
    fn from(rows: Rows) -> CachedRows {
        CachedRows::new(rows)
    }
}

#[cfg(test)]
mod tests {
    use tamtam_rows::Schema;

    use super::*;

    fn cached(most_bytes: usize) -> CachedRows {
        let rows = Rows::empty(Schema::new([]).unwrap());
        CachedRows::with_most_bytes(rows, most_bytes)
    }

    fn encoded(bytes: usize) -> Encoded {
        Encoded::plain(vec![7; bytes].into())
    }

    const PLAIN: CompressionKind = CompressionKind::None;

    #[test]
    fn a_form_is_kept_for_the_way_it_is_compressed() {
        let table = cached(100);
        assert!(table.get("a", PLAIN).is_none());
        table.keep("a", PLAIN, &encoded(3));
        let body = table.get("a", PLAIN).unwrap().body;
        // The same bytes, not a copy.
        assert_eq!(body.as_ptr(), table.get("a", PLAIN).unwrap().body.as_ptr());
        assert!(table.get("a", CompressionKind::Zstd).is_none());
        assert!(table.get("b", PLAIN).is_none());
        assert_eq!(table.clone().cached_bytes(), 3);
    }

    #[test]
    fn the_oldest_makes_room_and_what_is_too_large_is_not_kept() {
        let table = cached(10);
        table.keep("a", PLAIN, &encoded(4));
        table.keep("b", PLAIN, &encoded(4));
        table.keep("c", PLAIN, &encoded(11));
        assert_eq!(table.cached_bytes(), 8);
        table.keep("d", PLAIN, &encoded(6));
        assert!(table.get("a", PLAIN).is_none());
        assert!(table.get("b", PLAIN).is_some() && table.get("d", PLAIN).is_some());
        assert_eq!(table.cached_bytes(), 10);
        table.keep("e", PLAIN, &encoded(10));
        assert_eq!(table.cached_bytes(), 10);
        assert!(table.get("e", PLAIN).is_some() && table.get("d", PLAIN).is_none());
    }

    #[test]
    fn of_two_that_were_encoded_at_once_one_is_kept() {
        let table = cached(10);
        table.keep("a", PLAIN, &encoded(4));
        table.keep("a", PLAIN, &encoded(4));
        assert_eq!(table.cached_bytes(), 4);
    }

    #[test]
    fn it_is_written_once_and_a_failure_leaves_nothing() {
        let table = cached(10);
        let mut out = b"head".to_vec();
        let failed = table.write("a", &mut out, |_, out| {
            out.push(1);
            Err("full")
        });
        assert_eq!((failed, &out[..]), (Err("full"), &b"head"[..]));
        assert_eq!(table.cached_bytes(), 0);
        for times in 1..3 {
            table
                .write("a", &mut out, |_, out| {
                    assert_eq!(times, 1);
                    out.extend_from_slice(b"ab");
                    Ok::<_, ()>(())
                })
                .unwrap();
        }
        assert_eq!(out, b"headabab");
        assert_eq!(table.cached_bytes(), 2);
    }
}
