//! How does one ask all who listen, and gather their answers?
//!
//! The question is published on a topic. A `Reply` is for one answer, so it is made on the way, by the mapping of each
//! subscriber's address: a seller gets a question with a `Reply` as from anyone who asks it, and need not know of the topic. What
//! is answered, or dropped unanswered, comes as a message to the buyer, an actor. The buyer answers in turn when all sellers
//! have answered, when it has as many prices as are wanted, or when the time is over.
//!
//! No thread waits meanwhile. A seller whose mailbox is full is awaited (`publish_async`), and one that stops, or panics, with
//! the question in its mailbox has dropped its `Reply`. The time is moved by hand, so the program prints the same each time.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use tamtam::actor::{AskError, PublishError, Subscription, Time, Timer};
use tamtam::{Actor, Address, Context, Pool, Reply, Topic, bounded};

/// What is published. Clones of it go to all, so it has the buyer's address, from which any number of replies can be made.
#[derive(Clone)]
struct Enquiry {
    number: u64,
    ware: &'static str,
    buyer: Address<ToBuyer>,
}

/// What a seller is asked, by whomever.
struct Price(&'static str, Reply<u32>);

impl Enquiry {
    /// The question as one seller gets it. This runs once the seller is known to have room for it.
    fn for_one(self) -> Price {
        let answered = move |price| {
            // If the buyer is gone, that is no error.
            let _ = self.buyer.tell(ToBuyer::Answered(self.number, price));
        };
        Price(self.ware, Reply::to(answered))
    }
}

enum ToBuyer {
    Gather(Search, Reply<Found>),
    Answered(u64, Result<u32, AskError>),
}

/// What is looked for, and when it is enough.
struct Search {
    ware: &'static str,
    at_most: usize,
    within: Duration,
}

#[derive(Debug, PartialEq)]
struct Found {
    why: Finish,
    /// The lowest first.
    prices: Vec<u32>,
    /// So many sellers have dropped the question.
    unanswered: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Finish {
    AllHaveAnswered,
    Enough,
    TimeIsOver,
}

/// A search that is not finished.
struct Gathering {
    reply: Reply<Found>,
    at_most: usize,
    deadline: Timer,
    /// How many sellers were asked, once that is known.
    asked: Option<usize>,
    prices: Vec<u32>,
    unanswered: usize,
}

impl Gathering {
    fn is_finished(&self) -> Option<Finish> {
        if self.prices.len() == self.at_most {
            Some(Finish::Enough)
        } else if self.asked == Some(self.prices.len() + self.unanswered) {
            Some(Finish::AllHaveAnswered)
        } else {
            None
        }
    }

    fn finish(mut self, why: Finish) {
        self.deadline.cancel();
        self.prices.sort_unstable();
        self.reply.send(Found {
            why,
            prices: self.prices,
            unanswered: self.unanswered,
        });
    }
}

struct Buyer {
    market: Topic<Enquiry>,
    searches: u64,
    gatherings: HashMap<u64, Gathering>,
}

impl Buyer {
    fn new(market: &Topic<Enquiry>) -> Self {
        Buyer {
            market: market.clone(),
            searches: 0,
            gatherings: HashMap::new(),
        }
    }

    fn begin(&mut self, search: &Search, reply: Reply<Found>, cx: &mut Context<Self>) {
        self.searches += 1;
        let number = self.searches;
        let deadline = cx.after(search.within, move |buyer, _| {
            if let Some(gathering) = buyer.gatherings.remove(&number) {
                gathering.finish(Finish::TimeIsOver);
            }
        });
        let gathering = Gathering {
            reply,
            at_most: search.at_most,
            deadline,
            asked: None,
            prices: Vec::new(),
            unanswered: 0,
        };
        self.gatherings.insert(number, gathering);
        let enquiry = Enquiry {
            number,
            ware: search.ware,
            buyer: cx.address(),
        };
        // Ready when all have it; answers of the first come meanwhile.
        cx.pipe(
            self.market.publish_async(enquiry),
            move |buyer, asked, _| {
                let asked = asked.unwrap_or_else(|error: PublishError<_>| error.delivered());
                buyer.update(number, |gathering| gathering.asked = Some(asked));
            },
        );
    }

    /// Notes what has come of a search, and finishes it if that was the last that it waited for. What comes after its end is
    /// ignored.
    fn update(&mut self, number: u64, note: impl FnOnce(&mut Gathering)) {
        let Some(mut gathering) = self.gatherings.remove(&number) else {
            return;
        };
        note(&mut gathering);
        match gathering.is_finished() {
            Some(why) => gathering.finish(why),
            None => drop(self.gatherings.insert(number, gathering)),
        }
    }
}

impl Actor for Buyer {
    type Message = ToBuyer;

    fn handle(&mut self, told: ToBuyer, cx: &mut Context<Self>) {
        match told {
            ToBuyer::Gather(search, reply) => self.begin(&search, reply, cx),
            ToBuyer::Answered(number, answer) => self.update(number, |gathering| match answer {
                Ok(price) => gathering.prices.push(price),
                Err(_) => gathering.unanswered += 1,
            }),
        }
    }
}

/// A seller, and its subscription. What it does not have, it does not answer.
fn seller(
    pool: &Pool,
    market: &Topic<Enquiry>,
    prices: &[(&'static str, u32)],
) -> (Address<Price>, Subscription) {
    let prices: HashMap<_, _> = prices.iter().copied().collect();
    let seller = pool.spawn_fn(move |Price(ware, reply), _| {
        if let Some(price) = prices.get(ware) {
            reply.send(*price);
        }
    });
    let subscription = market.subscribe(&seller.map(Enquiry::for_one));
    (seller, subscription)
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let time = Time::manual();
    let pool = Pool::builder().time(time.clone()).build()?;
    let market = Topic::new();
    let sellers = [
        seller(&pool, &market, &[("tin", 30), ("silver", 900)]),
        seller(&pool, &market, &[("tin", 20)]),
        seller(&pool, &market, &[("tin", 40), ("silver", 800)]),
    ];
    let buyer = pool.spawn(Buyer::new(&market));
    let search = |ware, at_most| Search {
        ware,
        at_most,
        within: Duration::from_secs(10),
    };

    // A thread waits here; an actor says `Context::ask`, a task `ask_async`.
    let found = buyer.ask(|reply| ToBuyer::Gather(search("tin", 100), reply))?;
    println!("tin: {found:?}");
    assert_eq!(found.prices, [20, 30, 40]);

    let found = buyer.ask(|reply| ToBuyer::Gather(search("silver", 100), reply))?;
    println!("silver: {found:?}");
    assert_eq!((found.prices.len(), found.unanswered), (2, 1));

    // Which prices come first is not known.
    let found = buyer.ask(|reply| ToBuyer::Gather(search("tin", 2), reply))?;
    println!("tin, two prices at most: {:?}", found.why);
    assert_eq!((found.why, found.prices.len()), (Finish::Enough, 2));

    // One more seller, which keeps each question and thinks about it.
    let mut questions = Vec::new();
    let thinker = pool.spawn_fn(move |question: Price, _| questions.push(question));
    let _thinks = market.subscribe(&thinker.map(Enquiry::for_one));
    let (sender, receiver) = bounded(1);
    let reply = Reply::to(move |found| drop(sender.send(found)));
    buyer.tell(ToBuyer::Gather(search("silver", 100), reply))?;
    pool.wait_idle()?; // all others have answered
    time.advance(Duration::from_secs(10));
    let found = receiver.recv()??;
    println!("silver, ten seconds later: {found:?}");
    assert_eq!((found.why, found.prices.len()), (Finish::TimeIsOver, 2));

    // Sellers that have unsubscribed, or stopped, are asked no more.
    drop(thinker);
    drop(sellers);
    pool.wait_idle()?;
    let found = buyer.ask(|reply| ToBuyer::Gather(search("tin", 100), reply))?;
    println!("tin, when all have left: {found:?}");
    assert_eq!((found.why, found.unanswered), (Finish::AllHaveAnswered, 0));
    Ok(())
}
