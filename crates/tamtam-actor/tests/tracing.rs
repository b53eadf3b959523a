//! What is told to a subscriber of `tracing`.
//!
//! A program of its own: a process has one subscriber, which hears of all actors.

mod support;

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use support::{hold, until, within_limit};
use tamtam_actor::{Actor, Address, Overflow, Pool, Reply};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// An event: its fields, the message among them.
type Told = HashMap<String, String>;

static TOLD: Mutex<Vec<Told>> = Mutex::new(Vec::new());

/// Writes all events down.
struct Scribe;

struct Fields<'a>(&'a mut Told);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: tracing::Subscriber> Layer<S> for Scribe {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        assert_eq!(event.metadata().target(), "tamtam::actor");
        let level = event.metadata().level().to_string();
        let mut told = Told::from([("level".to_owned(), level)]);
        event.record(&mut Fields(&mut told));
        TOLD.lock().unwrap().push(told);
    }
}

fn listen() {
    static LISTENS: OnceLock<()> = OnceLock::new();
    LISTENS.get_or_init(|| tracing_subscriber::registry().with(Scribe).init());
}

/// What was told of this actor in these words.
fn told_of<M: Send + 'static>(actor: &Address<M>, words: &str) -> Vec<Told> {
    let number = actor.id().get().to_string();
    let told = TOLD.lock().unwrap();
    told.iter()
        .filter(|told| told.get("actor") == Some(&number) && told["message"].contains(words))
        .cloned()
        .collect()
}

#[test]
fn birth_and_end_are_told() {
    within_limit(|| {
        listen();
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1));
        let born = told_of(&actor, "born");
        assert_eq!(born.len(), 1);
        assert!(
            born[0]["actor_type"].contains("birth_and_end_are_told"),
            "{born:?}"
        );
        assert_eq!(born[0]["level"], "DEBUG");
        actor.ask(|reply| reply).unwrap();
        assert!(told_of(&actor, "ended").is_empty());
        actor.stop();
        until(|| told_of(&actor, "ended").len() == 1);
        assert!(told_of(&actor, "panicked").is_empty());
    });
}

#[test]
fn a_panic_is_told_as_an_error() {
    within_limit(|| {
        listen();
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|(): (), _| std::panic::resume_unwind(Box::new("no more ink")));
        actor.tell(()).unwrap();
        until(|| told_of(&actor, "ended").len() == 1);
        let told = told_of(&actor, "panicked");
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["level"], "ERROR");
        assert!(told[0]["reason"].contains("no more ink"), "{told:?}");
        assert!(told_of(&actor, "ended")[0]["reason"].contains("no more ink"));
    });
}

#[test]
fn a_restart_is_told_with_the_name() {
    struct Weak;

    impl tamtam_actor::Actor for Weak {
        type Message = Option<Reply<u8>>;

        fn handle(&mut self, reply: Self::Message, _: &mut tamtam_actor::Context<Self>) {
            match reply {
                Some(reply) => reply.send(1),
                None => std::panic::resume_unwind(Box::new("no more ink")),
            }
        }
    }

    within_limit(|| {
        listen();
        let pool = Pool::with_threads(1);
        let spawner = pool
            .spawner()
            .name("weak")
            .restart(tamtam_actor::Restart::on_panic());
        let actor = spawner.spawn_with(|_| Weak);
        for restarts in 1..3 {
            assert!(told_of(&actor, "begins again").len() < restarts);
            actor.tell(None).unwrap();
            assert_eq!(actor.ask(Some), Ok(1));
            let told = told_of(&actor, "begins again");
            assert_eq!(told.len(), restarts);
            let last = &told[restarts - 1];
            assert_eq!(last["level"], "WARN");
            assert_eq!(last["name"], "\"weak\"");
            assert_eq!(last["restarts"], restarts.to_string());
            assert!(last["actor_type"].ends_with("Weak\""), "{last:?}");
        }
        assert_eq!(told_of(&actor, "panicked")[0]["name"], "\"weak\"");
    });
}

#[test]
fn a_long_turn_of_an_observed_actor_is_told() {
    within_limit(|| {
        listen();
        let builder = Pool::builder().threads(1).name("slow").observe(true);
        let pool = builder.long_turn(Duration::from_nanos(1)).build().unwrap();
        let actor = pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1));
        actor.ask(|reply| reply).unwrap();
        until(|| !told_of(&actor, "a turn was long").is_empty());
        let told = told_of(&actor, "a turn was long");
        assert_eq!(
            (told[0]["home"].as_str(), told[0]["level"].as_str()),
            ("\"slow\"", "WARN")
        );
    });
}

#[test]
fn a_handler_that_waits_is_told_of_once() {
    within_limit(|| {
        listen();
        struct Ask(Reply<u8>);

        let pool = Pool::with_threads(1);
        let inner = pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1));
        let outer = pool.spawn_fn(move |Ask(reply): Ask, _| {
            let answer = inner.ask(|reply| reply);
            reply.send(answer.unwrap());
        });
        for _ in 0..3 {
            assert_eq!(outer.ask(Ask), Ok(1));
        }
        let told = told_of(&outer, "a handler waits");
        assert_eq!(told.len(), 1);
        assert!(told[0]["message_type"].ends_with("Ask\""), "{told:?}");
        assert!(pool.blocking_asks() >= 3);
    });
}

#[test]
fn many_losses_are_told_in_few_words() {
    within_limit(|| {
        listen();
        let pool = Pool::with_threads(1);
        let spawner = pool.spawner().limited(1, Overflow::DropNewest);
        let actor = spawner.spawn_fn(|hold: Option<support::Hold>, _| {
            hold.into_iter().for_each(support::Hold::wait);
        });
        let (wait, gate) = hold();
        actor.tell(Some(wait)).unwrap();
        gate.until_entered();
        for _ in 0..1_000 {
            actor.tell(None).unwrap();
        }
        assert_eq!(actor.lost(), 999);
        let losses = || {
            let told = TOLD.lock().unwrap();
            let losses = told
                .iter()
                .filter(|told| told["message"].contains("were lost"));
            losses.count()
        };
        // Where a loss of another test was the first of this second, that is told on the thread of that.
        until(|| losses() > 0);
        // Once a second, and nobody knows how long this took.
        assert!(losses() < 100, "{}", losses());
        gate.open();
    });
}

#[test]
fn a_replacement_is_told_with_the_name_and_whether_a_thread_is_left_behind() {
    struct Waits;

    impl Actor for Waits {
        type Message = Option<support::Hold>;

        fn handle(&mut self, gate: Self::Message, _: &mut tamtam_actor::Context<Self>) {
            gate.into_iter().for_each(support::Hold::wait);
        }
    }

    within_limit(|| {
        listen();
        let pool = Pool::with_threads(1);
        let actor = pool
            .spawner()
            .name("digger")
            .replaceable()
            .spawn_with(|_| Waits);
        let (wait, gate) = hold();
        actor.tell(Some(wait)).unwrap();
        gate.until_entered();
        assert!(actor.replace());
        let told = told_of(&actor, "was replaced");
        assert_eq!(told.len(), 1);
        assert!(told[0]["name"].contains("digger"), "{told:?}");
        assert_eq!(told[0]["is_left_behind"], "true");
        assert_eq!(told[0]["level"], "WARN");
        // It is one actor, which was born once.
        assert_eq!(told_of(&actor, "born").len(), 1);
        gate.open();
        until(|| pool.snapshot().left_behind == 0);
        assert!(told_of(&actor, "ended").is_empty());
        actor.stop();
        until(|| told_of(&actor, "ended").len() == 1);
    });
}
