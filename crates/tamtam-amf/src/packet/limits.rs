//! What a decoder of packets accepts before it gives up.

use crate::Limits;

/// What a decoder of packets accepts before it gives up with an error.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Packet, PacketLimits};
///
/// let limits = PacketLimits { messages: 10, ..Default::default() };
/// let error = Packet::decode(&[0, 0, 0, 0, 0, 11], limits).unwrap_err();
/// assert_eq!(error.to_string(), "at byte 4: 11 messages are more than the limit of 10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLimits {
    /// Of the packet as a whole: its bytes, the values of all headers and messages together, and their depth.
    pub values: Limits,
    /// Headers; at most 65,535. Default: 64.
    pub headers: usize,
    /// Messages; at most 65,535. Default: 256.
    pub messages: usize,
    /// Whether a length that is not that of its value is refused. Otherwise a value ends where it ends, whatever its
    /// length says: clients are known that write wrong ones. A length that is said to be unknown is right. Default: no.
    pub exact_lengths: bool,
}

impl Default for PacketLimits {
    fn default() -> Self {
        Self {
            values: Limits::default(),
            headers: 64,
            messages: 256,
            exact_lengths: false,
        }
    }
}
