//! What programs see of a link, over each carrier.

mod carriers;
mod cut;
mod deep;
mod direct;
mod fate;
mod flood;
mod greeting;
mod held_back;
mod hostile;
#[cfg(feature = "json")]
mod json;
mod left;
mod links_at_once;
mod links_in_order;
mod long;
mod many;
mod next_process;
mod no_root;
mod release;
mod seats;
mod sockets;
mod stepped;
#[path = "../suite/mod.rs"]
mod suite;
#[cfg(feature = "tls")]
mod tls;
