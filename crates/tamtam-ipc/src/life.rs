//! Whether another process still lives: a word in shared memory that the kernel marks when a process ends, however it ends.
//!
//! The kernel has this for locks: each thread may have a *robust list* of words, and when the thread ends, before its memory is freed, the
//! kernel looks at each word, and where it holds the thread's number replaces that by a mark and wakes one sleeper (`set_robust_list(2)`;
//! Ingo Molnar and others, 2006). The words of a process are on the list of one thread that sleeps as long as the process lives.
//!
//! A list that lies in shared memory itself, as that of the C library's mutexes does, is followed by the kernel wherever another process makes it
//! point. Here only the words are shared. The nodes of the list are private, all of one list at the same distance ([`DISTANCES`]) from
//! their words.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// How far before its word a node lies. Mappings grow downwards from the stack, so this far below them there is nothing; the second one is for
/// programs that have reserved what lies there, as the address sanitizer does with 4 TiB.
const DISTANCES: [usize; 2] = [1 << 36, 1 << 43];
/// The kernel looks at so many nodes of a list at most; the rest would not be marked.
const MOST_OF_A_THREAD: usize = 2_000;

/// What the kernel takes for a node.
#[repr(C)]
struct Node {
    next: AtomicPtr<Node>,
}

/// What the kernel takes for a list: a ring of nodes that begins and ends here.
#[repr(C)]
struct Head {
    first: Node,
    /// From a node to its word, in bytes.
    offset: libc::c_long,
    pending: AtomicPtr<Node>,
}

/// A thread that sleeps, and its list.
struct Keeper {
    head: &'static Head,
    thread: u32,
    /// From each of its nodes to the word.
    distance: usize,
    /// The nodes that are on the list, the newest first.
    nodes: Vec<NonNull<Node>>,
}

// SAFETY: the nodes are atomic, and changed under the lock of `KEEPERS` only.
unsafe impl Send for Keeper {}

static KEEPERS: OnceLock<Mutex<Vec<Keeper>>> = OnceLock::new();

fn start_keeper(distance: usize) -> io::Result<Keeper> {
    let (tell, told) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("tamtam-life".to_owned())
        .stack_size(64 << 10)
        .spawn(move || {
            // Neither is ever freed: the kernel looks at the list when the thread has ended.
            let head: &'static Head = Box::leak(Box::new(Head {
                first: Node {
                    next: AtomicPtr::new(ptr::null_mut()),
                },
                offset: distance as libc::c_long,
                pending: AtomicPtr::new(ptr::null_mut()),
            }));
            head.first
                .next
                .store(ptr::from_ref(&head.first).cast_mut(), Ordering::Release);
            // SAFETY: the head is as the kernel asks for it, lives for ever, and the size is its own. It takes the place of the list of this
            // thread's mutexes of the C library, and this thread never has one.
            let done = unsafe {
                libc::syscall(
                    libc::SYS_set_robust_list,
                    ptr::from_ref(head),
                    size_of::<Head>(),
                )
            };
            let thread = rustix::thread::gettid().as_raw_pid().cast_unsigned();
            let error = (done != 0).then(io::Error::last_os_error);
            let is_there = error.is_none();
            let _ = tell.send(error.map_or(Ok((head, thread)), Err));
            if is_there {
                loop {
                    thread::park();
                }
            }
        })?;
    let (head, thread) = told.recv().map_err(|_| io::ErrorKind::BrokenPipe)??;
    Ok(Keeper {
        head,
        thread,
        distance,
        nodes: Vec::new(),
    })
}

/// The private page in which the nodes of the words of one shared page lie.
#[derive(Debug)]
pub(crate) struct NodePage {
    address: NonNull<u8>,
    /// From here to the page of the words.
    distance: usize,
}

// SAFETY: it is an address; what lies there is atomic and changed under the lock of `KEEPERS`.
unsafe impl Send for NodePage {}
// SAFETY: it is an address; what lies there is atomic and changed under the lock of `KEEPERS`.
unsafe impl Sync for NodePage {}

/// A page on the machines that there are, or a part of one.
const PAGE: usize = 4096;

