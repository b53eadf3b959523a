//! For processors with AVX2 and BMI2 (Intel since 2013, AMD since 2015).

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use super::{Loops, Word, mask};

/// Whether all is there that is used here: the instructions came together.
#[inline(always)]
fn has_avx2() -> bool {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    // It is asked in front of each loop, also of short ones: one load is less than one for each kind of instructions.
    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
    #[cold]
    fn look() -> bool {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        FOUND.store(if found { YES } else { NO }, Relaxed);
        found
    }
    match FOUND.load(Relaxed) {
        UNKNOWN => look(),
        found => found == YES,
    }
}

#[inline(always)]
pub(super) fn vectorised<L: Loops>(loops: L) -> L::Output {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn with_avx2<L: Loops>(loops: L) -> L::Output {
        loops.run()
    }
    if has_avx2() {
        // SAFETY: `has_avx2` says that each of these instructions is there.
        unsafe { with_avx2(loops) }
    } else {
        loops.run()
    }
}

/// Appends as many offsets from `base` as it can, a multiple of 8 of them, and says how many. There must be room for
/// all of them and 16 bytes more.
pub(super) fn pack<W: Word>(values: &[W], base: W, width: u32, out: &mut Vec<u8>) -> usize {
    let groups = match W::BITS {
        16 => values.len() / 16,
        32 => values.len() / 8,
        _ => 0,
    };
    // With 31 bits, what is moved to its place within a byte would be wider than a word.
    if groups == 0 || width > W::BITS || width == 31 || width == 0 || !has_avx2() {
        return 0;
    }
    let per_group = if W::BITS == 16 { 16 } else { 8 };
    let bytes = groups * per_group * width as usize / 8;
    let place = out.spare_capacity_mut();
    assert!(place.len() >= bytes + 16);
    let (from, to) = (values.as_ptr(), place.as_mut_ptr());
    let base = base.get();
    match W::BITS {
        // SAFETY: AVX2 is there; there are 16 values of 16 bits a group; the room was looked at.
        16 => unsafe { pack_16(from.cast(), base as i16, width, groups, to.cast()) },
        // SAFETY: AVX2 is there; there are 8 values of 32 bits a group; the room was looked at.
        _ => unsafe { pack_32(from.cast(), base as i32, width, groups, to.cast()) },
    }
    // SAFETY: that many bytes behind the end have been written.
    unsafe { out.set_len(out.len() + bytes) };
    groups * per_group
}

/// Neighbours are put together: two values to a word of 32 bits, two such to one of 64, two of these to the bits of
/// eight values, which are whole bytes.
///
/// # Safety
/// AVX2 is there; `from` points to 16 values a group; `width` is 1 to 16, and enough for each value less `base`; `to`
/// has room for what they take and 16 bytes more.
#[target_feature(enable = "avx2")]
unsafe fn pack_16(mut from: *const i16, base: i16, width: u32, groups: usize, mut to: *mut u8) {
    let base = _mm256_set1_epi16(base);
    // The first of two values is moved up to the second one, then both down.
    let up = _mm256_set1_epi32(1 << 16 | 1 << (16 - width));
    let down = _mm_cvtsi32_si128(16 - width as i32);
    let up_pairs = _mm256_set1_epi64x(i64::from(32 - 2 * width));
    let down_pairs = _mm_cvtsi32_si128(32 - 2 * width as i32);
    // Four values take whole half bytes.
    let half = 4 * width as usize % 8;
    let up_fours = _mm256_setr_epi64x(0, half as i64, 0, half as i64);
    let lower = Bytes::moved(0, 0, 8);
    let upper = Bytes::moved(width as usize / 2, 8, 8);
    let (lower, upper) = (lower.both(), upper.both());
    for _ in 0..groups {
        // SAFETY: the caller says that a group of values can be read behind `from`.
        let values = unsafe { _mm256_loadu_si256(from.cast()) };
        let values = _mm256_sub_epi16(values, base);
        let pairs = _mm256_srl_epi32(_mm256_mullo_epi16(values, up), down);
        let fours = _mm256_srl_epi64(_mm256_sllv_epi32(pairs, up_pairs), down_pairs);
        let fours = _mm256_sllv_epi64(fours, up_fours);
        let eights = _mm256_or_si256(
            _mm256_shuffle_epi8(fours, lower),
            _mm256_shuffle_epi8(fours, upper),
        );
        // SAFETY: the caller says that `to` has room; a group takes twice `width` bytes, and each store begins within it.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(eights));
            to = to.add(width as usize);
            _mm_storeu_si128(to.cast(), _mm256_extracti128_si256(eights, 1));
            to = to.add(width as usize);
            from = from.add(16);
        }
    }
}

