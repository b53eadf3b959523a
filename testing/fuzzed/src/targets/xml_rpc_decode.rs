//! Any bytes as the form `xml-rpc`: no panic, limits hold, and a table is written and read the same again, also by references to
//! characters, which the form's own writer has no need of.

use tamtam_rows::encoding::XmlRpc;
use tamtam_rows::{Encoding, Limits};

/// Texts with references in the places of what XML has names for, and of some letters.
fn by_references(written: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * written.len());
    let (mut is_text, mut begun, mut in_reference) = (false, 0, false);
    for (at, &byte) in written.iter().enumerate() {
        in_reference = byte == b'&' || in_reference && byte != b';';
        let reference: &[u8] = match byte {
            b'<' => {
                (is_text, begun) = (false, at);
                b"<"
            }
            b'>' if !is_text => {
                is_text = written[begun..].starts_with(b"<string>");
                b">"
            }
            b'"' if is_text => b"&quot;",
            b'\'' if is_text => b"&apos;",
            b'>' => b"&gt;",
            b'a' if is_text && !in_reference => b"&#97;",
            b'b' if is_text && !in_reference => b"&#x62;",
            _ => &written[at..=at],
        };
        bytes.extend_from_slice(reference);
    }
    bytes
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    if let Some((rows, written)) = crate::forms::decode_as_said(&XmlRpc, bytes) {
        let other = by_references(&written);
        let again = XmlRpc.decode(&other, Some(rows.schema()), &Limits::default());
        assert_eq!(again.expect("it means the same"), rows);
    }
}
