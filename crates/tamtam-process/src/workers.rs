//! Which half of the program this process plays, and which actors it can be.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::remote::Remote;
#[cfg(target_os = "linux")]
use crate::{origin, worker, worker::Errand};

/// The actors that a program can be the process of: see [`start`].
///
/// # Examples
///
/// ```
/// use tamtam_process::{Remote, Workers};
///
/// fn register<A: Remote, B: Remote>(workers: &mut Workers) {
///     workers.add::<A>().add::<B>();
/// }
/// ```
#[derive(Debug, Default)]
pub struct Workers {
    by_name: BTreeMap<&'static str, Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    #[cfg(target_os = "linux")]
    run: fn(Errand) -> worker::Exit,
}

/// The names of those of this program, once [`start`] was called.
static REGISTERED: OnceLock<Vec<&'static str>> = OnceLock::new();

impl Workers {
    /// This program can be the process of such an actor.
    ///
    /// # Panics
    ///
    /// If there is one of this name.
    pub fn add<A: Remote>(&mut self) -> &mut Self {
        let entry = Entry {
            #[cfg(target_os = "linux")]
            run: worker::run::<A>,
        };
        let before = self.by_name.insert(A::NAME, entry);
        assert!(
            before.is_none(),
            "two actors of this program are called {:?}: each needs a `Remote::NAME` of its own",
            A::NAME
        );
        self
    }
}

/// Says which actors this program can be the process of. It comes first in `main`: in a process that was started for an actor it runs that,
/// and never returns.
///
/// # Examples
///
/// ```standalone_crate
/// # use tamtam_actor::{Actor, Context, Reply};
/// # struct Doubler;
/// # impl Actor for Doubler {
/// #     type Message = (u32, Reply<u32>);
/// #     fn handle(&mut self, (n, reply): Self::Message, _: &mut Context<Self>) { reply.send(2 * n) }
/// # }
/// # impl tamtam_process::Remote for Doubler {
/// #     type Config = ();
/// #     const NAME: &'static str = "doubler";
/// #     fn create(_: (), _: &mut Context<Self>) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> { Ok(Doubler) }
/// # }
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     tamtam_process::start(|workers| {
///         workers.add::<Doubler>();
///     });
///     // From here on this is the program itself.
///     assert!(tamtam_process::is_primordial());
/// #   #[cfg(target_os = "linux")] {
///     let doubler = tamtam_process::Process::spawn::<Doubler>(())?;
///     assert_eq!(doubler.ask(|reply| (21, reply))?, 42);
/// #   }
///     Ok(())
/// }
/// ```
///
/// # Panics
///
/// If it was called before in this process, or two actors have the same name.
pub fn start(register: impl FnOnce(&mut Workers)) {
    let mut workers = Workers::default();
    register(&mut workers);
    #[cfg(target_os = "linux")]
    if origin::is_worker() {
        let names: Vec<_> = workers.by_name.keys().copied().collect();
        let exit = worker::serve(
            |name| workers.by_name.get(name).map(|entry| entry.run),
            &names,
        );
        std::process::exit(exit.code());
    }
    let names = workers.by_name.into_keys().collect();
    assert!(
        REGISTERED.set(names).is_ok(),
        "`tamtam_process::start` was called before in this process"
    );
}

/// Whether this is the program that was started by its user, and not a process that it has started for one of its actors.
#[must_use]
pub fn is_primordial() -> bool {
    #[cfg(target_os = "linux")]
    {
        !origin::is_worker()
    }
    #[cfg(not(target_os = "linux"))]
    true
}

/// The names that [`start`] was told of; `None` if it was not called.
pub(crate) fn registered() -> Option<&'static [&'static str]> {
    REGISTERED.get().map(Vec::as_slice)
}
