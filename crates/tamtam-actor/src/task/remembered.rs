//! Which actors of a home are to be called when it closes.

use std::sync::Weak;

use tamtam_wait::seam::Mutex;

use super::AtClose;

/// The watched actors of a home, to be called when it has closed.
///
/// Those that have ended are forgotten when there are twice as many as after the last time.
pub(crate) struct Remembered {
    inner: Mutex<RememberedActors>,
}

struct RememberedActors {
    places: Vec<Weak<dyn AtClose>>,
    /// When there are more, those that have ended are looked for.
    most: usize,
    has_closed: bool,
}

const SEARCHED_FROM: usize = 64;

impl Remembered {
    pub(crate) fn new() -> Self {
        Remembered {
            inner: Mutex::new(RememberedActors {
                places: Vec::new(),
                most: SEARCHED_FROM,
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
        inner.places.push(place);
        if inner.places.len() > inner.most {
            inner.places.retain(|place| Weak::strong_count(place) != 0);
            inner.most = SEARCHED_FROM.max(2 * inner.places.len());
            let most = inner.most;
            inner.places.shrink_to(most);
        }
    }

    /// The home has closed: an actor that gets a turn now is abandoned, and one that is in a turn ends with it. How many of them had kept
    /// mail back, which is lost now.
    pub(crate) fn close(&self) -> usize {
        let places = {
            let mut inner = self.inner.lock();
            inner.has_closed = true;
            core::mem::take(&mut inner.places)
        };
        places.iter().filter(|place| call(place)).count()
    }
}

fn call(place: &Weak<dyn AtClose>) -> bool {
    place.upgrade().is_some_and(AtClose::close)
}
