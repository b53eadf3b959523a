//! For processors with AVX2 and BMI2 (Intel since 2013, AMD since 2015).

use std::arch::x86_64::*;

use super::{Word, mask};

fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

pub(super) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    if has_avx2()
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("bmi1")
    {
        // SAFETY: all three are there.
        unsafe { with_avx2(work) }
    } else {
        work()
    }
}

/// Packs as many values as it can, a multiple of 8 of them, and says how many.
pub(super) fn pack<W: Word>(values: &[W], width: u32, bytes: &mut [u8]) -> usize {
    if W::BITS > 32 || width > 32 || !std::arch::is_x86_feature_detected!("bmi2") {
        return 0;
    }
    let done = values.len() / 8 * 8;
    let values = &values[..done];
    assert!(bytes.len() >= done * width as usize / 8 + 8);
    match W::BITS {
        // SAFETY: BMI2 is there, and `bytes` has the room for the values and 8 bytes more.
        16 => unsafe { pack_by_fours(values.as_ptr().cast(), done, width, bytes) },
        // SAFETY: as above.
        32 => unsafe { pack_by_twos(values.as_ptr().cast(), done, width, bytes) },
        _ => return 0,
    }
    done
}

/// # Safety
/// BMI2 is there; `values` points to `count` words, a multiple of 8; `bytes` has room for what they take and 8 more.
#[target_feature(enable = "bmi2")]
unsafe fn pack_by_fours(values: *const u16, count: usize, width: u32, bytes: &mut [u8]) {
    let picked = mask(width) * 0x0001_0001_0001_0001;
    let step = width * 4;
    let mut writer = Words {
        at: bytes.as_mut_ptr(),
        held: 0,
        count: 0,
    };
    for index in (0..count).step_by(4) {
        // SAFETY: `index + 4 <= count`; reading 8 bytes of 4 words, unaligned.
        let four = unsafe { values.add(index).cast::<u64>().read_unaligned() };
        // SAFETY: the room was promised; each call writes only below what all values take, and 8 bytes.
        unsafe { writer.put(_pext_u64(four, picked), step) };
    }
    // SAFETY: as above.
    unsafe { writer.end() };
}

/// # Safety
/// As [`pack_by_fours`], with words of 32 bits.
#[target_feature(enable = "bmi2")]
unsafe fn pack_by_twos(values: *const u32, count: usize, width: u32, bytes: &mut [u8]) {
    let picked = mask(width) * 0x0000_0001_0000_0001;
    let step = width * 2;
    let mut writer = Words {
        at: bytes.as_mut_ptr(),
        held: 0,
        count: 0,
    };
    for index in (0..count).step_by(2) {
        // SAFETY: `index + 2 <= count`; reading 8 bytes of 2 words, unaligned.
        let two = unsafe { values.add(index).cast::<u64>().read_unaligned() };
        // SAFETY: the room was promised.
        unsafe { writer.put(_pext_u64(two, picked), step) };
    }
    // SAFETY: as above.
    unsafe { writer.end() };
}

/// Bits that are gathered to words of 64 and stored.
struct Words {
    at: *mut u8,
    held: u64,
    count: u32,
}

impl Words {
    /// # Safety
    /// There is room for the bits so far, and for 8 bytes. `bits` has no more than `width`, 1 to 64, bits.
    #[inline(always)]
    unsafe fn put(&mut self, bits: u64, width: u32) {
        self.held |= bits << self.count;
        self.count += width;
        if self.count >= 64 {
            // SAFETY: promised.
            unsafe {
                self.at
                    .cast::<[u8; 8]>()
                    .write_unaligned(self.held.to_le_bytes());
                self.at = self.at.add(8);
            }
            self.count -= 64;
            self.held = if self.count == 0 {
                0
            } else {
                bits >> (width - self.count)
            };
        }
    }

    /// # Safety
    /// There is room for 8 bytes.
    #[inline(always)]
    unsafe fn end(self) {
        // SAFETY: promised.
        unsafe {
            self.at
                .cast::<[u8; 8]>()
                .write_unaligned(self.held.to_le_bytes())
        };
    }
}

/// Unpacks as many values as it can, a multiple of 8 of them, and says how many.
pub(super) fn unpack<W: Word>(bytes: &[u8], width: u32, out: &mut [W]) -> usize {
    if width > 25 || W::BITS < 16 || W::BITS > 32 || !has_avx2() {
        return 0;
    }
    // Each eight values take `width` bytes; 16 bytes are read from the middle of them.
    let half = width as usize / 2;
    let readable = bytes
        .len()
        .checked_sub(half + 16)
        .map_or(0, |room| room / width as usize + 1);
    let groups = readable.min(out.len() / 8);
    match W::BITS {
        // SAFETY: AVX2 is there; the last read, `half + 16` bytes behind the beginning of the last group, ends
        // within `bytes`; `out` has room for 8 values a group.
        16 => unsafe { unpack_16(bytes.as_ptr(), width, out.as_mut_ptr().cast(), groups) },
        // SAFETY: as above.
        _ => unsafe { unpack_32(bytes.as_ptr(), width, out.as_mut_ptr().cast(), groups) },
    }
    groups * 8
}

