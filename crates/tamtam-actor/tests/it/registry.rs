//! Actors that are found by their names.

use std::thread;

use crate::support::{Soak, panic_on_purpose, until, within, within_limit};
use tamtam_actor::{FindError, Pool, RegisterError, Registry, Reply, Restart};

/// Answers with a number, or panics.
struct Number(u32);

enum Ask {
    Number(Reply<u32>),
    Panic,
}

impl tamtam_actor::Actor for Number {
    type Message = Ask;

    fn handle(&mut self, ask: Ask, _: &mut tamtam_actor::Context<Self>) {
        match ask {
            Ask::Number(reply) => reply.send(self.0),
            Ask::Panic => panic_on_purpose(),
        }
    }
}

#[test]
fn an_actor_is_found_by_its_name_and_type() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let registry = Registry::new();
        let seven = pool.spawner().name("seven at birth").spawn(Number(7));
        registry.register("seven", &seven).unwrap();
        registry.register("lucky", &seven).unwrap();
        let found = registry.find::<Ask>("seven").unwrap();
        assert_eq!(found.ask(Ask::Number), Ok(7));
        assert_eq!(found.id(), seven.id());
        // A mapped address leads to the same actor, though it is not kept.
        registry.register("reply", &seven.map(Ask::Number)).unwrap();
        let mapped = registry.find::<Reply<u32>>("reply").unwrap();
        assert_eq!(
            (mapped.id(), mapped.ask(|reply| reply)),
            (seven.id(), Ok(7))
        );
        assert_eq!(registry.names().len(), 3);

        let missing = registry.find::<Ask>("eight").unwrap_err();
        assert_eq!(
            missing,
            FindError::NotFound {
                name: "eight".to_owned()
            }
        );
        let wrong = registry.find::<u8>("seven").unwrap_err();
        assert!(
            matches!(wrong, FindError::WrongType { found, wanted: "u8", .. } if found.ends_with("Ask")),
        );
        let eight = pool.spawn(Number(8));
        let taken = registry.register("seven", &eight).unwrap_err();
        let RegisterError::Taken { by, by_name, .. } = &taken else {
            panic!("{taken}")
        };
        assert_eq!(*by, seven.id());
        assert_eq!(by_name.as_deref(), Some("seven at birth"));
        assert!(registry.remove("seven"));
        assert!(!registry.remove("seven"));
        registry.register("seven", &eight).unwrap();
        let found = registry.find::<Ask>("seven").unwrap();
        assert_eq!(found.ask(Ask::Number), Ok(8));
        assert!(Registry::global().find::<Ask>("seven").is_err());
    });
}

#[test]
fn an_entry_keeps_nobody_alive_and_goes_with_its_actor() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let registry = Registry::new();
        for is_stopped in [true, false] {
            let seven = pool.spawn(Number(7));
            registry.register("seven", &seven).unwrap();
            if is_stopped {
                seven.stop();
            }
            let end = seven.end();
            drop(seven);
            end.wait();
            assert!(registry.find::<Ask>("seven").is_err());
            until(|| registry.names().is_empty());
        }
        let seven = pool.spawn(Number(7));
        seven.stop();
        seven.end().wait();
        assert!(matches!(
            registry.register("late", &seven),
            Err(RegisterError::Ended { .. })
        ));
        assert!(registry.names().is_empty());
        // A restart is no end.
        let nine = pool
            .spawner()
            .restart(Restart::on_panic())
            .spawn_with(|_| Number(9));
        registry.register("nine", &nine).unwrap();
        nine.tell(Ask::Panic).unwrap();
        let found = registry.find::<Ask>("nine").unwrap();
        assert_eq!(found.ask(Ask::Number), Ok(9));
    });
}

/// A name passes from one actor to the next one as each ends.
#[test]
fn a_name_is_never_had_by_two() {
    let rounds = Soak::rounds(50);
    within(rounds.limit(), move || {
        let pool = Pool::with_threads(2);
        for _ in rounds {
            let registry = Registry::new();
            thread::scope(|scope| {
                for number in 0..3 {
                    let (pool, registry) = (&pool, &registry);
                    scope.spawn(move || {
                        for _ in 0..20 {
                            let actor = pool.spawn(Number(number));
                            if registry.register("one", &actor).is_ok() {
                                let found = registry.find::<Ask>("one").unwrap();
                                assert_eq!(found.id(), actor.id());
                                assert_eq!(found.ask(Ask::Number), Ok(number));
                            }
                            actor.stop();
                        }
                    });
                }
            });
            until(|| registry.names().is_empty());
        }
    });
}
