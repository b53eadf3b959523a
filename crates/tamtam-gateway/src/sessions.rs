//! Who has logged in by a message of Flex, which sends a password once and its session from then on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A session that is not used for so long has ended.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// So many sessions are known at most; the one that was unused for longest makes room.
const MOST_SESSIONS: usize = 10_000;

/// So many bytes of a name and its password are kept at most: 10 MiB of all sessions together.
const MOST_BYTES: usize = 1 << 10;

/// How often sessions that are not used any more are looked for, at most.
const SWEEP_PAUSE: Duration = Duration::from_secs(60);

/// The sessions that have logged in.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<KnownSessions>);

#[derive(Default)]
struct KnownSessions {
    sessions: HashMap<String, Session>,
    /// When those that have ended were last dropped.
    swept: Option<Instant>,
}

struct Session {
    credentials: (Box<str>, Box<str>),
    used: Instant,
}

impl Session {
    fn has_ended(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) > IDLE
    }
}

impl Sessions {
    /// Begins the session of this name, in place of one that has it; not if who begins it has a name and a password of more bytes
    /// than are kept.
    pub(crate) fn begin(&self, name: &str, credentials: (String, String)) -> bool {
        self.begin_at(name, credentials, Instant::now())
    }

    fn begin_at(&self, name: &str, credentials: (String, String), now: Instant) -> bool {
        if credentials.0.len() + credentials.1.len() > MOST_BYTES {
            return false;
        }
        // The room that a text has beyond its bytes is not kept.
        let (user, password) = credentials;
        let credentials = (user.into_boxed_str(), password.into_boxed_str());
        let mut known = self.lock();
        let is_swept = |swept: Instant| now.saturating_duration_since(swept) < SWEEP_PAUSE;
        if !known.swept.is_some_and(is_swept) {
            known.sessions.retain(|_, session| !session.has_ended(now));
            known.swept = Some(now);
        }
        let sessions = &mut known.sessions;
        if sessions.len() >= MOST_SESSIONS && !sessions.contains_key(name) {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                sessions.remove(&oldest);
            }
        }
        let session = Session {
            credentials,
            used: now,
        };
        sessions.insert(name.to_owned(), session);
        true
    }

    /// Who has begun this session.
    pub(crate) fn find(&self, name: &str) -> Option<(String, String)> {
        let now = Instant::now();
        let sessions = &mut self.lock().sessions;
        let session = sessions.get_mut(name)?;
        if session.has_ended(now) {
            sessions.remove(name);
            return None;
        }
        session.used = now;
        let (user, password) = &session.credentials;
        Some((user.to_string(), password.to_string()))
    }

    pub(crate) fn end(&self, name: &str) {
        self.lock().sessions.remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, KnownSessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without what is secret.
impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sessions({})", self.lock().sessions.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(bytes: usize) -> (String, String) {
        ("ada".to_owned(), "p".repeat(bytes - 3))
    }

    #[test]
    fn a_session_keeps_no_more_than_a_bound_of_bytes() {
        let sessions = Sessions::default();
        assert!(!sessions.begin("A", credentials(MOST_BYTES + 1)));
        assert!(sessions.begin("A", credentials(MOST_BYTES)));
        assert_eq!(sessions.find("A"), Some(credentials(MOST_BYTES)));
        assert_eq!(sessions.lock().sessions.len(), 1);
    }

    #[test]
    fn a_session_that_begins_again_is_of_the_last_one_and_takes_no_other_s_room() {
        let sessions = Sessions::default();
        let begun = Instant::now();
        let later = |number| begun + Duration::from_millis(number);
        for number in 0..MOST_SESSIONS as u64 {
            let name = number.to_string();
            assert!(sessions.begin_at(&name, credentials(10), later(number)));
        }
        let last = later(MOST_SESSIONS as u64);
        assert!(sessions.begin_at("0", credentials(11), last));
        assert_eq!(sessions.lock().sessions.len(), MOST_SESSIONS);
        // One that has no room yet gets that of the one that was unused for longest.
        assert!(sessions.begin_at("another", credentials(10), last));
        assert_eq!(sessions.lock().sessions.len(), MOST_SESSIONS);
        assert_eq!(sessions.find("0"), Some(credentials(11)));
        assert_eq!(sessions.find("1"), None);
    }

    #[test]
    fn sessions_that_are_not_used_any_more_go_when_others_begin() {
        let sessions = Sessions::default();
        let begun = Instant::now();
        for name in ["A", "B", "C"] {
            assert!(sessions.begin_at(name, credentials(10), begun));
        }
        let later = begun + IDLE;
        assert!(sessions.begin_at("D", credentials(10), later));
        assert_eq!(sessions.lock().sessions.len(), 4);
        // Not with each that begins: to look at all of them costs more than that.
        for (name, after, left) in [("E", SWEEP_PAUSE / 2, 5), ("F", SWEEP_PAUSE, 3)] {
            assert!(sessions.begin_at(name, credentials(10), later + after));
            assert_eq!(sessions.lock().sessions.len(), left);
        }
    }
}
