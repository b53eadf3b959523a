//! What one tries a link with: an actor for each page, which counts, and tells who watches.

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, Context, Pool, Reply};
use tamtam_gateway::{Caller, Gateway, LinkRoot};

/// What a page says to its counter.
#[derive(Serialize, Deserialize)]
enum Count {
    Add(u64),
    Reset,
    Total(Reply<u64>),
    /// From now on each sum is told there: to an actor of the page.
    Watch(Address<u64>),
}

/// So many watch at most: a page sends as many addresses as it likes.
const MOST_WATCHERS: usize = 16;

#[derive(Default)]
struct Counter {
    total: u64,
    watchers: Vec<Address<u64>>,
}

impl Counter {
    fn is(&mut self, total: u64) {
        self.total = total;
        // One that has no room, or has ended, watches no more.
        self.watchers.retain(|watcher| watcher.tell(total).is_ok());
    }
}

impl Actor for Counter {
    type Message = Count;

    fn handle(&mut self, message: Count, _: &mut Context<Counter>) {
        match message {
            Count::Add(number) => self.is(self.total.saturating_add(number)),
            Count::Reset => self.is(0),
            Count::Total(reply) => reply.send(self.total),
            Count::Watch(watcher) if self.watchers.len() < MOST_WATCHERS => {
                self.watchers.push(watcher);
            }
            Count::Watch(_) => {}
        }
    }
}

/// Adds the link.
pub(super) fn links(gateway: Gateway) -> Gateway {
    let pool = Pool::new();
    let counter = LinkRoot::new("counter", move |_: &Caller| pool.spawn(Counter::default()));
    gateway.link(counter.about(
        "A counter for each page: { Add: 3 }, \"Reset\", { Total: reply }, and { Watch: address } of an actor of the page, \
         which is told each sum.",
    ))
}
