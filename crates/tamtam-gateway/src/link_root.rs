//! An actor that pages reach over a link.

use std::fmt;

use serde::de::DeserializeOwned;
use tamtam_actor::Address;
use tamtam_link::LinkBuilder;

use crate::caller::Authorize;
use crate::{Caller, Fault};

/// An actor that pages, and other clients, reach over a link at `/link/NAME`: they call it, and it calls those of their actors whose
/// addresses they have sent it. A page reaches only what it was given: this actor, and those whose addresses it is sent.
///
/// The messages go as JSON, as serde writes them: a page sends `{"Add":3}` where a program of Rust sends `Add(3)`. In a page,
/// `connect` of `@tamtam/web/link` opens the link.
///
/// What a page has sent is held within [`Limits::push_bytes`](crate::Limits::push_bytes): while as much of it waits in mailboxes, nothing more is
/// read of it. A page may not stop an actor whose address it has.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tamtam_actor::{Pool, Reply};
/// use tamtam_gateway::{Caller, Gateway, LinkRoot, bearer};
///
/// #[derive(Serialize, Deserialize)]
/// enum Count {
///     Add(u64),
///     Total(Reply<u64>),
/// }
///
/// let pool = Pool::new();
/// // An actor for each page; it ends with the page's link. A clone of one address would be one actor for all.
/// let counters = LinkRoot::new("counter", move |_: &Caller| {
///     let mut total = 0;
///     pool.spawn_fn(move |message: Count, _| match message {
///         Count::Add(number) => total += number,
///         Count::Total(reply) => reply.send(total),
///     })
/// });
/// let gateway = Gateway::new().link(counters.about("Counts.").authorize(bearer("let me in")));
/// # drop(gateway);
/// ```
pub struct LinkRoot {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) authorize: Option<Authorize>,
    offer: Offer,
}

/// Adds the actor for this page to what a link is to be like.
type Offer = Box<dyn Fn(&Caller, LinkBuilder) -> LinkBuilder + Send + Sync>;

impl LinkRoot {
    /// The actor that this gives for each page that connects: one for all, or one for each. It is called on a thread of the server, and
    /// is not to block; if it panics, the page is told that the link could not be opened.
    pub fn new<M>(
        name: impl Into<String>,
        actor: impl Fn(&Caller) -> Address<M> + Send + Sync + 'static,
    ) -> LinkRoot
    where
        M: DeserializeOwned + Send + 'static,
    {
        LinkRoot {
            name: name.into(),
            about: String::new(),
            authorize: None,
            offer: Box::new(move |caller, builder| builder.root(&actor(caller))),
        }
    }

    /// With words on what it is, for people.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> LinkRoot {
        self.about = text.into();
        self
    }

    /// Asked before each link, in place of what the gateway asks for all methods. A page, which can send no header with the handshake, has
    /// its token in the subprotocols.
    #[must_use]
    pub fn authorize(
        mut self,
        check: impl Fn(&Caller) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> LinkRoot {
        self.authorize = Some(std::sync::Arc::new(check));
        self
    }

    pub(crate) fn offer(&self, caller: &Caller, builder: LinkBuilder) -> LinkBuilder {
        (self.offer)(caller, builder)
    }
}

impl fmt::Debug for LinkRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkRoot")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