/// # Safety
/// As [`pack_16`], with 8 values of 32 bits a group, and a `width` of 1 to 32 but not 31.
#[target_feature(enable = "avx2")]
unsafe fn pack_32(mut from: *const i32, base: i32, width: u32, groups: usize, mut to: *mut u8) {
    let base = _mm256_set1_epi32(base);
    let up = _mm256_set1_epi64x(i64::from(32 - width));
    let down = _mm_cvtsi32_si128(32 - width as i32);
    let width = width as usize;
    // Where in its byte each pair begins.
    let in_byte = _mm256_setr_epi64x(
        0,
        (2 * width % 8) as i64,
        (4 * width % 8) as i64,
        (6 * width % 8) as i64,
    );
    let middle = width / 2;
    let lower = Bytes::moved(0, 0, 8).both();
    let upper = Bytes::of(
        Bytes::moved(2 * width / 8, 8, 8),
        Bytes::moved(6 * width / 8 - middle, 8, 8),
    );
    // Where the first four values end within a byte, the upper half goes on in it.
    let shared = Bytes::of(
        Bytes::moved(0, 0, 0),
        Bytes::moved(0, middle, usize::from(width % 2 == 1)),
    );
    for _ in 0..groups {
        // SAFETY: the caller says that a group of values can be read behind `from`.
        let values = unsafe { _mm256_loadu_si256(from.cast()) };
        let values = _mm256_sub_epi32(values, base);
        let pairs = _mm256_srl_epi64(_mm256_sllv_epi32(values, up), down);
        let pairs = _mm256_sllv_epi64(pairs, in_byte);
        let fours = _mm256_or_si256(
            _mm256_shuffle_epi8(pairs, lower),
            _mm256_shuffle_epi8(pairs, upper),
        );
        let before = _mm256_permute2x128_si256(fours, fours, 0x08);
        let fours = _mm256_or_si256(fours, _mm256_shuffle_epi8(before, shared));
        // SAFETY: the caller says that `to` has room; a group takes `width` bytes, and each store begins within it.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(fours));
            _mm_storeu_si128(to.add(middle).cast(), _mm256_extracti128_si256(fours, 1));
            to = to.add(width);
            from = from.add(8);
        }
    }
}

/// For each whole 64 pairs of values a word, with a bit set where they differ.
pub(super) fn unequal<W: Word>(ones: &[W], others: &[W], words: &mut Vec<u64>) {
    if !has_avx2() {
        return;
    }
    let pairs = ones.chunks_exact(64).zip(others.chunks_exact(64));
    words.extend(pairs.map(|(ones, others)| {
        let (ones, others) = (ones.as_ptr().cast(), others.as_ptr().cast());
        let equal = match W::BITS {
            // SAFETY: AVX2 is there, and 64 values are in each of both, of as many bits as are said.
            8 => unsafe { equal_8(ones, others) },
            // SAFETY: AVX2 is there, and 64 values of 16 bits are in each of both.
            16 => unsafe { equal_16(ones, others) },
            // SAFETY: AVX2 is there, and 64 values of 32 bits are in each of both.
            32 => unsafe { equal_32(ones, others) },
            // SAFETY: AVX2 is there, and 64 values of 64 bits are in each of both.
            _ => unsafe { equal_64(ones, others) },
        };
        !equal
    }));
}

