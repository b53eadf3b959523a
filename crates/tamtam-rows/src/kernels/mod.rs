//! The loops that the time goes into: bits into bytes and back, hexadecimal digits into numbers and back, values
//! gathered from where they are.
//!
//! Each has a portable form, and forms for processors that can do more, chosen at run time. All give the same bytes:
//! the tests compare them.
//!
//! Values of `width` bits lie one behind the other, each beginning with its lowest bit, in the lowest free bit of the
//! lowest byte: value `i` takes the bits from `i * width` on.

mod flags;
mod hex;
mod join;
mod lanes;
mod pack;
mod unequal;
mod unpack;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use flags::bits_of;
pub(crate) use hex::{Case, from_hex, to_hex};
pub(crate) use join::{join, join_texts};
pub(crate) use lanes::{LANES_OF_16, LANES_OF_32, split_16, split_32};
pub(crate) use pack::{pack, pack_offsets};
pub(crate) use unequal::unequal;
pub(crate) use unpack::unpack;

/// Runs loops in a way that the compiler may vectorise with all that this processor can.
#[inline(always)]
pub(crate) fn vectorised<L: Loops>(loops: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    return x86::vectorised(loops);
    #[cfg(not(target_arch = "x86_64"))]
    loops.run()
}

/// Loops, to be compiled into who runs them. A simple one may be a closure, which is so by itself; of more than that it is to be said where
/// [`run`](Loops::run) stands, and of a closure it cannot be said.
pub(crate) trait Loops {
    type Output;

    fn run(self) -> Self::Output;
}

impl<R, F: FnOnce() -> R> Loops for F {
    type Output = R;

    #[inline(always)]
    fn run(self) -> R {
        self()
    }
}

/// What can be packed.
pub(crate) trait Word: Copy + Ord + Default + std::fmt::Debug + 'static {
    const BITS: u32;
    /// The lowest bits.
    fn of(value: u64) -> Self;
    /// Its bits, without a sign.
    fn get(self) -> u64;
    /// Modulo the width.
    fn less(self, other: Self) -> Self;
}

macro_rules! words {
    ($($type:ty: $unsigned:ty),*) => {$(
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline(always)]
            fn of(value: u64) -> $type {
                value as $type
            }
            #[inline(always)]
            fn get(self) -> u64 {
                self as $unsigned as u64
            }
            #[inline(always)]
            fn less(self, other: $type) -> $type {
                self.wrapping_sub(other)
            }
        }
    )*};
}
words!(u8: u8, u16: u16, u32: u32, u64: u64, i8: u8, i16: u16, i32: u32, i64: u64);

/// How many bytes `count` values of `width` bits take.
pub(crate) fn packed_bytes(count: usize, width: u32) -> usize {
    (count as u128 * u128::from(width)).div_ceil(8) as usize
}

/// How many bits `value` needs.
#[inline(always)]
pub(crate) fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

pub(crate) fn mask(width: u32) -> u64 {
    if width == 0 {
        0
    } else {
        u64::MAX >> (64 - width)
    }
}
