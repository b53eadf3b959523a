//! The answer to a call by URL whose table comes part by part: sent while its source gives it, compressed on its way where the client reads that.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_ENCODING;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tamtam_rows::{CompressionError, CompressionKind, Compressor, Rows};
use tokio::time::{Instant, timeout_at};

use crate::exchange::{self, Sent};
use crate::gateway::Shared;
use crate::head::Head;
use crate::heavy_work::SHORT_WORK;
use crate::http::{accepted_compression, answer_of, made_ready, of_type, put};
use crate::protocol::rest::{Form, PartWriter};
use crate::row_stream::Parts;
use crate::stream_head::StreamHead;
use crate::{Fault, FaultKind, RowStream};

/// For so long the first rows are held back at most where they are too few to say whether the answer is worth compressing. A
/// source that gives more does so within microseconds; one that is slower has its rows sent, compressed: it may give many.
const LONGEST_HELD: Duration = Duration::from_millis(50);

/// So many bytes tell, compressed, whether an answer gets smaller by it.
const TELLING_BYTES: usize = 4 << 10;

/// Bytes of an answer that are held back for a threshold, at most: with a higher one no answer is compressed on its way.
const MOST_HELD_BYTES: usize = 1 << 20;

/// A table that is sent while its source gives it. The next part is taken when the last one has gone to the socket.
///
/// # Errors
/// If the form cannot carry it, or its source fails before anything was sent, or gives nothing in time.
pub(crate) async fn of_stream(
    shared: &Shared,
    head: &Head<'_>,
    form: Form,
    rows: RowStream,
) -> Result<Response, Fault> {
    let mut parts = rows.start()?;
    let seen = parts.head();
    let mut written = Written::of(PartWriter::new(form, &parts.schema)?);
    // Until something was sent a failure is a fault; after that all that can be done is to cut the answer off.
    written.take(&mut parts).await?;
    // The client reads, and the next rows may take as long as they do.
    parts.deadline = None;
    let threshold_bytes = shared.gateway.compression.0;
    let kind = match accepted_compression(head) {
        kind if threshold_bytes <= MOST_HELD_BYTES => kind,
        _ => CompressionKind::None,
    };
    let is_late = kind != CompressionKind::None && {
        let deadline = Instant::now() + LONGEST_HELD;
        let enough = threshold_bytes.max(TELLING_BYTES);
        written.gather(&mut parts, enough, deadline).await?
    };
    let Written { writer, bytes } = written;
    let Some(writer) = writer else {
        // All of it is here: an answer like any other.
        let ready = made_ready(shared, head, bytes).await;
        return Ok(answer_of(head, form.content_type(), ready));
    };
    if let Some(seen) = &seen {
        seen.written(bytes.len());
    }
    let (first, compressor) = match kind {
        CompressionKind::None => (bytes, None),
        kind => {
            // Of an answer that is compressed as it is the first bytes have to show that more is saved.
            let is_anyway = is_late && form != Form::Parquet;
            on_another_thread(move || begun(kind, bytes, is_anyway)).await?
        }
    };
    let mut response = of_type(form.content_type(), Body::empty());
    let compression = match compressor {
        Some(_) => kind,
        None => CompressionKind::None,
    };
    if compression != CompressionKind::None {
        put(&mut response, CONTENT_ENCODING, kind.content_encoding());
    }
    // How many bytes it has is known when it has gone.
    exchange::sending(|| Sent {
        content_type: form.content_type().name().to_owned(),
        plain_bytes: 0,
        wire_bytes: 0,
        compression,
        accepted: accepted_compression(head),
        compress: Duration::ZERO,
    });
    let sending = Sending {
        parts,
        first: Some(first.into()),
        pen: Some(Pen {
            writer,
            compressor,
            holds_back: false,
            seen: seen.clone(),
        }),
        seen,
    };
    *response.body_mut() = Body::from_stream(stream::unfold(sending, |mut sending| async {
        let next = sending.next().await?;
        Some((next, sending))
    }));
    Ok(response)
}

/// The first bytes of an answer, and what compresses those behind them; nothing if these would not get smaller, or could not be
/// compressed: then the answer goes as it is.
fn begun(
    kind: CompressionKind,
    bytes: Vec<u8>,
    is_anyway: bool,
) -> Result<(Vec<u8>, Option<Compressor>), Fault> {
    let compress = || {
        let mut compressor = Compressor::new(kind, kind.usual_level())?;
        let mut first = compressor.write(&bytes)?;
        first.extend(compressor.flush()?);
        Ok::<_, CompressionError>((first, compressor))
    };
    Ok(match compress() {
        Ok((first, compressor)) if is_anyway || first.len() < bytes.len() => {
            (first, Some(compressor))
        }
        _ => (bytes, None),
    })
}

/// Writes and compresses on a thread that may be busy for a while.
async fn on_another_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let worked = SHORT_WORK.done(work).await;
    worked.unwrap_or_else(|| {
        let reason = "the answer could not be written";
        Err(Fault::of(FaultKind::Internal, reason))
    })
}

