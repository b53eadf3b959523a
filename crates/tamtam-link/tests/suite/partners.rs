//! Actors that link, watch and end as they are told, at either side.

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, Context, EndReason, Ended, Reply};

#[derive(Serialize, Deserialize)]
pub(crate) enum Bond {
    Link(Address<Bond>, Reply<()>),
    Unlink(Address<Bond>, Reply<bool>),
    /// Links, and panics in the same turn.
    LinkAndFail(Address<Bond>),
    /// Watches, and says how that one has ended.
    Watch(Address<Bond>, Reply<String>),
    /// Watches, takes that back, and says whether it could.
    WatchInVain(Address<Bond>, Reply<bool>),
    Fail(String),
    Stop,
    /// The number that the address has there.
    Id(Address<Bond>, Reply<u64>),
    /// The address that it was made with.
    Known(Reply<Address<Bond>>),
    Here(Reply<()>),
    /// Keeps the address.
    Keep(Address<Bond>, Reply<()>),
    DropKept(Reply<()>),
}

/// What is said of it by tests that look at its state.
#[derive(Default)]
pub(crate) struct Partner {
    pub(crate) known: Option<Address<Bond>>,
    pub(crate) kept: Vec<Address<Bond>>,
}

impl Actor for Partner {
    type Message = Bond;

    fn handle(&mut self, message: Bond, cx: &mut Context<Self>) {
        match message {
            Bond::Link(to, reply) => {
                cx.link(&to);
                reply.send(());
            }
            Bond::Unlink(from, reply) => reply.send(cx.unlink(&from)),
            Bond::LinkAndFail(to) => {
                cx.link(&to);
                panic!("right behind the link");
            }
            Bond::Watch(whom, reply) => {
                cx.watch(&whom, |_, ended, _| {
                    reply.send(format!("{:?}", ended.reason))
                });
            }
            Bond::WatchInVain(whom, reply) => {
                let watch = cx.watch(&whom, |_, _, _| unreachable!("it was taken back"));
                reply.send(watch.cancel());
            }
            Bond::Fail(words) => panic!("{words}"),
            Bond::Stop => cx.stop(),
            Bond::Id(of, reply) => reply.send(of.id().get()),
            Bond::Known(reply) => match &self.known {
                Some(known) => reply.send(known.clone()),
                None => drop(reply),
            },
            Bond::Here(reply) => reply.send(()),
            Bond::Keep(address, reply) => {
                self.kept.push(address);
                reply.send(());
            }
            Bond::DropKept(reply) => {
                self.kept.clear();
                reply.send(());
            }
        }
    }
}

/// The chain of links by which an actor has ended: the names on it, the nearest first, and why the last one has ended.
pub(crate) fn chain(reason: &EndReason) -> (Vec<String>, EndReason) {
    let mut names = Vec::new();
    let mut reason = reason;
    while let EndReason::Linked(ended) = reason {
        names.push(ended.name.as_deref().unwrap_or_default().to_owned());
        reason = &ended.reason;
    }
    (names, reason.clone())
}

/// The actor with which one was linked.
pub(crate) fn partner(reason: &EndReason) -> &Ended {
    match reason {
        EndReason::Linked(ended) => ended,
        other => panic!("{other:?}"),
    }
}
