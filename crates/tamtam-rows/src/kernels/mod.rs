//! The loops that the time goes into: bits into bytes and back, hexadecimal digits into numbers and back.
//!
//! Each has a portable form, and forms for processors that can do more, chosen at run time. All give the same bytes:
//! the tests compare them.
//!
//! Values of `width` bits lie one behind the other, each beginning with its lowest bit, in the lowest free bit of the
//! lowest byte: value `i` takes the bits from `i * width` on.

mod hex;
mod pack;
mod unpack;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use hex::{Case, from_hex, to_hex};
pub(crate) use pack::pack;
pub(crate) use unpack::unpack;

/// Does something in a way that the compiler may vectorise with all that this processor can. What is done must be a
/// simple loop, so that it is compiled into this function.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    return x86::vectorised(work);
    #[cfg(not(target_arch = "x86_64"))]
    work()
}

/// The widths of words that values are gathered in before they are packed.
pub(crate) trait Word: Copy + Ord + Default + std::fmt::Debug + 'static {
    const BITS: u32;
    fn of(value: u64) -> Self;
    fn get(self) -> u64;
}

macro_rules! words {
    ($($type:ty),*) => {$(
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline(always)]
            fn of(value: u64) -> $type {
                value as $type
            }
            #[inline(always)]
            fn get(self) -> u64 {
                self.into()
            }
        }
    )*};
}
words!(u8, u16, u32, u64);

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