/// The bytes that each value lies in, four for each, and by how many bits it begins later.
struct Lanes {
    bytes: __m256i,
    shifts: __m256i,
    mask: __m256i,
    half: usize,
}

impl Lanes {
    #[target_feature(enable = "avx2")]
    fn new(width: u32) -> Lanes {
        let half = width as usize / 2;
        let mut bytes = [0_u8; 32];
        let mut shifts = [0_u32; 8];
        for lane in 0..8 {
            let bit = lane * width as usize;
            // The upper four are read from `half` on.
            let first = bit / 8 - if lane < 4 { 0 } else { half };
            for byte in 0..4 {
                bytes[lane * 4 + byte] = (first + byte) as u8;
            }
            shifts[lane] = (bit % 8) as u32;
        }
        // SAFETY: both arrays have 32 bytes.
        let (bytes, shifts) = unsafe {
            (
                _mm256_loadu_si256(bytes.as_ptr().cast()),
                _mm256_loadu_si256(shifts.as_ptr().cast()),
            )
        };
        Lanes {
            bytes,
            shifts,
            mask: _mm256_set1_epi32(mask(width) as i32),
            half,
        }
    }

    /// # Safety
    /// `half + 16` bytes can be read from `from`.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn eight(&self, from: *const u8) -> __m256i {
        // SAFETY: promised.
        let (low, high) = unsafe {
            (
                _mm_loadu_si128(from.cast()),
                _mm_loadu_si128(from.add(self.half).cast()),
            )
        };
        let both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        let lanes = _mm256_shuffle_epi8(both, self.bytes);
        _mm256_and_si256(_mm256_srlv_epi32(lanes, self.shifts), self.mask)
    }
}

/// # Safety
/// AVX2 is there; of each of the groups, `width` bytes apart, `width / 2 + 16` bytes can be read; `out` has room for
/// 8 values a group.
#[target_feature(enable = "avx2")]
unsafe fn unpack_32(mut from: *const u8, width: u32, mut out: *mut u32, groups: usize) {
    let lanes = Lanes::new(width);
    for _ in 0..groups {
        // SAFETY: promised.
        unsafe {
            _mm256_storeu_si256(out.cast(), lanes.eight(from));
            from = from.add(width as usize);
            out = out.add(8);
        }
    }
}

/// # Safety
/// As [`unpack_32`].
#[target_feature(enable = "avx2")]
unsafe fn unpack_16(mut from: *const u8, width: u32, mut out: *mut u16, groups: usize) {
    let lanes = Lanes::new(width);
    let low = _mm256_set1_epi32(0xffff);
    for _ in 0..groups {
        // SAFETY: promised.
        unsafe {
            let eight = _mm256_and_si256(lanes.eight(from), low);
            let packed = _mm_packus_epi32(
                _mm256_castsi256_si128(eight),
                _mm256_extracti128_si256(eight, 1),
            );
            _mm_storeu_si128(out.cast(), packed);
            from = from.add(width as usize);
            out = out.add(8);
        }
    }
}

/// Reads values of six lower-case digits, a multiple of 4 of them, and says how many; `None` if one is no digit.
pub(super) fn from_hex_6<W: Word>(text: &[u8], out: &mut Vec<W>) -> Option<usize> {
    if W::BITS != 32 || !has_avx2() {
        return Some(0);
    }
    // Four values take 24 bytes; 16 are read from the 12th on.
    let groups = text.len().checked_sub(28).map_or(0, |room| room / 24 + 1);
    let start = out.len();
    out.resize(start + groups * 4, W::of(0));
    // SAFETY: AVX2 is there; the last read ends 28 bytes behind the beginning of the last group, within the text;
    // there is room for four values a group.
    let good = unsafe { read_digits(text.as_ptr(), out[start..].as_mut_ptr().cast(), groups) };
    good.then_some(groups * 4)
}

