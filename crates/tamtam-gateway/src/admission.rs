//! Who may begin: so many requests at once, or connections, and so many of one client.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Counts the requests that are worked on, the connections that are open, or what else there may be so many of.
#[derive(Debug)]
pub(crate) struct Admission {
    at_work: Level,
    most_of_client: usize,
    /// There are few, whom no hash finds sooner than their order does. One without a connection or a request is on its way out.
    shares: Mutex<BTreeMap<Option<IpAddr>, Weak<Share>>>,
}

/// How many there are, of so many that there may be.
#[derive(Debug)]
struct Level {
    now: AtomicUsize,
    most: usize,
}

/// What one client has of the places. A connection of it holds this, so that no request looks for it.
#[derive(Debug)]
pub(crate) struct Share {
    admission: Arc<Admission>,
    network: Option<IpAddr>,
    at_work: Level,
}

/// The right to work on a request, until it is dropped; or the word that there are too many.
#[derive(Debug)]
pub(crate) enum Ticket {
    /// It counts among those that are worked on.
    Admitted(#[allow(dead_code, reason = "it gives the place back when it is dropped")] Place),
    /// It is answered at once that the server is busy.
    Refused,
}

/// A place among those that are worked on.
#[derive(Debug)]
pub(crate) struct Place(Arc<Share>);

impl Admission {
    pub(crate) fn new(most: usize, most_of_client: usize) -> Arc<Admission> {
        Arc::new(Admission {
            at_work: Level::new(most),
            most_of_client,
            shares: Mutex::default(),
        })
    }

    /// The share of the client at this address. Those on Unix sockets, and connections of trusted proxies, count as one client,
    /// which has the limit of all.
    pub(crate) fn share(self: &Arc<Self>, peer: Option<IpAddr>) -> Arc<Share> {
        let network = peer.map(network);
        let mut shares = self.shares();
        let known = shares.get(&network).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let most = network.map_or(usize::MAX, |_| self.most_of_client);
            let share = Arc::new(Share {
                admission: Arc::clone(self),
                network,
                at_work: Level::new(most),
            });
            shares.insert(network, Arc::downgrade(&share));
            share
        })
    }

    /// A place for a request of the client at this address, if there is one.
    pub(crate) fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Ticket {
        self.share(peer).admit()
    }

    /// How many there are.
    pub(crate) fn level(&self) -> usize {
        self.at_work.now.load(Ordering::Relaxed)
    }

    fn shares(&self) -> MutexGuard<'_, BTreeMap<Option<IpAddr>, Weak<Share>>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// A place for a request of this client, if there is one.
    pub(crate) fn admit(self: &Arc<Self>) -> Ticket {
        if !self.at_work.rise() {
            return Ticket::Refused;
        }
        // Another request that is refused meanwhile, since this one counts among its client's, would find no place among all either.
        if !self.admission.at_work.rise() {
            self.at_work.fall();
            return Ticket::Refused;
        }
        Ticket::Admitted(Place(Arc::clone(self)))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut shares = self.admission.shares();
        if let Entry::Occupied(known) = shares.entry(self.network) {
            // It may have come again, and is another one then.
            if known.get().strong_count() == 0 {
                known.remove();
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.admission.at_work.fall();
        self.0.at_work.fall();
    }
}

/// Nothing but the count itself depends on the order in which others see it.
impl Level {
    fn new(most: usize) -> Level {
        Level {
            now: AtomicUsize::new(0),
            most,
        }
    }

    /// One more, if that may be.
    fn rise(&self) -> bool {
        let one_more = |now| (now < self.most).then(|| now + 1);
        let risen = self
            .now
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        risen.is_ok()
    }

    /// One less.
    fn fall(&self) {
        self.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one client has for itself: an address of IPv4, 2^64 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let prefix = u128::from(address) >> 64 << 64;
            Ipv6Addr::from(prefix).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn is_admitted(ticket: &Ticket) -> bool {
        matches!(ticket, Ticket::Admitted(_))
    }

    #[test]
    fn a_client_has_its_share_and_gives_it_back() {
        let admission = Admission::new(3, 2);
        let admitted = |from| is_admitted(&admission.admit(from));
        let held = [
            admission.admit(peer("10.0.0.1")),
            admission.admit(peer("10.0.0.1")),
        ];
        assert!(!admitted(peer("10.0.0.1")));
        assert!(admitted(peer("10.0.0.2")));
        let third = admission.admit(peer("10.0.0.2"));
        assert!(!admitted(peer("10.0.0.3")), "all places are taken");
        assert_eq!(admission.level(), 3);
        drop((held, third));
        assert_eq!(admission.level(), 0);
        assert!(admission.shares().is_empty());
    }

    #[test]
    fn connections_of_a_client_count_together_and_a_refusal_leaves_no_count() {
        let admission = Admission::new(2, 2);
        let (one, other) = (
            admission.share(peer("10.0.0.1")),
            admission.share(peer("10.0.0.1")),
        );
        let held = [one.admit(), other.admit()];
        assert!(held.iter().all(is_admitted));
        assert!(!is_admitted(&one.admit()));
        // All places are taken: what it was counted for is taken back.
        let third = admission.share(peer("10.0.0.2"));
        for _ in 0..3 {
            assert!(!is_admitted(&third.admit()));
        }
        drop(held);
        let held = [third.admit(), third.admit()];
        assert!(held.iter().all(is_admitted));
        drop((one, other, third));
        // Its requests hold it.
        assert_eq!(admission.shares().len(), 1);
        assert!(!is_admitted(&admission.admit(peer("10.0.0.2"))));
        drop(held);
        assert!(admission.shares().is_empty());
    }

    #[test]
    fn those_on_unix_sockets_have_the_limit_of_all() {
        let admission = Admission::new(3, 1);
        let held = [(); 3].map(|()| admission.admit(None));
        assert!(held.iter().all(is_admitted));
        assert!(!is_admitted(&admission.admit(None)));
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let admission = Admission::new(10, 1);
        let _held = admission.admit(peer("2001:db8::1"));
        assert!(matches!(
            admission.admit(peer("2001:db8::2")),
            Ticket::Refused
        ));
        assert!(matches!(
            admission.admit(peer("2001:db8:0:1::2")),
            Ticket::Admitted(_)
        ));
        let _held = admission.admit(peer("::ffff:10.0.0.1"));
        assert!(matches!(admission.admit(peer("10.0.0.1")), Ticket::Refused));
    }

    #[test]
    fn clients_that_come_and_go_at_once_are_counted_once() {
        let admission = Admission::new(1_000, 1);
        let most = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let ticket = admission.admit(peer("10.0.0.1"));
                        if is_admitted(&ticket) {
                            assert_eq!(most.fetch_add(1, Ordering::SeqCst), 0);
                            most.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(admission.level(), 0);
        assert!(admission.shares().is_empty());
    }
}
