//! What a mailbox with rules has to know of a message: how urgent it is, and which other one it takes the place of.
//!
//! Both are asked of the user's functions before any lock is taken, and keys are compared without one.

use core::any::Any;
use core::hash::{BuildHasher, Hash};
use std::hash::RandomState;
use std::sync::Arc;

use tamtam_wait::contain;

/// A message with its label.
pub(crate) struct Letter<M> {
    pub(crate) message: M,
    pub(crate) label: Label,
}

impl<M> Letter<M> {
    /// The message. Its key goes: user code runs, and a panic in it ends here.
    pub(crate) fn into_message(self) -> M {
        let Letter { message, label } = self;
        if let Some(key) = label.key {
            key.go();
        }
        message
    }
}

/// What is known of a message.
#[derive(Clone, Default)]
pub(crate) struct Label {
    /// Higher ones are handled first.
    pub(crate) priority: u8,
    pub(crate) key: Option<MessageKey>,
}

/// What a message is about: of two that are about the same, the later one counts.
#[derive(Clone)]
pub(crate) struct MessageKey {
    pub(crate) hash: u64,
    value: Arc<dyn Value>,
}

/// A key's value, of whatever type.
trait Value: Any + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<K: Eq + Any + Send + Sync> Value for K {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<K>() == Some(self)
    }
}

impl MessageKey {
    /// It is dropped: not under a lock. That is the user's code, and a panic in it ends here.
    pub(crate) fn go(self) {
        contain(move || drop(self));
    }

    /// Runs the user's comparison: not under a lock.
    pub(crate) fn is_same(&self, other: &MessageKey) -> bool {
        let other: &dyn Any = &*other.value;
        self.value.equals(other)
    }
}

type OfMessage<M, T> = Arc<dyn Fn(&M) -> T + Send + Sync>;

/// How messages are labelled.
pub(crate) struct Labels<M> {
    priority: Option<OfMessage<M, u8>>,
    key: Option<OfMessage<M, MessageKey>>,
}

impl<M> Clone for Labels<M> {
    fn clone(&self) -> Self {
        Labels {
            priority: self.priority.clone(),
            key: self.key.clone(),
        }
    }
}

impl<M> Default for Labels<M> {
    fn default() -> Self {
        Labels {
            priority: None,
            key: None,
        }
    }
}

impl<M> Labels<M> {
    pub(crate) fn set_priority(&mut self, priority: impl Fn(&M) -> u8 + Send + Sync + 'static) {
        self.priority = Some(Arc::new(priority));
    }

    pub(crate) fn set_key<K>(&mut self, key: impl Fn(&M) -> K + Send + Sync + 'static)
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        let hasher = RandomState::new();
        self.key = Some(Arc::new(move |message| {
            let value = key(message);
            MessageKey {
                hash: hasher.hash_one(&value),
                value: Arc::new(value),
            }
        }));
    }

    /// The same for messages in envelopes, of which `look` shows the message.
    pub(crate) fn within<E: 'static>(self, look: fn(&E) -> &M) -> Labels<E>
    where
        M: 'static,
    {
        fn of<E: 'static, M: 'static, T: 'static>(
            known: OfMessage<M, T>,
            look: fn(&E) -> &M,
        ) -> OfMessage<E, T> {
            Arc::new(move |envelope| known(look(envelope)))
        }
        Labels {
            priority: self.priority.map(|priority| of(priority, look)),
            key: self.key.map(|key| of(key, look)),
        }
    }

    /// Runs the user's functions: not under a lock.
    pub(crate) fn put_on(&self, message: M) -> Letter<M> {
        let label = Label {
            priority: self
                .priority
                .as_ref()
                .map_or(0, |priority| priority(&message)),
            key: self.key.as_ref().map(|key| key(&message)),
        };
        Letter { message, label }
    }
}
