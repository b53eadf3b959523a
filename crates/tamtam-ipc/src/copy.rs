//! Copies between private memory and memory that another process may change at any time.
//!
//! For the language a byte that another process writes while it is read is a race, whatever the byte is used for. So no reference is made to
//! such memory, and what is read of it is read once: by instructions that the compiler knows nothing of on x86-64, by atomic loads elsewhere.
//! What comes out is bytes that may be wrong, and then are checked like any others.

/// A copy goes into shared memory; it goes out of it. The instructions are the same for both, atomic accesses are not.
const INTO: bool = true;
const OUT: bool = false;

/// Copies out of shared memory.
///
/// # Safety
///
/// `from` is valid for reads of `to.len()` bytes. Other processes may write there meanwhile; threads of this one only by
/// [`into_shared`] or atomically.
#[inline]
pub(crate) unsafe fn out_of_shared(from: *const u8, to: &mut [u8]) {
    // SAFETY: both are valid for so many bytes, says the caller of the one, and the other is a slice; they are not the same memory, since a
    // slice is ours alone.
    unsafe { copy::<OUT>(from, to.as_mut_ptr(), to.len()) };
}

/// Copies out of shared memory, into memory that need not hold anything yet.
///
/// # Safety
///
/// - `from` is valid for reads of `len` bytes. Other processes may write there meanwhile; threads of this one only by
///   [`into_shared`] or atomically.
/// - `to` is valid for writes of `len` bytes, and is not shared.
#[inline]
pub(crate) unsafe fn out_of_shared_to(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: both are valid for so many bytes, says the caller; one is shared and the other is not, so they do not overlap.
    unsafe { copy::<OUT>(from, to, len) };
}

/// Copies into shared memory.
///
/// # Safety
///
/// `to` is valid for writes of `from.len()` bytes. Other processes may read and write there meanwhile; threads of this one only by
/// [`out_of_shared`], by this, or atomically.
#[inline]
pub(crate) unsafe fn into_shared(from: &[u8], to: *mut u8) {
    // SAFETY: both are valid for so many bytes, says the caller of the one, and the other is a slice; they are not the same memory, since a
    // slice is nothing that others write.
    unsafe { copy::<INTO>(from.as_ptr(), to, from.len()) };
}

/// From so many bytes on they are moved by one instruction that moves any number; below that, words by hand are faster: 1 KB between two cores
/// in 60 ns instead of 150.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const REPEATED_FROM: usize = 4096;

/// # Safety
///
/// `from` is valid for reads and `to` for writes of `len` bytes, and they do not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy<const IS_INTO: bool>(mut from: *const u8, mut to: *mut u8, len: usize) {
    use core::arch::asm;
    use core::arch::x86_64::__m128i;

    if len >= REPEATED_FROM {
        // SAFETY: the instruction reads and writes `len` bytes at the two addresses, upwards: the direction flag is clear on entry to any
        // block of assembly.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") len => _,
                inout("rsi") from => _,
                inout("rdi") to => _,
                options(nostack, preserves_flags)
            );
        }
        return;
    }
    /// Moves one word of a size from where `from` points to where `to` points, and no more.
    macro_rules! move_word {
        ($from:expr, $to:expr, $word:ident, $load:literal, $store:literal) => {{
            let word: $word;
            asm!($load, out(xmm_reg) word, in(reg) $from, options(nostack, preserves_flags, readonly));
            asm!($store, in(reg) $to, in(xmm_reg) word, options(nostack, preserves_flags));
        }};
        ($from:expr, $to:expr, $load:literal, $store:literal) => {{
            let word: u64;
            asm!($load, out(reg) word, in(reg) $from, options(nostack, preserves_flags, readonly));
            asm!($store, in(reg) $to, in(reg) word, options(nostack, preserves_flags));
        }};
    }
    let mut left = len;
    while left >= 64 {
        // SAFETY: so many bytes are left at both addresses, which are valid for them.
        unsafe {
            asm!(
                "movups {one}, [{from}]",
                "movups {two}, [{from} + 16]",
                "movups {three}, [{from} + 32]",
                "movups {four}, [{from} + 48]",
                "movups [{to}], {one}",
                "movups [{to} + 16], {two}",
                "movups [{to} + 32], {three}",
                "movups [{to} + 48], {four}",
                from = in(reg) from,
                to = in(reg) to,
                one = out(xmm_reg) _,
                two = out(xmm_reg) _,
                three = out(xmm_reg) _,
                four = out(xmm_reg) _,
                options(nostack, preserves_flags)
            );
            (from, to, left) = (from.add(64), to.add(64), left - 64);
        }
    }
    // SAFETY: each step moves bytes that lie within the `len` ones, which are valid at both addresses.
    unsafe {
        while left >= 16 {
            move_word!(from, to, __m128i, "movups {}, [{}]", "movups [{}], {}");
            (from, to, left) = (from.add(16), to.add(16), left - 16);
        }
        if left >= 8 {
            move_word!(from, to, "mov {}, [{}]", "mov [{}], {}");
            (from, to, left) = (from.add(8), to.add(8), left - 8);
        }
        if left >= 4 {
            move_word!(from, to, "mov {0:e}, [{1}]", "mov [{0}], {1:e}");
            (from, to, left) = (from.add(4), to.add(4), left - 4);
        }
        while left > 0 {
            move_word!(from, to, "movzx {0:e}, byte ptr [{1}]", "mov [{0}], {1:l}");
            (from, to, left) = (from.add(1), to.add(1), left - 1);
        }
    }
}

