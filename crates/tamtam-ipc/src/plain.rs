//! Which types may lie in memory that another process writes.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A type whose values are plain bytes: any bytes of its size are a value of it, and each of its bytes belongs to the value (no padding). So
/// nothing that another process writes into shared memory can make a value that the language forbids.
///
/// It is derived by the four traits of `zerocopy` and `Copy`. Numbers, arrays of them, and structs of them with `#[repr(C)]` and without
/// padding are plain; `bool`, `char`, enums and references are not.
///
/// # Examples
///
/// ```
/// use tamtam_ipc::Plain;
/// use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
///
/// #[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
/// #[repr(C)]
/// struct Pixel {
///     place: [u32; 2],
///     color: u32,
/// }
///
/// fn size<T: Plain>() -> usize {
///     size_of::<T>()
/// }
/// assert_eq!(size::<Pixel>(), 12);
/// ```
///
/// A truth value has 254 bytes that it must not be:
///
/// ```compile_fail,E0277
/// fn is_plain<T: tamtam_ipc::Plain>() {}
/// is_plain::<bool>();
/// ```
#[diagnostic::on_unimplemented(
    message = "values of `{Self}` are no plain bytes, and cannot lie in memory that another process writes",
    label = "not plain",
    note = "numbers, arrays of them, and structs of them that derive `FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy` are plain",
    note = "`bool`, `char`, enums, references and `String` are not: send a `u8` for a `bool`, and what serde can write by `encoded_channel`"
)]
pub trait Plain: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + 'static> Plain for T {}
