//! Many pieces of memory of one size in one large piece: for the nodes of mailboxes that no thread keeps.
//!
//! An allocator that is asked for each node by itself wastes as much again, and more, on what it notes beside them and
//! on their alignment; and giving nodes back takes it a lock for each. Here they lie side by side in slabs, as in Bonwick's
//! *The Slab Allocator* (1994). A slab whose nodes have all been given back is given back itself; those of which some
//! are free are used first.

use core::ptr;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// What the first node of a slab is aligned to, in bytes; the others, too, if their size is a multiple of it.
pub(crate) const ALIGN: usize = 64;
/// What sizes of nodes are multiples of, in bytes, and all nodes are aligned to.
const LEAST_ALIGN: usize = 16;
/// A slab has room for so many nodes at least.
const FEWEST_NODES: usize = 60;

/// What a slab begins with. Its address is a multiple of its size, so that it is found from each of its nodes.
#[repr(C, align(64))]
struct SlabHead {
    /// Nodes that were given back.
    free: *mut Free,
    /// So many nodes were never taken; they are the last ones.
    fresh: usize,
    /// How many nodes are in use.
    used: usize,
    /// Other slabs that have nodes to take; null if this one has none.
    next: *mut SlabHead,
    before: *mut SlabHead,
}

/// A node that was given back.
struct Free {
    next: *mut Free,
}

/// Slabs for nodes of one size.
pub(crate) struct Slabs {
    /// In bytes.
    size: usize,
    /// The first of those that have nodes to take.
    open: *mut SlabHead,
}

// SAFETY: the slabs belong to who has this; the nodes in other hands are not touched.
unsafe impl Send for Slabs {}

impl Slabs {
    /// Slabs for nodes of `size` bytes.
    pub(crate) const fn new(size: usize) -> Self {
        assert!(size != 0 && size.is_multiple_of(LEAST_ALIGN));
        Slabs {
            size,
            open: ptr::null_mut(),
        }
    }

    /// What the address of a slab is a multiple of.
    const fn reach(&self) -> usize {
        (FEWEST_NODES * self.size).next_power_of_two()
    }

    /// The slab that a node is in.
    fn slab_of(&self, node: *mut u8) -> *mut SlabHead {
        node.map_addr(|address| address & !(self.reach() - 1))
            .cast()
    }

    /// How many nodes a slab has. One place of 64 bytes is for its head, and one is left for the allocator's own notes:
    /// else the next slab would find itself behind a hole as large as a slab.
    const fn nodes(&self) -> usize {
        (self.reach() - 2 * ALIGN) / self.size
    }

    const fn layout(&self) -> Layout {
        match Layout::from_size_align(ALIGN + self.nodes() * self.size, self.reach()) {
            Ok(layout) => layout,
            Err(_) => panic!("a slab is larger than the address space"),
        }
    }

    /// Memory for so many nodes, in the order in which they lie if they are new.
    pub(crate) fn take(&mut self, nodes: &mut [*mut u8]) {
        for node in nodes {
            if self.open.is_null() {
                self.open = self.make();
            }
            // SAFETY: an open slab is alive, and no other thread has it.
            *node = unsafe { self.take_from(self.open) };
        }
    }

    /// A new slab, all of whose nodes are fresh.
    fn make(&self) -> *mut SlabHead {
        // SAFETY: a slab has a size.
        let slab = unsafe { alloc(self.layout()) }.cast::<SlabHead>();
        if slab.is_null() {
            handle_alloc_error(self.layout())
        }
        // SAFETY: fresh memory, with room for a head.
        unsafe {
            slab.write(SlabHead {
                free: ptr::null_mut(),
                fresh: self.nodes(),
                used: 0,
                next: ptr::null_mut(),
                before: ptr::null_mut(),
            });
        }
        slab
    }

    /// # Safety
    ///
    /// The slab is one of these, and open.
    unsafe fn take_from(&mut self, slab: *mut SlabHead) -> *mut u8 {
        // SAFETY: the slab is open: it is alive and has nodes; and free nodes are used by nothing.
        unsafe {
            (*slab).used += 1;
            let free = (*slab).free;
            let node = if free.is_null() {
                let place = self.nodes() - (*slab).fresh;
                (*slab).fresh -= 1;
                slab.cast::<u8>().add(ALIGN + place * self.size)
            } else {
                (*slab).free = (*free).next;
                free.cast()
            };
            if (*slab).free.is_null() && (*slab).fresh == 0 {
                self.unlink(slab);
            }
            node
        }
    }