/// # Safety
/// AVX2 is there; of each of the groups, 24 bytes apart, 28 bytes can be read; `out` has room for four values a group.
#[target_feature(enable = "avx2")]
unsafe fn read_digits(mut from: *const u8, mut out: *mut u32, groups: usize) -> bool {
    // Each value's 6 digits to the upper bytes of 8; the two before them are zeros.
    let spread = _mm256_setr_epi8(
        -1, -1, 0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, //
        -1, -1, 0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11,
    );
    let unused = _mm256_setr_epi8(
        b'0' as i8, b'0' as i8, 0, 0, 0, 0, 0, 0, b'0' as i8, b'0' as i8, 0, 0, 0, 0, 0, 0, //
        b'0' as i8, b'0' as i8, 0, 0, 0, 0, 0, 0, b'0' as i8, b'0' as i8, 0, 0, 0, 0, 0, 0,
    );
    // Bytes of 8 digits, first to last: to four bytes, the last digits' first.
    let reversed = _mm256_setr_epi8(
        6, 4, 2, 0, 14, 12, 10, 8, -1, -1, -1, -1, -1, -1, -1, -1, //
        6, 4, 2, 0, 14, 12, 10, 8, -1, -1, -1, -1, -1, -1, -1, -1,
    );
    let mut bad = _mm256_setzero_si256();
    for _ in 0..groups {
        // SAFETY: promised.
        let (low, high) = unsafe {
            (
                _mm_loadu_si128(from.cast()),
                _mm_loadu_si128(from.add(12).cast()),
            )
        };
        let both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        let text = _mm256_or_si256(_mm256_shuffle_epi8(both, spread), unused);
        // As signed bytes, so that those above 127 are below every digit.
        let digit = _mm256_and_si256(
            _mm256_cmpgt_epi8(text, _mm256_set1_epi8(b'0' as i8 - 1)),
            _mm256_cmpgt_epi8(_mm256_set1_epi8(b'9' as i8 + 1), text),
        );
        let letter = _mm256_and_si256(
            _mm256_cmpgt_epi8(text, _mm256_set1_epi8(b'a' as i8 - 1)),
            _mm256_cmpgt_epi8(_mm256_set1_epi8(b'f' as i8 + 1), text),
        );
        bad = _mm256_or_si256(
            bad,
            _mm256_xor_si256(_mm256_or_si256(digit, letter), _mm256_set1_epi8(-1)),
        );
        let nibbles = _mm256_add_epi8(
            _mm256_and_si256(text, _mm256_set1_epi8(0x0f)),
            _mm256_and_si256(letter, _mm256_set1_epi8(9)),
        );
        // Pairs of digits: sixteen times the first and the second.
        let pairs = _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x0110));
        let bytes = _mm256_shuffle_epi8(pairs, reversed);
        let four = _mm256_permute4x64_epi64(bytes, 0b1000);
        // SAFETY: promised.
        unsafe {
            _mm_storeu_si128(out.cast(), _mm256_castsi256_si128(four));
            from = from.add(24);
            out = out.add(4);
        }
    }
    _mm256_testz_si256(bad, bad) == 1
}

/// Writes values as six lower-case digits each, a multiple of 4 of them, and says how many. `out` has 8 bytes more
/// than the text takes.
pub(super) fn to_hex_6<W: Word>(values: &[W], out: &mut [u8]) -> usize {
    if W::BITS != 32 || !has_avx2() {
        return 0;
    }
    let groups = values.len() / 4;
    assert!(out.len() >= groups * 24 + 4);
    // SAFETY: AVX2 is there; there are 4 values a group, and room for 24 bytes each and 4 more.
    unsafe { write_digits(values.as_ptr().cast(), out.as_mut_ptr(), groups) };
    groups * 4
}

/// # Safety
/// AVX2 is there; `from` points to four values a group; `out` has room for 24 bytes a group and 4 more.
#[target_feature(enable = "avx2")]
unsafe fn write_digits(mut from: *const u32, mut out: *mut u8, groups: usize) {
    // The three bytes of each of two values, the highest first, each twice.
    let doubled = _mm256_setr_epi8(
        2, 2, 1, 1, 0, 0, 6, 6, 5, 5, 4, 4, -1, -1, -1, -1, //
        10, 10, 9, 9, 8, 8, 14, 14, 13, 13, 12, 12, -1, -1, -1, -1,
    );
    let digits = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        b'0' as i8, b'1' as i8, b'2' as i8, b'3' as i8, b'4' as i8, b'5' as i8, b'6' as i8,
        b'7' as i8, //
        b'8' as i8, b'9' as i8, b'a' as i8, b'b' as i8, b'c' as i8, b'd' as i8, b'e' as i8,
        b'f' as i8,
    ));
    let first = _mm256_set1_epi16(0x000f);
    let second = _mm256_set1_epi16(0x0f00);
    for _ in 0..groups {
        // SAFETY: promised.
        let four = unsafe { _mm_loadu_si128(from.cast()) };
        let bytes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(four), doubled);
        // The first of two equal bytes gives its upper digit, the second its lower.
        let nibbles = _mm256_or_si256(
            _mm256_and_si256(_mm256_srli_epi16(bytes, 4), first),
            _mm256_and_si256(bytes, second),
        );
        let text = _mm256_shuffle_epi8(digits, nibbles);
        // SAFETY: promised; the second store begins 12 bytes behind the first and ends 4 bytes behind the group.
        unsafe {
            _mm_storeu_si128(out.cast(), _mm256_castsi256_si128(text));
            _mm_storeu_si128(out.add(12).cast(), _mm256_extracti128_si256(text, 1));
            from = from.add(4);
            out = out.add(24);
        }
    }
}
