//! Which process this is: a forked child is another one, with a copy of all that its parent had in memory.
//!
//! The number of a process costs a system call, several times as much as reading the clock. So where the
//! system has memory that is wiped in a forked child (Linux since 4.14, `MADV_WIPEONFORK`), a word in it says
//! whether this is still the process that wrote it.

/// Differs from that of every process that this one was forked from.
#[inline]
pub(crate) fn current() -> u32 {
    #[cfg(all(target_os = "linux", not(miri)))]
    if let Some(identity) = wiped::identity() {
        return identity;
    }
    // Where there are no processes, there are no forks.
    if cfg!(target_family = "wasm") {
        0
    } else {
        std::process::id()
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod wiped {
    use core::ptr;
    use core::sync::atomic::{AtomicU32, Ordering};
    use std::sync::OnceLock;

    /// A word that is zero in a forked child; `None` if the system has no such memory.
    static WORD: OnceLock<Option<&'static AtomicU32>> = OnceLock::new();

    /// The last identity that was given. A child has its parent's value here and adds to it.
    static LAST: AtomicU32 = AtomicU32::new(0);

    #[inline]
    pub(super) fn identity() -> Option<u32> {
        let word = (*WORD.get_or_init(map))?;
        match word.load(Ordering::Relaxed) {
            0 => Some(begin(word)),
            identity => Some(identity),
        }
    }

    /// The first look of this process.
    #[cold]
    fn begin(word: &AtomicU32) -> u32 {
        let fresh = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        match word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(now) => now,
        }
    }

    #[cold]
    fn map() -> Option<&'static AtomicU32> {
        // SAFETY: asks for a page of its own, at no particular address, and for a look at the page's size.
        let (page, size) = unsafe {
            let size = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).ok()?;
            let page = libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            (page, size)
        };
        if page == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the page is ours, and as long as asked for.
        if unsafe { libc::madvise(page, size, libc::MADV_WIPEONFORK) } != 0 {
            // SAFETY: the page was mapped above with this size, and nothing points into it.
            unsafe { libc::munmap(page, size) };
            return None;
        }
        // SAFETY: the page stays for as long as the process, is aligned, zero, and accessed as this type only.
        Some(unsafe { &*page.cast::<AtomicU32>() })
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use core::ptr;

    /// Whether it holds in a forked child, which does nothing else.
    fn holds_in_a_child(claim: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child only looks at atomics, makes system calls, and exits without running anything of this
        // program; the parent waits for the child that it has made.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "no process could be made");
            if child == 0 {
                libc::_exit(i32::from(!claim()));
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }

    #[test]
    fn each_process_has_an_identity_that_none_of_its_ancestors_has() {
        let own = current();
        assert_ne!(own, 0);
        assert_eq!(current(), own);
        assert!(holds_in_a_child(|| {
            let child = current();
            let holds = child != own && child != 0 && current() == child;
            holds && holds_in_a_child(|| ![0, own, child].contains(&current()))
        }));
        assert_eq!(current(), own);
    }

    /// Whether the system wipes memory in a forked child, which it says without doing so for no pages at all.
    fn wipes_in_a_child() -> bool {
        // SAFETY: the range is empty, so no memory is changed.
        unsafe { libc::madvise(ptr::null_mut(), 0, libc::MADV_WIPEONFORK) == 0 }
    }

    #[test]
    fn where_memory_is_wiped_in_a_child_the_identity_costs_no_call() {
        assert_eq!(wiped::identity().is_some(), wipes_in_a_child());
    }
}