/// # Safety
/// AVX2 is there; 64 bytes can be read from each of both.
#[target_feature(enable = "avx2")]
unsafe fn equal_8(ones: *const __m256i, others: *const __m256i) -> u64 {
    let mut all = 0;
    for part in 0..2 {
        // SAFETY: the caller says that AVX2 is there, and that so many values can be read from each of both.
        let (one, other) = unsafe { two(ones.add(part), others.add(part)) };
        let equal = _mm256_movemask_epi8(_mm256_cmpeq_epi8(one, other));
        all |= u64::from(equal as u32) << (32 * part);
    }
    all
}

/// # Safety
/// As [`equal_8`], of 64 values of 16 bits.
#[target_feature(enable = "avx2")]
unsafe fn equal_16(ones: *const __m256i, others: *const __m256i) -> u64 {
    let mut all = 0;
    for part in 0..2 {
        // SAFETY: the caller says that AVX2 is there, and that so many values can be read from each of both.
        let (low, high) = unsafe {
            let (one, other) = two(ones.add(2 * part), others.add(2 * part));
            let low = _mm256_cmpeq_epi16(one, other);
            let (one, other) = two(ones.add(2 * part + 1), others.add(2 * part + 1));
            (low, _mm256_cmpeq_epi16(one, other))
        };
        // Packing takes eight bytes of each by turns.
        let bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0b11_01_10_00);
        all |= u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * part);
    }
    all
}

/// # Safety
/// As [`equal_8`], of 64 values of 32 bits.
#[target_feature(enable = "avx2")]
unsafe fn equal_32(ones: *const __m256i, others: *const __m256i) -> u64 {
    let mut all = 0;
    for part in 0..8 {
        // SAFETY: the caller says that AVX2 is there, and that so many values can be read from each of both.
        let (one, other) = unsafe { two(ones.add(part), others.add(part)) };
        let equal = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(one, other)));
        all |= u64::from(equal as u32) << (8 * part);
    }
    all
}

/// # Safety
/// As [`equal_8`], of 64 values of 64 bits.
#[target_feature(enable = "avx2")]
unsafe fn equal_64(ones: *const __m256i, others: *const __m256i) -> u64 {
    let mut all = 0;
    for part in 0..16 {
        // SAFETY: the caller says that AVX2 is there, and that so many values can be read from each of both.
        let (one, other) = unsafe { two(ones.add(part), others.add(part)) };
        let equal = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(one, other)));
        all |= u64::from(equal as u32) << (4 * part);
    }
    all
}

/// # Safety
/// AVX2 is there; 32 bytes can be read from both.
#[target_feature(enable = "avx2")]
unsafe fn two(one: *const __m256i, other: *const __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller says that AVX2 is there, and that 32 bytes can be read from both.
    unsafe { (_mm256_loadu_si256(one), _mm256_loadu_si256(other)) }
}

/// For each of 16 bytes, which byte comes there, or none.
struct Bytes([i8; 16]);

impl Bytes {
    /// `count` bytes from `from` on come to `to`; what would lie beyond the end is nothing.
    fn moved(to: usize, from: usize, count: usize) -> Bytes {
        let mut bytes = [-1; 16];
        for (index, byte) in bytes.iter_mut().skip(to).take(count).enumerate() {
            *byte = (from + index) as i8;
        }
        Bytes(bytes)
    }

    /// For both halves of a register.
    #[target_feature(enable = "avx2")]
    fn both(self) -> __m256i {
        Bytes::of(Bytes(self.0), self)
    }

