//! A URL for each method: GET where nothing is changed, POST for all, the answer in the form that the client accepts.

mod accept;
mod form;
mod parts;
mod picked;
mod range;

pub(crate) use accept::{Accepted, accepted, compression, takes};
pub(crate) use form::Form;
pub(crate) use parts::{PartWriter, encode_range};
pub(crate) use picked::{Picked, pick};
pub(crate) use range::RowRange;

use crate::{Arguments, Fault, FaultKind, Limits, Value, json};

/// The arguments in the query of a URL.
pub(crate) fn arguments_of_query(query: &str) -> Arguments {
    let pairs = form_urlencoded::parse(query.as_bytes());
    let named = pairs.map(|(name, value)| (name.into_owned(), Value::Text(value.into_owned())));
    Arguments::of_query(named.collect())
}

/// The arguments in a body: JSON, a list by their places or an object by their names; none in an empty one.
///
/// # Errors
/// If it is no JSON, neither of the two, or exceeds the limits.
pub(crate) fn arguments_of_body(body: &[u8], limits: &Limits) -> Result<Arguments, Fault> {
    if body.is_empty() {
        return Ok(Arguments::none());
    }
    match json::read(body, limits)? {
        Value::List(values) => Ok(Arguments::positional(values)),
        Value::Map(members) => Ok(Arguments::named(members)),
        other => {
            let reason = format!(
                "the body is a list of arguments or an object with their names, not {}",
                other.noun()
            );
            Err(Fault::of(FaultKind::Malformed, reason))
        }
    }
}
