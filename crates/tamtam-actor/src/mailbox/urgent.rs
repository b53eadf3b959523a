//! What comes before messages: a stack that is taken whole.
//!
//! Things come here seldom, so a word is all that a cell spends on it (Treiber's stack, 1986, emptied at once:
//! so nothing can come back to its top in between).

use core::ptr::{self, NonNull};

use tamtam_wait::seam;
use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};

use tamtam_wait::contain;

/// Things that wait, the youngest on top.
pub(crate) struct Urgent<T> {
    top: AtomicPtr<Link<T>>,
}

/// How a thing lies on the stack; a thing begins with it.
struct Link<T> {
    below: *mut Link<T>,
    /// Takes the whole of which this is the beginning.
    ///
    /// Called once, by the one who has it, who does not use the link afterwards.
    open: unsafe fn(NonNull<Link<T>>) -> T,
}

// SAFETY: a link says where another one is; who may go there is for the stack to say.
unsafe impl<T> Send for Link<T> {}
// SAFETY: a link says where another one is, and gives no way to it: that is for the stack to say.
unsafe impl<T> Sync for Link<T> {}

/// A value in a box with a link, so that it needs no other box to lie on a stack of `T`.
#[repr(C)]
pub(crate) struct Linked<T, W> {
    link: Link<T>,
    pub(crate) what: W,
}

/// What becomes of a value when it is taken from a stack of `T`.
pub(crate) trait Open<T>: Sized {
    fn open(this: Box<Linked<T, Self>>) -> T;
}

impl<T, W: Open<T>> Linked<T, W> {
    pub(crate) fn new(what: W) -> Box<Self> {
        Box::new(Linked {
            link: Link {
                below: ptr::null_mut(),
                // SAFETY: such a link is in such a box.
                open: |link| W::open(unsafe { Box::from_raw(link.cast().as_ptr()) }),
            },
            what,
        })
    }
}

/// A value that comes out as it was.
struct AsItWas<T>(T);

impl<T> Open<T> for AsItWas<T> {
    fn open(this: Box<Linked<T, Self>>) -> T {
        this.what.0
    }
}

// SAFETY: things move through the stack from one thread to another.
unsafe impl<T: Send> Send for Urgent<T> {}
// SAFETY: things move through the stack from one thread to another; pushing and taking are atomic steps.
unsafe impl<T: Send> Sync for Urgent<T> {}

impl<T> Urgent<T> {
    pub(crate) fn new() -> Self {
        Urgent {
            top: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Adds something. Sequentially consistent.
    pub(crate) fn push(&self, what: T)
    where
        T: Send,
    {
        self.push_linked(Linked::new(AsItWas(what)));
    }

    /// Adds something that has its link already. Sequentially consistent.
    pub(crate) fn push_linked<W: Open<T> + Send>(&self, thing: Box<Linked<T, W>>) {
        let thing = Box::into_raw(thing).cast::<Link<T>>();
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the thing is ours until it is on the stack.
            unsafe { (*thing).below = top };
            // SYNC urgent
            match self
                .top
                .compare_exchange(top, thing, Ordering::SeqCst, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => top = now,
            }
        }
        seam::model_fence();
    }

    /// Puts back what was taken, behind which has come what is there: it is taken first the next time. `whole` makes one thing of all that.
    pub(crate) fn put_back(&self, taken: Things<T>, whole: impl Fn(Things<T>) -> T)
    where
        T: Send,
    {
        let mut all = taken;
        loop {
            all.append(self.take_all());
            if all.is_empty() {
                return;
            }
            let thing = Box::into_raw(Linked::new(AsItWas(whole(all)))).cast::<Link<T>>();
            // SYNC urgent
            let put = self.top.compare_exchange(
                ptr::null_mut(),
                thing,
                Ordering::SeqCst,
                Ordering::Relaxed,
            );
            if put.is_ok() {
                break;
            }
            // Something has come in between. What was made is taken as the one thing that it is.
            all = Things {
                first: thing,
                last: thing,
            };
        }
        seam::model_fence();
    }

    /// Whether there is nothing. Sequentially consistent.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        seam::model_fence();
        self.top.load(Ordering::SeqCst).is_null()
    }

    /// Takes all that is there, the oldest first.
    pub(crate) fn take_all(&self) -> Things<T> {
        // SYNC urgent
        let last = self.top.swap(ptr::null_mut(), Ordering::SeqCst);
        let mut thing = last;
        let mut first = ptr::null_mut();
        while let Some(this) = NonNull::new(thing) {
            // SAFETY: what was on the stack is ours now.
            unsafe {
                thing = (*this.as_ptr()).below;
                (*this.as_ptr()).below = first;
            }
            first = this.as_ptr();
        }
        Things { first, last }
    }
}

impl<T> Drop for Urgent<T> {
    fn drop(&mut self) {
        drop(self.take_all());
    }
}

/// Things in the order in which they came; those that are left are dropped, each by itself: a panic in the drop of
/// one does not keep the others.
pub(crate) struct Things<T> {
    first: *mut Link<T>,
    /// Of use only if there is a first one.
    last: *mut Link<T>,
}

// SAFETY: the things are owned by this, as if they lay in it.
unsafe impl<T: Send> Send for Things<T> {}

impl<T> Things<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    /// Puts others behind these.
    pub(crate) fn append(&mut self, mut others: Things<T>) {
        let first = core::mem::replace(&mut others.first, ptr::null_mut());
        if first.is_null() {
            return;
        }
        if self.first.is_null() {
            self.first = first;
        } else {
            // SAFETY: there is a first thing, so this is the last one, and both lists are ours.
            unsafe { (*self.last).below = first };
        }
        self.last = others.last;
    }
}

impl<T> Default for Things<T> {
    fn default() -> Self {
        Things {
            first: ptr::null_mut(),
            last: ptr::null_mut(),
        }
    }
}

impl<T> Iterator for Things<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let first = NonNull::new(self.first)?;
        // SAFETY: it is ours, and is opened once.
        unsafe {
            self.first = (*first.as_ptr()).below;
            Some(((*first.as_ptr()).open)(first))
        }
    }
}

impl<T> Drop for Things<T> {
    fn drop(&mut self) {
        for thing in self {
            contain(move || drop(thing));
        }
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use std::sync::Arc;

    use tamtam_wait::seam::thread;

    use super::*;
    use crate::models::model;

    enum Item {
        Number(u32),
        Left(Things<Item>),
    }

    fn numbers(things: Things<Item>, to: &mut Vec<u32>) {
        for item in things {
            match item {
                Item::Number(number) => to.push(number),
                Item::Left(left) => numbers(left, to),
            }
        }
    }

    /// What is put back comes before what is pushed meanwhile, and nothing is lost.
    #[test]
    fn loom_what_is_put_back_comes_first() {
        model(3, || {
            let stack = Arc::new(Urgent::new());
            stack.push(Item::Number(1));
            stack.push(Item::Number(2));
            let other = {
                let stack = Arc::clone(&stack);
                thread::spawn(move || {
                    stack.push(Item::Number(3));
                    stack.push(Item::Number(4));
                })
            };
            let mut things = stack.take_all();
            assert!(matches!(things.next(), Some(Item::Number(1))));
            stack.put_back(things, Item::Left);
            other.join().unwrap();
            let mut all = Vec::new();
            numbers(stack.take_all(), &mut all);
            assert_eq!(all, [2, 3, 4]);
        });
    }
}
