//! Actors that can live in a process of their own.

use std::error::Error;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tamtam_actor::{Actor, Context};

/// An actor that can live in a process of its own: it is made there, of what is sent for it, under a name that both processes know.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tamtam_actor::{Actor, Context, Reply};
/// use tamtam_process::Remote;
///
/// #[derive(Serialize, Deserialize)]
/// enum Resize {
///     Image(Vec<u8>, Reply<Vec<u8>>),
/// }
///
/// struct Resizer {
///     width: u32,
/// }
///
/// impl Actor for Resizer {
///     type Message = Resize;
///
///     fn handle(&mut self, message: Resize, _: &mut Context<Self>) {
///         let Resize::Image(bytes, reply) = message;
///         reply.send(bytes.into_iter().take(self.width as usize).collect());
///     }
/// }
///
/// impl Remote for Resizer {
///     type Config = u32;
///     const NAME: &'static str = "resizer";
///
///     fn create(width: u32, _: &mut Context<Self>) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
///         Ok(Resizer { width })
///     }
/// }
/// ```
pub trait Remote: Actor<Message: Serialize + DeserializeOwned> {
    /// What it is made of.
    type Config: Serialize + DeserializeOwned;

    /// What it is called in its program; no other one there has this name.
    const NAME: &'static str;

    /// Makes the actor, in its process.
    ///
    /// # Errors
    ///
    /// Why it cannot be made: it ends as by a panic with these words.
    fn create(
        config: Self::Config,
        cx: &mut Context<Self>,
    ) -> Result<Self, Box<dyn Error + Send + Sync>>;
}
