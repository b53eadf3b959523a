//! Blocks: the memory of the queues without a bound, a header and some cells in one allocation.

use core::mem::size_of;
use core::ptr::NonNull;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::Deref;

/// Blocks aim at this size, so that messages of any size are allocated in similar portions.
const BLOCK_BYTES: usize = 2048;

/// What a block begins with, and what follows.
pub(crate) trait Header: Sized {
    /// One of the places that follow.
    type Cell;

    /// How many of them there are.
    const CELLS: usize;

    /// The header of a fresh block.
    fn new() -> Self;

    /// A cell of a fresh block, without a message.
    fn cell() -> Self::Cell;
}

/// How many cells of this type a block should have, within bounds.
pub(crate) const fn cells_of<C>(least: usize, most: usize) -> usize {
    if cfg!(tamtam_loom) {
        return 2;
    }
    how_many(BLOCK_BYTES, stride_of::<C>(), least, most)
}

/// How many things of a size fit, within bounds.
const fn how_many(bytes: usize, of_each: usize, least: usize, most: usize) -> usize {
    let fit = bytes / of_each;
    if fit < least {
        least
    } else if fit > most {
        most
    } else {
        fit
    }
}

/// From cell to cell, in bytes. Cells of messages without a size are told apart, too.
const fn stride_of<C>() -> usize {
    if size_of::<C>() == 0 {
        1
    } else {
        size_of::<C>()
    }
}

/// The header of a block; the cells follow.
#[repr(align(128))]
pub(crate) struct Block<H: Header> {
    header: H,
    _cells: [H::Cell; 0],
}

impl<H: Header> Block<H> {
    pub(crate) const CELLS: usize = H::CELLS;

    /// From cell to cell, in bytes.
    pub(crate) const STRIDE: usize = stride_of::<H::Cell>();

    /// How many blocks' cells take so many bytes, within bounds.
    pub(crate) const fn blocks_in(bytes: usize, least: usize, most: usize) -> usize {
        how_many(bytes, Self::CELLS * Self::STRIDE, least, most)
    }

    const LAYOUT: (Layout, usize) = {
        let Some(bytes) = Self::CELLS.checked_mul(Self::STRIDE) else {
            panic!("a block of messages of this type is larger than the address space")
        };
        let Ok(cells) = Layout::from_size_align(bytes, align_of::<H::Cell>()) else {
            panic!("a block of messages of this type is larger than the address space")
        };
        let Ok((layout, offset)) = Layout::new::<Self>().extend(cells) else {
            panic!("a block of messages of this type is larger than the address space")
        };
        (layout.pad_to_align(), offset)
    };

    pub(crate) fn allocate() -> NonNull<Self> {
        let (layout, _) = Self::LAYOUT;
        // SAFETY: the layout's size is not zero: a block is aligned to more than a byte, and its header
        // has fields.
        let block = unsafe { alloc(layout) };
        let Some(block) = NonNull::new(block.cast::<Self>()) else {
            handle_alloc_error(layout)
        };
        // SAFETY: freshly allocated for this very layout.
        unsafe {
            block.write(Block {
                header: H::new(),
                _cells: [],
            });
        }
        for index in 0..Self::CELLS {
            // SAFETY: the block was allocated above, and the layout has room for so many cells.
            unsafe { Self::place(block, index).cast_mut().write(H::cell()) };
        }
        block
    }

    /// Messages that are still in it are leaked.
    ///
    /// # Safety
    ///
    /// No other thread uses the block or will.
    pub(crate) unsafe fn free(block: NonNull<Self>) {
        #[cfg(tamtam_loom)]
        {
            for index in 0..Self::CELLS {
                // SAFETY: written by `allocate`; loom counts what it tracks.
                unsafe { core::ptr::drop_in_place(Self::place(block, index).cast_mut()) };
            }
            // SAFETY: the header was written by `allocate`; loom counts what it tracks.
            unsafe { core::ptr::drop_in_place(block.as_ptr()) };
        }
        // SAFETY: allocated with this layout, and by the caller's promise not in use.
        unsafe { dealloc(block.as_ptr().cast(), Self::LAYOUT.0) };
    }

    /// The place of a cell, or behind the last one.
    ///
    /// # Safety
    ///
    /// The block is alive, and the index is at most the number of cells.
    #[inline(always)]
    pub(crate) unsafe fn place(block: NonNull<Self>, index: usize) -> *const H::Cell {
        debug_assert!(index <= Self::CELLS);
        // SAFETY: by the caller's promise this lies within the block's allocation or just behind it.
        unsafe {
            block
                .cast::<u8>()
                .add(Self::LAYOUT.1 + index * Self::STRIDE)
                .cast::<H::Cell>()
        }
        .as_ptr()
    }
}

impl<H: Header> Deref for Block<H> {
    type Target = H;

    #[inline(always)]
    fn deref(&self) -> &H {
        &self.header
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_as_many_cells_as_fit_between_the_least_and_the_most() {
        assert_eq!(cells_of::<[u8; 100]>(4, 62), 20);
        assert_eq!(cells_of::<[u8; 33]>(4, 62), 62);
        assert_eq!(cells_of::<[u8; 512]>(4, 62), 4);
        assert_eq!(cells_of::<[u8; 5000]>(4, 62), 4);
        assert_eq!(cells_of::<()>(4, 62), 62);
        assert_eq!(cells_of::<u8>(4, 5000), 2048);
    }

    struct Plain<C>(core::marker::PhantomData<C>);

    impl<C: Default> Header for Plain<C> {
        type Cell = C;

        const CELLS: usize = 7;

        fn new() -> Self {
            Plain(core::marker::PhantomData)
        }

        fn cell() -> C {
            C::default()
        }
    }

    #[derive(Default)]
    #[repr(align(512))]
    struct Aligned(u8);

    fn cells_lie_in_their_block<C: Default>() {
        let block = Block::<Plain<C>>::allocate();
        let (layout, _) = Block::<Plain<C>>::LAYOUT;
        let begin = block.addr().get();
        // SAFETY: the block is alive, and seven is the number of its cells.
        let addresses: Vec<_> = (0..=7)
            .map(|index| unsafe { Block::place(block, index) }.addr())
            .collect();
        for pair in addresses.windows(2) {
            assert_eq!(pair[1] - pair[0], size_of::<C>().max(1));
            assert_eq!(pair[0] % align_of::<C>(), 0);
        }
        assert!(addresses[0] >= begin + size_of::<Plain<C>>());
        assert!(addresses[7] <= begin + layout.size() && begin.is_multiple_of(128));
        // SAFETY: no other thread knows the block.
        unsafe { Block::free(block) };
    }

    #[test]
    fn the_cells_of_a_block_are_apart_aligned_and_inside() {
        cells_lie_in_their_block::<u64>();
        cells_lie_in_their_block::<u8>();
        cells_lie_in_their_block::<()>();
        cells_lie_in_their_block::<Aligned>();
        assert_eq!(Aligned::default().0, 0);
    }
}
