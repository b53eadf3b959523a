//! Who has logged in by a message of Flex, which sends a password once and its session from then on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// A session that is not used for so long has ended.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// So many sessions are known at most; the one that was unused for longest makes room.
const MOST_SESSIONS: usize = 10_000;

/// The sessions that have logged in.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    credentials: (String, String),
    used: Instant,
}

impl Sessions {
    /// Begins a session, and gives its name, which no one can guess.
    pub(crate) fn begin(&self, credentials: (String, String)) -> String {
        let name = Uuid::new_v4().hyphenated().to_string().to_uppercase();
        let mut sessions = self.lock();
        if sessions.len() >= MOST_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                sessions.remove(&oldest);
            }
        }
        let used = Instant::now();
        sessions.insert(name.clone(), Session { credentials, used });
        name
    }

    /// Who has begun this session.
    pub(crate) fn find(&self, name: &str) -> Option<(String, String)> {
        let mut sessions = self.lock();
        let session = sessions.get_mut(name)?;
        if session.used.elapsed() > IDLE {
            sessions.remove(name);
            return None;
        }
        session.used = Instant::now();
        Some(session.credentials.clone())
    }

    pub(crate) fn end(&self, name: &str) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without what is secret.
impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sessions({})", self.lock().len())
    }
}
