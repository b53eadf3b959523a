//! What programs see of a link, over each carrier.

mod answers;
mod carriers;
mod circles;
mod conformance;
mod cut;
mod direct;
mod fate;
mod hostile;
#[cfg(feature = "json")]
mod json;
mod left;
mod links;
mod links_at_once;
mod links_in_order;
mod messages;
mod next_process;
mod partners;
mod release;
mod seats;
mod stepped;
#[cfg(feature = "tls")]
mod tls;
mod untrusted;