    #[target_feature(enable = "avx2")]
    fn of(lower: Bytes, upper: Bytes) -> __m256i {
        // SAFETY: both have 16 bytes.
        unsafe {
            _mm256_setr_m128i(
                _mm_loadu_si128(lower.0.as_ptr().cast()),
                _mm_loadu_si128(upper.0.as_ptr().cast()),
            )
        }
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
        // SAFETY: AVX2 is there, the last read ends within `bytes` as said above, and `out` has room for 8 values of 32 bits a group.
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
        // SAFETY: the caller says that `half + 16` bytes can be read.
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
        // SAFETY: the caller says that this group can be read, and that `out` has room for 8 values of 32 bits.
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
        // SAFETY: the caller says that this group can be read, and that `out` has room for 8 values of 16 bits.
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

/// Appends the numbers of 16 bits of as many words as it can, a multiple of 16 of them, to the first `used` lists, and
/// says how many words.
pub(super) fn split_16(words: &[u64], lists: &mut [Vec<u16>; 4], used: usize) -> usize {
    if !has_avx2() {
        return 0;
    }
    let groups = words.len() / 16;
    let used = &mut lists[..used];
    used.iter_mut().for_each(|list| list.reserve(groups * 16));
    let mut places = [std::ptr::null_mut(); 4];
    for (place, list) in places.iter_mut().zip(used.iter_mut()) {
        *place = list.spare_capacity_mut().as_mut_ptr().cast::<u16>();
    }
    // SAFETY: AVX2 is there; there are 16 words a group, and room for as many numbers in each list that has a place.
    unsafe { split_groups(words.as_ptr(), groups, places) };
    for list in used {
        // SAFETY: that many numbers behind the end have been written.
        unsafe { list.set_len(list.len() + groups * 16) };
    }
    groups * 16
}

/// # Safety
/// AVX2 is there; `from` points to 16 words a group; each place is null or has room for 16 numbers a group.
#[target_feature(enable = "avx2")]
unsafe fn split_groups(from: *const u64, groups: usize, places: [*mut u16; 4]) {
    // Of two words, the first numbers come together, the second ones, and so on.
    let paired = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
    ));
    for group in 0..groups {
        // Words 0, 1 and 8, 9, then 2, 3 and 10, 11, so that halves of registers are halves of what is written.
        let pairs = [0, 2, 4, 6].map(|word| {
            // SAFETY: the caller says that `from` points to 16 words a group; `word` is at most 6, so the last one read is its sixteenth.
            let four = unsafe {
                let from = from.add(group * 16 + word);
                _mm256_loadu2_m128i(from.add(8).cast(), from.cast())
            };
            _mm256_shuffle_epi8(four, paired)
        });
        let lower = (
            _mm256_unpacklo_epi32(pairs[0], pairs[1]),
            _mm256_unpacklo_epi32(pairs[2], pairs[3]),
        );
        let upper = (
            _mm256_unpackhi_epi32(pairs[0], pairs[1]),
            _mm256_unpackhi_epi32(pairs[2], pairs[3]),
        );
        let numbers = [
            _mm256_unpacklo_epi64(lower.0, lower.1),
            _mm256_unpackhi_epi64(lower.0, lower.1),
            _mm256_unpacklo_epi64(upper.0, upper.1),
            _mm256_unpackhi_epi64(upper.0, upper.1),
        ];
        for (place, sixteen) in places.into_iter().zip(numbers) {
            if !place.is_null() {
                // SAFETY: the caller says that a place that is not null has room for 16 numbers a group.
                unsafe { _mm256_storeu_si256(place.add(group * 16).cast(), sixteen) };
            }
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
    out.reserve(groups * 4);
    let place = out.spare_capacity_mut().as_mut_ptr();
    // SAFETY: AVX2 is there; the last read ends 28 bytes behind the beginning of the last group, within the text;
    // there is room for four values a group.
    let good = unsafe { read_digits(text.as_ptr(), place.cast(), groups) };
    // SAFETY: four values a group were written there, and whatever they are, they are words.
    unsafe { out.set_len(out.len() + groups * 4) };
    good.then_some(groups * 4)
}

/// # Safety
/// AVX2 is there; of each of the groups, 24 bytes apart, 28 bytes can be read; `out` has room for four values a group.
#[target_feature(enable = "avx2")]
unsafe fn read_digits(mut from: *const u8, mut out: *mut u32, groups: usize) -> bool {
    // Each value's 6 digits to the upper bytes of 8; the two before them are nothing.
    let spread = _mm256_setr_epi8(
        -1, -1, 0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, //
        -1, -1, 0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11,
    );
    // Bytes of 8 digits, first to last: to four bytes, the last digits' first.
    let reversed = _mm256_setr_epi8(
        6, 4, 2, 0, 14, 12, 10, 8, -1, -1, -1, -1, -1, -1, -1, -1, //
        6, 4, 2, 0, 14, 12, 10, 8, -1, -1, -1, -1, -1, -1, -1, -1,
    );
    let digits = digits();
    let mut bad = _mm256_setzero_si256();
    for _ in 0..groups {
        // SAFETY: the caller says that `half + 16` bytes can be read.
        let (low, high) = unsafe {
            (
                _mm_loadu_si128(from.cast()),
                _mm_loadu_si128(from.add(12).cast()),
            )
        };
        let both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        let text = _mm256_shuffle_epi8(both, spread);
        let letter = _mm256_cmpgt_epi8(text, _mm256_set1_epi8(b'9' as i8));
        let nibbles = _mm256_add_epi8(
            _mm256_and_si256(text, _mm256_set1_epi8(0x0f)),
            _mm256_and_si256(letter, _mm256_set1_epi8(9)),
        );
        // What is no digit has a number whose digit is another byte.
        let again = _mm256_shuffle_epi8(digits, nibbles);
        bad = _mm256_or_si256(bad, _mm256_xor_si256(again, text));
        // Pairs of digits: sixteen times the first and the second.
        let pairs = _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x0110));
        let bytes = _mm256_shuffle_epi8(pairs, reversed);
        let four = _mm256_permute4x64_epi64(bytes, 0b1000);
        // SAFETY: the caller says that 28 bytes of this group can be read, and that `out` has room for four values.
        unsafe {
            _mm_storeu_si128(out.cast(), _mm256_castsi256_si128(four));
            from = from.add(24);
            out = out.add(4);
        }
    }
    // The two bytes before each value's digits are not looked at.
    let used = _mm256_set1_epi64x(!0xffff);
    _mm256_testz_si256(bad, used) == 1
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
    let digits = digits();
    let first = _mm256_set1_epi16(0x000f);
    let second = _mm256_set1_epi16(0x0f00);
    for _ in 0..groups {
        // SAFETY: the caller says that `from` points to four values a group.
        let four = unsafe { _mm_loadu_si128(from.cast()) };
        let bytes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(four), doubled);
        // The first of two equal bytes gives its upper digit, the second its lower.
        let nibbles = _mm256_or_si256(
            _mm256_and_si256(_mm256_srli_epi16(bytes, 4), first),
            _mm256_and_si256(bytes, second),
        );
        let text = _mm256_shuffle_epi8(digits, nibbles);
        // SAFETY: the caller says that `out` has room; the second store begins 12 bytes behind the first and ends 4 bytes behind the group.
        unsafe {
            _mm_storeu_si128(out.cast(), _mm256_castsi256_si128(text));
            _mm_storeu_si128(out.add(12).cast(), _mm256_extracti128_si256(text, 1));
            from = from.add(4);
            out = out.add(24);
        }
    }
}

/// The lower-case digits by their numbers.
#[target_feature(enable = "avx2")]
fn digits() -> __m256i {
    _mm256_broadcastsi128_si256(_mm_setr_epi8(
        b'0' as i8, b'1' as i8, b'2' as i8, b'3' as i8, b'4' as i8, b'5' as i8, b'6' as i8,
        b'7' as i8, //
        b'8' as i8, b'9' as i8, b'a' as i8, b'b' as i8, b'c' as i8, b'd' as i8, b'e' as i8,
        b'f' as i8,
    ))
}
