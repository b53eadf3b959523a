//! The externalizable classes of Flex, as data: which members their flags name.
//!
//! After `readExternal` of Adobe's BlazeDS.

/// The members of a class: for each class that it extends, from the first one on, the names of the bits of each
/// byte of flags, the lowest bit first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    pub(super) levels: &'static [Level],
    /// Whether there are no flags in the bytes: the one member is always there.
    pub(super) implied: bool,
}

/// The names of the bits of each byte of flags of one class.
pub(super) type Level = &'static [&'static [&'static str]];

/// The bit that says that another byte of flags follows.
pub(super) const HAS_NEXT: u8 = 0x80;

/// `AbstractMessage`.
const MESSAGE: Level = &[
    &[
        "body",
        "clientId",
        "destination",
        "headers",
        "messageId",
        "timestamp",
        "timeToLive",
    ],
    &["clientIdBytes", "messageIdBytes"],
];
/// `AsyncMessage`.
const ASYNC: Level = &[&["correlationId", "correlationIdBytes"]];
/// `AcknowledgeMessage`.
const ACKNOWLEDGE: Level = &[&[]];
/// `CommandMessage`.
const COMMAND: Level = &[&["operation"]];

pub(super) fn members(class: &str) -> Option<Members> {
    let flagged = |levels| Members {
        levels,
        implied: false,
    };
    let one = |levels| Members {
        levels,
        implied: true,
    };
    Some(match class {
        "flex.messaging.io.ArrayCollection" | "flex.messaging.io.ArrayList" => {
            one(&[&[&["source"]]])
        }
        "flex.messaging.io.ObjectProxy" => one(&[&[&["object"]]]),
        "DSA" => flagged(&[MESSAGE, ASYNC]),
        "DSC" => flagged(&[MESSAGE, ASYNC, COMMAND]),
        "DSK" => flagged(&[MESSAGE, ASYNC, ACKNOWLEDGE]),
        _ => return None,
    })
}

/// Whether objects of a class are nothing but their one value.
#[cfg(feature = "serde")]
pub(crate) fn is_collection(class: &str) -> bool {
    members(class).is_some_and(|members| members.implied)
}
