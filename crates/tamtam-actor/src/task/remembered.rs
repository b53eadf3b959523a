//! Which actors of a home are to be called when it closes.

use std::sync::Weak;

use tamtam_wait::seam::Mutex;

use super::AtClose;
use crate::memory::swept::SweptList;

/// The watched actors of a home, to be called when it has closed.
pub(crate) struct Remembered {
    inner: Mutex<RememberedActors>,
}

struct RememberedActors {
    places: SweptList<Weak<dyn AtClose>>,
    has_closed: bool,
}

impl Remembered {
    pub(crate) fn new() -> Self {
        Remembered {
            inner: Mutex::new(RememberedActors {
                places: SweptList::new(),
                has_closed: false,
            }),
        }
    }

    pub(crate) fn add(&self, place: Weak<dyn AtClose>) {
        let mut inner = self.inner.lock();
        if inner.has_closed {
            drop(inner);
            call(&place);
            return;
        }
        inner
            .places
            .add(place, |place| Weak::strong_count(place) != 0);
    }

    /// The home has closed: an actor that gets a turn now is abandoned, and one that is in a turn ends with it. How many of them had kept
    /// mail back, which is lost now.
    pub(crate) fn close(&self) -> usize {
        let places = {
            let mut inner = self.inner.lock();
            inner.has_closed = true;
            inner.places.take_all()
        };
        places.iter().filter(|place| call(place)).count()
    }
}

fn call(place: &Weak<dyn AtClose>) -> bool {
    place.upgrade().is_some_and(AtClose::close)
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::swept::SEARCHED_FROM;

    struct Actor;

    impl AtClose for Actor {
        fn close(self: Arc<Self>) -> bool {
            true
        }
    }

    #[test]
    fn those_that_have_ended_are_forgotten_and_the_others_are_called() {
        let remembered = Remembered::new();
        let add = |actor: &Arc<Actor>| {
            let weak = Arc::downgrade(actor);
            remembered.add(weak);
        };
        let lasting: Vec<_> = (0..10).map(|_| Arc::new(Actor)).collect();
        lasting.iter().for_each(add);
        // Miri takes long.
        let searches = if cfg!(miri) { 3 } else { 20 };
        for _ in 0..searches * SEARCHED_FROM {
            add(&Arc::new(Actor));
        }
        let capacity = remembered.inner.lock().places.capacity();
        assert!(capacity <= 2 * SEARCHED_FROM, "room for {capacity}");
        assert_eq!(remembered.close(), lasting.len());
        // A home that has closed calls at once, and keeps nothing.
        add(&Arc::new(Actor));
        assert_eq!(remembered.close(), 0);
    }
}
