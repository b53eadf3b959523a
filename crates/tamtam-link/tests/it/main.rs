//! What programs see of a link, over each carrier.

mod carriers;
mod circles;
mod conformance;
mod cut;
mod fate;
mod hostile;
mod messages;
mod release;
mod stepped;
#[cfg(feature = "tls")]
mod tls;