impl NodePage {
    /// For the words of the page at this address; `None` if something else lies wherever it could be.
    pub(crate) fn of(words: NonNull<u8>) -> io::Result<Option<Self>> {
        for distance in DISTANCES {
            if let Some(page) = Self::at(words, distance)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn at(words: NonNull<u8>, distance: usize) -> io::Result<Option<Self>> {
        let Some(address) = words.addr().get().checked_sub(distance) else {
            return Ok(None);
        };
        // SAFETY: the mapping goes where nothing else is, or fails.
        let mapped = unsafe {
            mmap_anonymous(
                ptr::without_provenance_mut(address),
                PAGE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE,
            )
        };
        match mapped {
            Ok(page) if page.addr() == address => {
                let page = NonNull::new(page.cast());
                Ok(page.map(|address| NodePage { address, distance }))
            }
            Ok(elsewhere) => {
                // A kernel that does not know the flag has taken the address for a hint.
                // SAFETY: it was mapped just now, and nothing points there.
                let _ = unsafe { munmap(elsewhere, PAGE) };
                Ok(None)
            }
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Lets the kernel look at the word at this offset in the page when this process ends. Gives the number that the word has to hold.
    pub(crate) fn watch(&self, offset: usize) -> io::Result<u32> {
        assert!(offset + size_of::<Node>() <= PAGE && offset.is_multiple_of(8));
        // SAFETY: the node lies in the page, aligned; the page is mapped, and was filled with zeroes.
        let node = unsafe { self.address.add(offset).cast::<Node>() };
        let keepers = KEEPERS.get_or_init(Mutex::default);
        let mut keepers = keepers.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room =
            |it: &Keeper| it.distance == self.distance && it.nodes.len() < MOST_OF_A_THREAD;
        if !keepers.iter().any(has_room) {
            keepers.push(start_keeper(self.distance)?);
        }
        let Some(keeper) = keepers.iter_mut().find(|it| has_room(it)) else {
            unreachable!("one has room: it was added");
        };
        let first = keeper.head.first.next.load(Ordering::Relaxed);
        // SAFETY: the node is alive as long as it is on the list.
        unsafe { node.as_ref() }
            .next
            .store(first, Ordering::Relaxed);
        // The kernel finds a whole list at whatever moment it looks.
        keeper
            .head
            .first
            .next
            .store(node.as_ptr(), Ordering::Release);
        keeper.nodes.push(node);
        Ok(keeper.thread)
    }

    /// The kernel looks at this word no more.
    pub(crate) fn forget(&self, offset: usize) {
        // SAFETY: the node lies in the page.
        let node = unsafe { self.address.add(offset).cast::<Node>() };
        let Some(keepers) = KEEPERS.get() else { return };
        let mut keepers = keepers.lock().unwrap_or_else(PoisonError::into_inner);
        for keeper in keepers.iter_mut() {
            let Some(place) = keeper.nodes.iter().position(|it| *it == node) else {
                continue;
            };
            // SAFETY: the node is alive as long as it is on the list.
            let next = unsafe { node.as_ref() }.next.load(Ordering::Relaxed);
            // The one that points to it came after it.
            let before = match keeper.nodes.get(place + 1) {
                // SAFETY: it is on the list, so its page is mapped.
                Some(newer) => unsafe { &newer.as_ref().next },
                None => &keeper.head.first.next,
            };
            before.store(next, Ordering::Release);
            keeper.nodes.remove(place);
        }
    }
}

impl Drop for NodePage {
    fn drop(&mut self) {
        // SAFETY: no node in it is on a list any more, as each membership sees to; no reference into it is left.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), PAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "it maps memory at an address")]
    fn nodes_go_farther_away_where_their_place_is_taken() {
        let page = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the system chooses, which nothing else uses.
        let words = unsafe { mmap_anonymous(ptr::null_mut(), PAGE, page, MapFlags::PRIVATE) };
        let words = NonNull::new(words.unwrap().cast()).unwrap();
        let pages: Vec<_> = std::iter::from_fn(|| NodePage::of(words).unwrap()).collect();
        // All places are taken now. Under the address sanitizer the first one always is.
        assert!((1..=DISTANCES.len()).contains(&pages.len()));

        let keepers: Vec<_> = pages.iter().map(|page| page.watch(64).unwrap()).collect();
        for (page, keeper) in pages.iter().zip(&keepers) {
            let others = keepers.iter().filter(|other| *other == keeper);
            assert_eq!(others.count(), 1, "a list has one distance");
            assert_eq!(page.watch(128).unwrap(), *keeper);
            page.forget(64);
            page.forget(128);
        }
        drop(pages);
        assert!(NodePage::of(words).unwrap().is_some());
        // SAFETY: it was mapped above, and nothing points there any more.
        unsafe { munmap(words.as_ptr().cast(), PAGE) }.unwrap();
    }
}
