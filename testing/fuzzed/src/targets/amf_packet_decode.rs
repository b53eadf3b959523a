//! Any bytes as a packet of remoting: no panic, no more memory than the limits allow, and what they mean is written and
//! read the same again, however it is read.

use tamtam_amf::Limits;
use tamtam_amf::packet::{Decoder, Encoder, Packet, PacketLimits};

/// Small enough to be reached.
const LIMITS: PacketLimits = PacketLimits {
    values: Limits {
        bytes: 1 << 20,
        depth: 128,
        values: 1 << 16,
    },
    headers: 16,
    messages: 16,
    exact_lengths: false,
};

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let whole = Packet::decode(bytes, LIMITS);
    if let Ok(packet) = &whole {
        let written = packet.encode().expect("what was decoded can be written");
        let exact = PacketLimits {
            exact_lengths: true,
            ..PacketLimits::default()
        };
        let again = Packet::decode(&written, exact).expect("what was written can be read");
        assert_eq!(again.encode().expect("as before"), written);
    }
    let Ok(mut decoder) = Decoder::new(bytes, LIMITS) else {
        assert!(whole.is_err());
        return;
    };
    let mut written = Vec::new();
    let mut encoder = Encoder::new(&mut written, decoder.version());
    // Every other value is read over.
    let mut number = 0_usize;
    while let Ok(Some(header)) = decoder.next_header() {
        number += 1;
        if number.is_multiple_of(2) {
            let _ = decoder.next_event();
        } else if let Ok(value) = decoder.value_with_references() {
            let there = encoder.write_header(header.name, header.must_understand, &value);
            there.expect("what was decoded can be written");
        } else {
            pass_over(&mut decoder, bytes);
        }
    }
    while let Ok(Some(message)) = decoder.next_message() {
        number += 1;
        if number.is_multiple_of(2) {
            let _ = decoder.next_event();
        } else if let Ok(value) = decoder.value_with_references() {
            let there = encoder.write_message(message.target, message.response, &value);
            there.expect("what was decoded can be written");
        } else {
            pass_over(&mut decoder, bytes);
        }
    }
    let finished = decoder.finish();
    assert!(finished.is_ok() || whole.is_err());
    let parts = Decoder::new(&written, PacketLimits::default());
    let parts = parts.expect("what was written is a packet");
    parts.finish().expect("what was written can be read over");
}

/// A value that cannot be read is bytes of the packet, and what is read next is behind them.
fn pass_over(decoder: &mut Decoder<'_>, bytes: &[u8]) {
    if let Ok(passed) = decoder.pass_value() {
        let end = decoder.position();
        assert_eq!(bytes.get(end - passed.len()..end), Some(passed));
    }
}
