use super::{Word, packed_bytes, width_of};

/// Appends `values` to `out`, `width` bits each. Values must fit the width.
pub(crate) fn pack<W: Word>(values: &[W], width: u32, out: &mut Vec<u8>) {
    debug_assert!(values.iter().all(|value| width_of(value.get()) <= width));
    if width == 0 {
        return;
    }
    let start = out.len();
    // Room for one whole word behind the end, so that words can be stored without looking.
    out.resize(start + packed_bytes(values.len(), width) + 8, 0);
    let bytes = &mut out[start..];
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::pack(values, width, bytes);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    portable(
        &values[done..],
        width,
        &mut bytes[done * width as usize / 8..],
    );
    out.truncate(start + packed_bytes(values.len(), width));
}

/// `bytes` has 8 bytes more than the values take.
pub(super) fn portable<W: Word>(values: &[W], width: u32, bytes: &mut [u8]) {
    let mut held = 0_u64;
    let mut count = 0;
    let mut at = 0;
    for value in values {
        let value = value.get();
        held |= value << count;
        count += width;
        if count >= 64 {
            bytes[at..at + 8].copy_from_slice(&held.to_le_bytes());
            at += 8;
            count -= 64;
            held = if count == 0 {
                0
            } else {
                value >> (width - count)
            };
        }
    }
    if count > 0 {
        bytes[at..at + 8].copy_from_slice(&held.to_le_bytes());
    }
}