    /// Takes nodes back.
    ///
    /// # Safety
    ///
    /// They were taken from these slabs, and are not used any more.
    pub(crate) unsafe fn give_back(&mut self, nodes: &[*mut u8]) {
        for node in nodes {
            // SAFETY: each node was taken from these slabs, and its slab lives as long as it is in use. A slab that is
            // not open is on no list.
            unsafe {
                let slab = self.slab_of(*node);
                let was_open = !(*slab).free.is_null() || (*slab).fresh != 0;
                let free = node.cast::<Free>();
                free.write(Free { next: (*slab).free });
                (*slab).free = free;
                (*slab).used -= 1;
                if (*slab).used == 0 {
                    if was_open {
                        self.unlink(slab);
                    }
                    dealloc(slab.cast(), self.layout());
                } else if !was_open {
                    self.link(slab);
                }
            }
        }
    }

    /// # Safety
    ///
    /// The slab is one of these, alive, and on no list.
    unsafe fn link(&mut self, slab: *mut SlabHead) {
        let next = self.open;
        // SAFETY: the slab is alive and on no list, and those on the list are alive.
        unsafe {
            (*slab).before = ptr::null_mut();
            (*slab).next = next;
            if !next.is_null() {
                (*next).before = slab;
            }
        }
        self.open = slab;
    }

    /// # Safety
    ///
    /// The slab is one of these, and on the list.
    unsafe fn unlink(&mut self, slab: *mut SlabHead) {
        // SAFETY: the slab is on the list, and those on the list are alive.
        unsafe {
            let (before, next) = ((*slab).before, (*slab).next);
            if before.is_null() {
                self.open = next;
            } else {
                (*before).next = next;
            }
            if !next.is_null() {
                (*next).before = before;
            }
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// Nodes are taken and given back in all orders: no two are the same place, each keeps what is written there, and
    /// in the end nothing is left, as Miri sees, too.
    #[test]
    fn nodes_keep_what_is_written_there_in_whatever_order_they_come_and_go() {
        // Miri takes long.
        let sizes: &[usize] = if cfg!(miri) {
            &[192]
        } else {
            &[16, 48, 64, 112, 128, 192, 256]
        };
        for &size in sizes {
            let mut slabs = Slabs::new(size);
            let mut nodes = vec![ptr::null_mut::<u8>(); 3 * slabs.nodes() + 7];
            let (mut seed, rounds) = (size, if cfg!(miri) { 2 } else { 4 });
            for round in 0..rounds {
                slabs.take(&mut nodes);
                for (number, node) in nodes.iter().enumerate() {
                    let align = 1 << size.trailing_zeros().min(ALIGN.trailing_zeros());
                    assert!(node.addr().is_multiple_of(align));
                    let byte = (number + round) as u8;
                    // SAFETY: the node is ours, and so long.
                    unsafe {
                        node.write(byte);
                        node.add(size - 1).write(byte);
                    }
                }
                for (number, node) in nodes.iter().enumerate() {
                    // SAFETY: the node is of this size and was not given back, and both its ends were written above.
                    let ends = unsafe { [node.read(), node.add(size - 1).read()] };
                    assert_eq!(ends, [(number + round) as u8; 2]);
                }
                for end in (1..nodes.len()).rev() {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    nodes.swap(end, (seed >> 33) % (end + 1));
                }
                // Some stay, so that the next ones come from slabs that are in use.
                let kept = if round + 1 == rounds {
                    0
                } else {
                    nodes.len() / 3
                };
                // SAFETY: they are ours; the next round takes others in their place.
                unsafe { slabs.give_back(&nodes[kept..]) };
                let more = nodes.len() - kept;
                let mut others = vec![ptr::null_mut(); more];
                slabs.take(&mut others);
                let all: std::collections::BTreeSet<_> =
                    nodes[..kept].iter().chain(&others).collect();
                assert_eq!(all.len(), nodes.len(), "a node was taken twice");
                // SAFETY: they are ours, and so are those that were kept.
                unsafe {
                    slabs.give_back(&others);
                    slabs.give_back(&nodes[..kept]);
                }
                assert!(slabs.open.is_null(), "a slab was kept that nobody uses");
            }
        }
    }
}
