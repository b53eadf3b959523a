//! How a subscription begins: of what there is, by whom it may be, within the limits.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::admission::Ticket;
use crate::gateway::Shared;
use crate::push::{Policy, Publication, PushForm, Subscription, Wish};
use crate::value::shortened;
use crate::{Caller, Fault, FaultKind};

/// Begins a subscription to `SERVICE.NAME`, with this number on its connection.
///
/// # Errors
/// If there is no such topic or property, it has not what is asked for, the caller may not, or there are too many.
pub(crate) fn subscribe(
    shared: &Shared,
    caller: &Caller,
    name: &str,
    wish: Wish,
    id: u64,
    connection: &Arc<Notify>,
) -> Result<Subscription, Fault> {
    let publication = find(shared, caller, name, &wish)?;
    let place = shared.subscriptions.admit(caller.peer());
    if matches!(place, Ticket::Refused) {
        return Err(Fault::busy(
            "there are too many subscriptions; end another one, or try again later",
        ));
    }
    let most_bytes = shared.gateway.limits.push_bytes / 2;
    let wants_packed = wish.form == PushForm::Packed;
    let channel = publication.channel(&shared.encoders, most_bytes, wants_packed);
    let channel = channel.map_err(|error| {
        tracing::error!(%error, name, "a topic cannot be pushed: there is no thread for it");
        Fault::busy("the server has no thread to encode the values; try again later")
    })?;
    let figures = shared.metrics.push(name);
    // In this order: what the topic retains from this moment on is newer than that.
    let newest = channel.newest();
    let behind = (!publication.greets()).then_some(newest);
    Ok(Subscription::new(
        id, channel, behind, wish, connection, figures, place,
    ))
}

/// What is subscribed to by `SERVICE.NAME`.
///
/// # Errors
/// If there is no such topic or property, it has not what is asked for, or the caller may not.
pub(crate) fn find<'s>(
    shared: &'s Shared,
    caller: &Caller,
    name: &str,
    wish: &Wish,
) -> Result<&'s Publication, Fault> {
    let Some(publication) = shared.gateway.publication(name) else {
        let short = shortened(name);
        return Err(Fault::of(
            FaultKind::NoMethod,
            format!("there is no topic or property {short:?}: write it as SERVICE.NAME"),
        ));
    };
    shared.may(publication.authorize.as_ref(), caller, name)?;
    suits(publication, wish)?;
    Ok(publication)
}

/// Whether it has what is asked for.
fn suits(publication: &Publication, wish: &Wish) -> Result<(), Fault> {
    if !wish.has_run_of_a_server() {
        return Err(Fault::arguments(
            "no run of a server has so long a name: give the one that the answer to the last subscription had",
        ));
    }
    if wish.policy == Policy::LatestOfEachKey && !publication.has_keys() {
        return Err(Fault::arguments(
            "its values have no keys: take the policy all, latest or batches",
        ));
    }
    if wish.form == PushForm::Packed && !publication.is_table {
        return Err(Fault::arguments(
            "its values are no tables, and come as JSON",
        ));
    }
    if wish.form == PushForm::Packed && wish.policy == Policy::Batches {
        return Err(Fault::arguments(
            "packed rows come one table a frame: take another policy than batches",
        ));
    }
    Ok(())
}
