//! A service: methods, topics and properties under one name.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tamtam_actor::{Address, Reply, Topic};
use tamtam_channel::Property;

use crate::caller::Authorize;
use crate::push::Publication;
use crate::{Caller, Fault, IntoAnswer, Method};

/// A service: methods under one name. Each protocol calls them, and none is named in it.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, Service};
/// use tamtam_rows::Rows;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct ListArgs { count: u16 }
///
/// #[derive(serde::Serialize)]
/// struct Tile { slot: u16 }
///
/// let tiles = Service::new("Tiles").method("list", |args: ListArgs| async move {
///     let tiles = (0..args.count).map(|slot| Tile { slot });
///     Rows::from_serialize(tiles).map_err(|_| Fault::new("Tiles.Failed", "the tiles are no table"))
/// });
/// assert_eq!(tiles.name(), "Tiles");
/// ```
#[derive(Debug)]
pub struct Service {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) methods: BTreeMap<String, Method>,
    pub(crate) publications: BTreeMap<String, Publication>,
    authorize: AuthorizeAll,
}

#[derive(Default)]
struct AuthorizeAll(Option<Authorize>);

impl std::fmt::Debug for AuthorizeAll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", if self.0.is_some() { "asked" } else { "open" })
    }
}

impl Service {
    /// One without methods.
    ///
    /// # Panics
    /// If the name is not made of letters, digits, `_`, `-` and `.`, or is empty.
    pub fn new(name: impl Into<String>) -> Service {
        let name = name.into();
        check_name(&name, "service", ".-");
        Service {
            name,
            about: String::new(),
            methods: BTreeMap::new(),
            publications: BTreeMap::new(),
            authorize: AuthorizeAll::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// With words on what it does, for people.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> Service {
        self.about = text.into();
        self
    }

    /// With this method.
    ///
    /// # Panics
    /// If there is one of that name, or the name is not made of letters, digits, `_` and `-`.
    #[must_use]
    pub fn with(mut self, mut method: Method) -> Service {
        check_name(&method.name, "method", "-");
        if method.authorize.is_none() {
            method.authorize.clone_from(&self.authorize.0);
        }
        method.full_name = format!("{}.{}", self.name, method.name);
        let before = self.methods.insert(method.name.clone(), method);
        if let Some(before) = before {
            panic!("{} has two methods {:?}", self.name, before.name);
        }
        self
    }

    /// With a method that is a task: see [`Method::new`].
    ///
    /// # Panics
    /// As [`with`](Service::with).
    #[must_use]
    pub fn method<A, H, F, T, Way>(self, name: impl Into<String>, handler: H) -> Service
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        H: Fn(A) -> F + Send + Sync + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
        T: IntoAnswer<Way>,
    {
        self.with(Method::new(name, handler))
    }

    /// With a method that may block: see [`Method::blocking`].
    ///
    /// # Panics
    /// As [`with`](Service::with).
    #[must_use]
    pub fn blocking<A, H, T, Way>(self, name: impl Into<String>, handler: H) -> Service
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        H: Fn(A) -> Result<T, Fault> + Send + Sync + 'static,
        T: IntoAnswer<Way>,
    {
        self.with(Method::blocking(name, handler))
    }

    /// With a method that an actor answers: see [`Method::actor`].
    ///
    /// # Panics
    /// As [`with`](Service::with).
    #[must_use]
    pub fn actor<M, R, Q, Way>(
        self,
        name: impl Into<String>,
        address: Address<M>,
        question: Q,
    ) -> Service
    where
        M: Send + 'static,
        R: IntoAnswer<Way>,
        Q: Fn(Reply<R>) -> M + Send + Sync + 'static,
    {
        self.with(Method::actor(name, address, question))
    }

    /// With the messages of a topic, for those who subscribe: see [`Publication::topic`].
    ///
    /// # Panics
    /// As [`with_publication`](Service::with_publication).
    #[must_use]
    pub fn topic<M, Way>(self, name: impl Into<String>, topic: Topic<M>) -> Service
    where
        M: IntoAnswer<Way> + Clone,
    {
        self.with_publication(Publication::topic(name, topic))
    }

    /// With the values of a property, for those who subscribe: see [`Publication::property`].
    ///
    /// # Panics
    /// As [`with_publication`](Service::with_publication).
    #[must_use]
    pub fn property<T, Way>(self, name: impl Into<String>, property: Arc<Property<T>>) -> Service
    where
        T: IntoAnswer<Way> + Clone + Sync,
    {
        self.with_publication(Publication::property(name, property))
    }

    /// With this topic or property, for those who subscribe.
    ///
    /// # Panics
    /// If there is one of that name, or the name is not made of letters, digits, `_` and `-`.
    #[must_use]
    pub fn with_publication(mut self, mut publication: Publication) -> Service {
        check_name(&publication.name, "topic", "-");
        if publication.authorize.is_none() {
            publication.authorize.clone_from(&self.authorize.0);
        }
        let before = self
            .publications
            .insert(publication.name.clone(), publication);
        if let Some(before) = before {
            panic!("{} has two topics {:?}", self.name, before.name);
        }
        self
    }

    /// Asked before each call of a method, and each subscription, that has no check of its own, in place of what the gateway asks.
    #[must_use]
    pub fn authorize(
        mut self,
        check: impl Fn(&Caller) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Service {
        let check: Authorize = Arc::new(check);
        for method in self.methods.values_mut() {
            method.authorize.get_or_insert_with(|| Arc::clone(&check));
        }
        for publication in self.publications.values_mut() {
            let own = &mut publication.authorize;
            own.get_or_insert_with(|| Arc::clone(&check));
        }
        self.authorize = AuthorizeAll(Some(check));
        self
    }
}

/// Panics if this is no name of that.
pub(crate) fn check_name(name: &str, what: &str, marks: &str) {
    let is_fine =
        |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || marks.contains(letter);
    assert!(
        !name.is_empty() && name.chars().all(is_fine),
        "{name:?} is no name of a {what}: take letters, digits and _{marks}"
    );
}
