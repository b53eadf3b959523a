//! Links of actors with those of workers: who ends with whom, whatever dies.

use serde::{Deserialize, Serialize};
use std::error::Error;

use tamtam_actor::{Actor, Address, Context, EndReason, Pool, ProcessEnd, Reply, Restart};
use tamtam_process::{Process, ProcessHandle, Remote};

use crate::until;

crate::tests! { "links":
    a_worker_that_is_killed_takes_the_linker_along
    a_linker_that_ends_takes_the_actor_of_the_worker_along
    a_linker_that_ends_takes_the_root_of_the_worker_along
    a_link_outlasts_a_restart_of_the_process
    an_actor_in_the_worker_hears_of_the_death_of_a_linker_in_another_worker
    a_link_that_is_taken_back_holds_no_longer
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Bond {
    Link(Address<Bond>, Reply<()>),
    Unlink(Address<Bond>, Reply<bool>),
    Fail,
    Here(Reply<()>),
    /// Another actor of the same process.
    Other(Reply<Address<Bond>>),
}

/// Links others as it is told.
#[derive(Default)]
pub(crate) struct Partner {
    pool: Option<Pool>,
}

impl Remote for Partner {
    type Config = ();
    const NAME: &'static str = "partner";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Partner {
            pool: Some(Pool::with_threads(1)),
        })
    }
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
            Bond::Fail => panic!("on purpose"),
            Bond::Here(reply) => reply.send(()),
            Bond::Other(reply) => {
                if let Some(pool) = &self.pool {
                    let other = pool.spawner().name("other").spawn(Partner::default());
                    reply.send(other);
                }
            }
        }
    }
}

fn own(pool: &Pool) -> Address<Bond> {
    pool.spawner().name("own").spawn(Partner::default())
}

fn worker(restart: Restart) -> (Address<Bond>, ProcessHandle) {
    let spawner = Process::spawner().restart(restart);
    spawner.spawn_with_handle::<Partner>(()).unwrap()
}

fn link(one: &Address<Bond>, other: &Address<Bond>) {
    one.ask(|reply| Bond::Link(other.clone(), reply)).unwrap();
}

/// The names of a chain of links, the nearest first, and why the last one has ended.
fn chain(reason: &EndReason) -> (Vec<Option<String>>, EndReason) {
    let mut names = Vec::new();
    let mut reason = reason;
    while let EndReason::Linked(ended) = reason {
        names.push(ended.name.as_deref().map(str::to_owned));
        reason = &ended.reason;
    }
    (names, reason.clone())
}

fn killed() -> EndReason {
    EndReason::ProcessEnded(ProcessEnd::Killed(9))
}

fn panicked() -> EndReason {
    EndReason::Panicked("on purpose".into())
}

fn a_worker_that_is_killed_takes_the_linker_along() {
    let pool = Pool::with_threads(1);
    let (root, handle) = worker(Restart::never());
    let other = root.ask(Bond::Other).unwrap();
    let (of_root, of_other, linked_back) = (own(&pool), own(&pool), own(&pool));
    link(&of_root, &root);
    link(&of_other, &other);
    link(&other, &linked_back);
    handle.kill();
    for actor in [of_root, of_other, linked_back] {
        let (names, last) = chain(&actor.end().wait().reason);
        assert_eq!((names.len(), last), (1, killed()));
    }
}

fn a_linker_that_ends_takes_the_actor_of_the_worker_along() {
    let pool = Pool::with_threads(1);
    let (root, handle) = worker(Restart::never());
    let other = root.ask(Bond::Other).unwrap();
    let own = own(&pool);
    link(&own, &other);
    let end = other.end();
    own.tell(Bond::Fail).unwrap();
    let (names, last) = chain(&end.wait().reason);
    assert_eq!((names, last), (vec![Some("own".to_owned())], panicked()));
    // The process goes on.
    root.ask(Bond::Here).unwrap();
    drop(handle);
}

fn a_linker_that_ends_takes_the_root_of_the_worker_along() {
    let pool = Pool::with_threads(1);
    let (root, handle) = worker(Restart::on_panic());
    let own = own(&pool);
    link(&own, &root);
    let end = root.end();
    own.tell(Bond::Fail).unwrap();
    let (names, last) = chain(&end.wait().reason);
    assert_eq!((names, last), (vec![Some("own".to_owned())], panicked()));
    // An end by a link is not followed by a restart.
    assert_eq!(handle.restarts(), 0);
    assert!(root.tell(Bond::Fail).is_err());
    until("the process has ended", || handle.pid().is_none());
}

fn a_link_outlasts_a_restart_of_the_process() {
    let pool = Pool::with_threads(1);
    let (root, handle) = worker(Restart::on_panic());
    let own = own(&pool);
    link(&own, &root);
    handle.kill();
    until("another one has begun", || handle.restarts() == 1);
    root.ask(Bond::Here).unwrap();
    own.ask(Bond::Here).unwrap();
    let end = root.end();
    own.tell(Bond::Fail).unwrap();
    let (names, last) = chain(&end.wait().reason);
    assert_eq!((names, last), (vec![Some("own".to_owned())], panicked()));
    assert_eq!(handle.restarts(), 1);
}

fn an_actor_in_the_worker_hears_of_the_death_of_a_linker_in_another_worker() {
    let (first, handle) = worker(Restart::never());
    let (second, _other_handle) = worker(Restart::never());
    let linker = first.ask(Bond::Other).unwrap();
    let linked = second.ask(Bond::Other).unwrap();
    link(&linker, &linked);
    let end = linked.end();
    handle.kill();
    // Its own process says so, which has heard of it through this one.
    let (names, last) = chain(&end.wait().reason);
    assert_eq!(names, [Some("other".to_owned())]);
    assert_eq!(last, killed());
    second.ask(Bond::Here).unwrap();
}

fn a_link_that_is_taken_back_holds_no_longer() {
    let pool = Pool::with_threads(1);
    let (root, handle) = worker(Restart::never());
    let other = root.ask(Bond::Other).unwrap();
    let own = own(&pool);
    for linked in [&root, &other] {
        link(&own, linked);
        let unlinked = own.ask(|reply| Bond::Unlink(linked.clone(), reply));
        assert_eq!(unlinked, Ok(true));
    }
    let end = root.end();
    handle.kill();
    assert_eq!(end.wait().reason, killed());
    own.ask(Bond::Here).unwrap();
}