/// The beginning of an answer, of which nothing was sent.
struct Written {
    /// Nothing behind the end.
    writer: Option<PartWriter>,
    bytes: Vec<u8>,
}

impl Written {
    fn of(writer: PartWriter) -> Written {
        Written {
            writer: Some(writer),
            bytes: Vec::new(),
        }
    }

    /// Takes what comes until there are more bytes than these, or the end; says whether the deadline was before.
    ///
    /// # Errors
    /// If the source failed, or the form cannot carry a part.
    async fn gather(
        &mut self,
        parts: &mut Parts,
        enough: usize,
        deadline: Instant,
    ) -> Result<bool, Fault> {
        while self.writer.is_some() && self.bytes.len() <= enough {
            // Nothing is lost if it is too late: a part is taken, or not.
            match timeout_at(deadline, parts.next()).await {
                Ok(part) => self.add(part?).await?,
                Err(_) => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Takes the next part, or the end.
    ///
    /// # Errors
    /// As [`gather`](Written::gather).
    async fn take(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        let part = parts.next().await?;
        self.add(part).await
    }

    async fn add(&mut self, part: Option<Rows>) -> Result<(), Fault> {
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        let (writer, bytes) = on_another_thread(move || match part {
            Some(part) => {
                let bytes = writer.write(&part)?;
                Ok((Some(writer), bytes))
            }
            None => Ok((None, writer.finish()?)),
        })
        .await?;
        self.writer = writer;
        self.bytes.extend(bytes);
        Ok(())
    }
}

/// What writes the parts of a table, and perhaps compresses what is written.
struct Pen {
    writer: PartWriter,
    compressor: Option<Compressor>,
    /// Whether the compressor has taken what it has not given.
    holds_back: bool,
    /// Where it is looked at when it has gone.
    seen: Option<Arc<StreamHead>>,
}

/// What a pen does next.
enum Stroke {
    Part(Rows),
    /// What is held back goes out.
    Flush,
    End,
}

impl Pen {
    /// The bytes that are ready then, and the pen unless it has ended.
    fn draw(mut self, stroke: Stroke) -> Result<(Vec<u8>, Option<Pen>), Fault> {
        match stroke {
            Stroke::Part(part) => {
                let written = self.writer.write(&part)?;
                drop(part);
                if let Some(seen) = &self.seen {
                    seen.written(written.len());
                }
                let bytes = match &mut self.compressor {
                    Some(compressor) => {
                        self.holds_back |= !written.is_empty();
                        compressor.write(&written).map_err(not_compressed)?
                    }
                    None => written,
                };
                Ok((bytes, Some(self)))
            }
            Stroke::Flush => {
                let flushed = self.compressor.as_mut().map(Compressor::flush);
                let bytes = flushed.transpose().map_err(not_compressed)?;
                self.holds_back = false;
                Ok((bytes.unwrap_or_default(), Some(self)))
            }
            Stroke::End => {
                let last = self.writer.finish()?;
                if let Some(seen) = &self.seen {
                    seen.written(last.len());
                }
                let bytes = match self.compressor {
                    Some(mut compressor) => {
                        let mut bytes = compressor.write(&last).map_err(not_compressed)?;
                        bytes.extend(compressor.finish().map_err(not_compressed)?);
                        bytes
                    }
                    None => last,
                };
                Ok((bytes, None))
            }
        }
    }
}

fn not_compressed(error: CompressionError) -> Fault {
    Fault::of(FaultKind::Internal, error.to_string())
}

/// A table on its way.
struct Sending {
    parts: Parts,
    /// Nothing behind the end.
    pen: Option<Pen>,
    first: Option<Bytes>,
    seen: Option<Arc<StreamHead>>,
}

impl Sending {
    /// The next bytes of the answer; nothing behind the last ones.
    async fn next(&mut self) -> Option<Result<Bytes, Fault>> {
        let next = self.next_bytes().await;
        if let (Some(seen), Some(Ok(bytes))) = (&self.seen, &next) {
            seen.sent(bytes.len());
        }
        next
    }

    async fn next_bytes(&mut self) -> Option<Result<Bytes, Fault>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        while let Some(pen) = self.pen.take() {
            match self.drawn(pen).await {
                // A compressor has to have more before it gives something.
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Some(Ok(bytes.into())),
                Err(fault) => {
                    tracing::warn!(
                        code = fault.code(),
                        description = fault.description(),
                        "an answer was cut off"
                    );
                    return Some(Err(fault));
                }
            }
        }
        None
    }

    /// What the next stroke gives. Rows are held back only while the source has more of them at hand.
    async fn drawn(&mut self, pen: Pen) -> Result<Vec<u8>, Fault> {
        let stroke = if pen.holds_back && !self.parts.is_at_hand() {
            Stroke::Flush
        } else {
            match self.parts.next().await? {
                Some(part) => Stroke::Part(part),
                None => Stroke::End,
            }
        };
        let (bytes, pen) = on_another_thread(move || pen.draw(stroke)).await?;
        self.pen = pen;
        Ok(bytes)
    }
}
