//! The threads on which the messages of topics are encoded.

use std::io;
use std::sync::OnceLock;

use tamtam_actor::{Pool, Spawner};

/// More threads than this encode no faster than the connections send.
const MOST_THREADS: usize = 4;

/// The threads on which the messages of topics are encoded, from the first subscriber on.
///
/// They are none of the runtime's: where as many connections as there are have something to send, a task of the runtime has its
/// turn after all of these, and the messages would wait as long before they replace older ones.
#[derive(Debug, Default)]
pub(crate) struct Encoders {
    pool: OnceLock<Pool>,
}

impl Encoders {
    /// What actors are begun with there.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(crate) fn spawner(&self) -> io::Result<Spawner> {
        if let Some(pool) = self.pool.get() {
            return Ok(pool.spawner());
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores / 2).clamp(1, MOST_THREADS);
        let pool = Pool::builder().threads(threads).name("push").build()?;
        Ok(self.pool.get_or_init(|| pool).spawner())
    }
}
