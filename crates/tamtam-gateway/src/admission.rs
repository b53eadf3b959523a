//! Who may begin: so many requests at once, and so many of one client.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts the requests that are worked on.
#[derive(Debug)]
pub(crate) struct Admission {
    counts: Mutex<Counts>,
    most: usize,
    most_of_client: usize,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    /// There are few, whom no hash finds sooner than their order does.
    of_client: BTreeMap<Option<IpAddr>, usize>,
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
pub(crate) struct Place {
    admission: Arc<Admission>,
    client: Option<IpAddr>,
}

impl Admission {
    pub(crate) fn new(most: usize, most_of_client: usize) -> Arc<Admission> {
        Arc::new(Admission {
            counts: Mutex::default(),
            most,
            most_of_client,
        })
    }

    /// A place for a request of this client, if there is one. Those on Unix sockets count as one client, which has the limit of
    /// all.
    pub(crate) fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Ticket {
        let client = peer.map(network);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= self.most {
            return Ticket::Refused;
        }
        let of_client = counts.of_client.entry(client).or_default();
        if client.is_some() && *of_client >= self.most_of_client {
            return Ticket::Refused;
        }
        *of_client += 1;
        counts.all += 1;
        Ticket::Admitted(Place {
            admission: Arc::clone(self),
            client,
        })
    }

    /// How many requests are worked on.
    pub(crate) fn level(&self) -> usize {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let counts = &self.admission.counts;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Entry::Occupied(mut of_client) = counts.of_client.entry(self.client) {
            *of_client.get_mut() -= 1;
            if *of_client.get() == 0 {
                of_client.remove();
            }
        }
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

    #[test]
    fn a_client_has_its_share_and_gives_it_back() {
        let admission = Admission::new(3, 2);
        let admitted = |from| matches!(admission.admit(from), Ticket::Admitted(_));
        let held = [
            admission.admit(peer("10.0.0.1")),
            admission.admit(peer("10.0.0.1")),
        ];
        assert!(!admitted(peer("10.0.0.1")));
        assert!(admitted(peer("10.0.0.2")));
        let third = admission.admit(peer("10.0.0.2"));
        assert!(!admitted(peer("10.0.0.3")), "all places are taken");
        drop((held, third));
        assert_eq!(admission.level(), 0);
        assert!(admission.counts.lock().unwrap().of_client.is_empty());
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
}