/// # Safety
///
/// `from` is valid for reads and `to` for writes of `len` bytes, and they do not overlap. The shared one of them is valid for both.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
unsafe fn copy<const IS_INTO: bool>(from: *const u8, to: *mut u8, len: usize) {
    use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

    const WORD: usize = size_of::<usize>();

    /// Moves one word: atomically at the shared side, plainly at the other one, which may be read-only or hold nothing yet.
    macro_rules! move_word {
        ($atomic:ident, $word:ident, $at:expr) => {{
            let (from, to) = (from.add($at).cast::<$word>(), to.add($at).cast::<$word>());
            if IS_INTO {
                $atomic::from_ptr(to).store(from.read(), Relaxed);
            } else {
                to.write($atomic::from_ptr(from.cast_mut()).load(Relaxed));
            }
        }};
    }
    // SAFETY: a byte of the `len` ones, at both addresses; any byte is aligned.
    let byte = |at: usize| unsafe { move_word!(AtomicU8, u8, at) };
    let lead = from.align_offset(WORD).min(len);
    (0..lead).for_each(byte);
    let mut at = lead;
    if to.addr().wrapping_add(lead).is_multiple_of(WORD) {
        while len - at >= WORD {
            // SAFETY: a word of the `len` bytes; both addresses are aligned from the lead on.
            unsafe { move_word!(AtomicUsize, usize, at) };
            at += WORD;
        }
    }
    (at..len).for_each(byte);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_bytes_is_copied_from_and_to_any_address_and_none_beside_them() {
        let source: Vec<u8> = (0..5_000_u32).map(|at| (at * 31 % 251) as u8).collect();
        let lengths = (0..70).chain([127, 128, 129, 191, 192, 193, 1_500, 4_095, 4_096, 4_097]);
        // Miri interprets each step of each byte.
        for len in lengths.filter(|len| !cfg!(miri) || *len < 20 || [69, 129].contains(len)) {
            for (skip, offset) in [(0, 0), (1, 0), (0, 3), (5, 2), (8, 8)] {
                let mut target = vec![255_u8; len + offset + 8];
                // SAFETY: so many bytes lie there, behind the offset.
                unsafe { into_shared(&source[skip..skip + len], target.as_mut_ptr().add(offset)) };
                assert_eq!(target[offset..offset + len], source[skip..skip + len]);
                let beside = target[..offset].iter().chain(&target[offset + len..]);
                assert!(
                    beside.copied().all(|byte| byte == 255),
                    "{len} {skip} {offset}"
                );
                let mut back = vec![255_u8; len];
                // SAFETY: so many bytes lie there, behind the offset.
                unsafe { out_of_shared(target.as_mut_ptr().add(offset), &mut back) };
                assert_eq!(back, source[skip..skip + len]);
            }
        }
    }
}
