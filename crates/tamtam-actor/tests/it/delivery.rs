//! Each message is handled once and in its sender's order, on whatever thread.
//!
//! `TAMTAM_SOAK_SECONDS` makes these tests longer.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use crate::support::{Random, Soak, until, within};
use tamtam_actor::{Actor, Address, Context, Overflow, Pool};

const THREADS: usize = 3;
const ACTORS: usize = 40;
/// What each thread sends, in each round.
const MESSAGES: u64 = if cfg!(debug_assertions) {
    10_000
} else {
    200_000
};

/// A message and the way that it is to go.
struct Parcel {
    /// Who sends it: a thread, or after it an actor.
    sender: usize,
    number: u64,
    /// How often it is to be sent on.
    hops: u32,
}

/// What all have in common.
struct Post {
    actors: Mutex<Vec<Address<Parcel>>>,
    handled: AtomicU64,
    homes: Mutex<HashSet<ThreadId>>,
}

/// Handles parcels and sends some on, as a sender of its own.
struct Clerk {
    place: usize,
    post: Arc<Post>,
    actors: Vec<Address<Parcel>>,
    /// The next number from each sender, by the sender's place.
    expected: Vec<u64>,
    /// The next number to each actor.
    sent: Vec<u64>,
    random: Random,
    /// Not atomic: turns on different threads have to see each other.
    turns: Cell<u64>,
    home: Option<ThreadId>,
    moves: u64,
}

impl Actor for Clerk {
    type Message = Parcel;

    fn handle(&mut self, parcel: Parcel, cx: &mut Context<Self>) {
        let expected = &mut self.expected[parcel.sender];
        if parcel.number != *expected {
            // A panic would only end this actor.
            eprintln!(
                "{} from {} instead of {expected}",
                parcel.number, parcel.sender
            );
            std::process::abort();
        }
        *expected += 1;
        self.turns.set(self.turns.get() + 1);
        let here = thread::current().id();
        if self.home.replace(here) != Some(here) {
            self.moves += 1;
            self.post.homes.lock().unwrap().insert(here);
        }
        if self.actors.is_empty() {
            self.actors.clone_from(&self.post.actors.lock().unwrap());
        }
        if parcel.hops != 0 {
            let to = self.random.below(ACTORS as u64) as usize;
            let parcel = Parcel {
                sender: THREADS + self.place,
                number: self.sent[to],
                hops: parcel.hops - 1,
            };
            self.sent[to] += 1;
            self.actors[to].tell(parcel).unwrap();
        }
        self.post.handled.fetch_add(1, Ordering::Release);
        let _ = cx;
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        let sum: u64 = self.expected.iter().sum();
        if sum != self.turns.get() {
            eprintln!("{} turns seen, {sum} messages", self.turns.get());
            std::process::abort();
        }
    }
}

fn deliver(threads: usize, limit: Option<usize>, hops: u32) {
    let rounds = Soak::rounds(1);
    within(rounds.limit(), move || {
        for round in rounds {
            let pool = Pool::with_threads(threads);
            let post = Arc::new(Post {
                actors: Mutex::default(),
                handled: AtomicU64::new(0),
                homes: Mutex::default(),
            });
            let actors: Vec<_> = (0..ACTORS)
                .map(|place| {
                    let spawner = pool.spawner().limited(limit, Overflow::Fail);
                    spawner.spawn(Clerk {
                        place,
                        post: Arc::clone(&post),
                        actors: Vec::new(),
                        expected: vec![0; THREADS + ACTORS],
                        sent: vec![0; ACTORS],
                        random: Random::new((round * ACTORS + place) as u64),
                        turns: Cell::new(0),
                        home: None,
                        moves: 0,
                    })
                })
                .collect();
            post.actors.lock().unwrap().clone_from(&actors);
            thread::scope(|scope| {
                for sender in 0..THREADS {
                    let actors = &actors;
                    scope.spawn(move || {
                        let mut random = Random::new((round * THREADS + sender) as u64 + 77);
                        let mut sent = vec![0; ACTORS];
                        for _ in 0..MESSAGES {
                            let to = random.below(ACTORS as u64) as usize;
                            let parcel = Parcel {
                                sender,
                                number: sent[to],
                                hops,
                            };
                            sent[to] += 1;
                            actors[to]
                                .tell_timeout(parcel, crate::support::LONG)
                                .unwrap();
                        }
                    });
                }
            });
            let all = THREADS as u64 * MESSAGES * u64::from(hops + 1);
            until(|| post.handled.load(Ordering::Acquire) == all);
            let homes = post.homes.lock().unwrap().len();
            println!("{all} messages on {homes} of {threads} threads");
            assert!((1..=threads).contains(&homes));
            assert!(actors.iter().all(|actor| actor.lost() == 0));
            // They know each other.
            actors.iter().for_each(Address::stop);
            pool.shutdown();
            assert_eq!(post.handled.load(Ordering::Acquire), all);
            assert!(actors.iter().all(|actor| actor.lost() == 0));
        }
    });
}

#[test]
fn order_is_kept_on_one_thread() {
    deliver(1, None, 3);
}

#[test]
fn order_is_kept_while_actors_move_between_threads() {
    deliver(4, None, 3);
}

#[test]
fn order_is_kept_by_mailboxes_with_a_limit() {
    // Actors that have to wait for room would wait for each other, so only threads send.
    deliver(3, Some(16), 0);
}

/// More actors than the rings of the threads have places for.
#[test]
fn a_token_goes_round_among_many() {
    struct Member {
        next: Option<Address<Token>>,
        seen: u64,
    }

    enum Token {
        Meet(Address<Token>),
        Pass(u64, Arc<AtomicU64>),
    }

    impl Actor for Member {
        type Message = Token;

        fn handle(&mut self, token: Token, _: &mut Context<Self>) {
            match token {
                Token::Meet(next) => self.next = Some(next),
                Token::Pass(left, handled) => {
                    self.seen += 1;
                    if left == 0 {
                        handled.fetch_add(1, Ordering::Release);
                    } else {
                        let next = self.next.as_ref().unwrap();
                        next.tell(Token::Pass(left - 1, handled)).unwrap();
                    }
                }
            }
        }
    }

    let rounds = Soak::rounds(2);
    within(rounds.limit(), move || {
        for _ in rounds {
            let pool = Pool::with_threads(3);
            let members: Vec<_> = (0..2_000)
                .map(|_| {
                    pool.spawn(Member {
                        next: None,
                        seen: 0,
                    })
                })
                .collect();
            let handled = Arc::new(AtomicU64::new(0));
            for (place, member) in members.iter().enumerate() {
                let next = members[(place + 1) % members.len()].clone();
                member.tell(Token::Meet(next)).unwrap();
            }
            let hops = MESSAGES / 100;
            for member in &members {
                let token = Token::Pass(hops, Arc::clone(&handled));
                member.tell(token).unwrap();
            }
            until(|| handled.load(Ordering::Acquire) == 2_000);
            members.iter().for_each(Address::stop);
        }
    });
}
