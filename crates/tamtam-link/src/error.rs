//! How a link ends.

use std::sync::Arc;
use std::time::Duration;

/// Why a link has ended.
///
/// # Examples
///
/// ```
/// use tamtam_link::LinkEnd;
///
/// let end = LinkEnd::Lost("the socket was closed".into());
/// assert_eq!(end.to_string(), "the other side is gone: the socket was closed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkEnd {
    /// This side has closed it.
    #[error("the link was closed here")]
    Closed,
    /// This side cannot be what the other one wants, as this says.
    #[error("the link was refused here: {0}")]
    Refused(Arc<str>),
    /// The other side has said goodbye, with these words.
    #[error("the other side has closed the link: {0}")]
    Goodbye(Arc<str>),
    /// What carries it has ended, as this says.
    #[error("the other side is gone: {0}")]
    Lost(Arc<str>),
    /// The other side has sent what no link sends, as this says.
    #[error("the other side does not keep to the protocol: {0}")]
    Protocol(Arc<str>),
    /// The other side has not said hello within this [limit](crate::LinkBuilder::hello_limit), as an end of a link does first.
    #[error("the other side has not said hello within {0:?}: is it an end of a link?")]
    Silent(Duration),
    /// An answer of the other side, which is not [trusted](crate::LinkBuilder::untrusted), is awaited behind this many bytes of its messages, and the
    /// actors here have handled none of those for [longer](crate::LinkBuilder::most_unhandled) than may be.
    #[error(
        "an answer is awaited behind {0} bytes of what the other side has sent, and the actors here handle none of that"
    )]
    Unhandled(usize),
    /// The other side does not read what it is sent, of which this many bytes wait.
    #[error("the other side does not read: {0} bytes wait for it, and no more are kept")]
    Unread(usize),
}

impl LinkEnd {
    pub(crate) fn protocol(text: String) -> Self {
        LinkEnd::Protocol(text.into())
    }
}
