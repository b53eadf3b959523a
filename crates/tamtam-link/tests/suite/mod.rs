//! What holds over every carrier: programs of tests that have carriers of their own include it, and name those in `carriers::ALL` beside it.

mod answers;
mod circles;
pub(crate) mod confirmed;
mod conformance;
mod links;
pub(crate) mod messages;
pub(crate) mod partners;
mod untrusted;

use std::time::{Duration, Instant};

use tamtam_link::{Link, LinkBuilder};

use super::carriers;

/// Makes two ends that are connected.
pub(crate) type Pair = fn(LinkBuilder, LinkBuilder) -> (Link, Link);

/// Does something over each carrier.
fn on_each(test: impl Fn(Pair)) {
    for (name, pair) in carriers::ALL {
        println!("over {name}");
        test(*pair);
    }
}

/// What takes longer never comes.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Until it holds, which it does at once or soon.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::yield_now();
    }
}
