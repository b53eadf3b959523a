//! What the tests send.

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, Context, Pool, Reply};

/// The example of the guide, with what else a message may have in it.
#[derive(Serialize, Deserialize)]
pub(crate) enum Count {
    Add(u64),
    Read(Reply<u64>),
    /// Tells the number to somebody else.
    TellTo(Address<u64>),
    /// Gives an address back as it came.
    Echo(Address<u64>, Reply<Address<u64>>),
    /// Asks somebody else to answer.
    Forward(Address<Reply<u64>>, Reply<u64>),
    /// A text, whose length is answered.
    Text(String, Reply<u64>),
    Fail(String),
    Ignore(Reply<u64>),
    /// Refuses, with these words, so often.
    Refuse(String, usize, Reply<u64>),
    Keep(Reply<u64>),
    Stop,
}

#[derive(Default)]
pub(crate) struct Counter {
    number: u64,
    kept: Vec<Reply<u64>>,
}

impl Actor for Counter {
    type Message = Count;

    fn handle(&mut self, message: Count, cx: &mut Context<Self>) {
        match message {
            Count::Add(number) => self.number += number,
            Count::Read(reply) => reply.send(self.number),
            Count::TellTo(address) => address.tell(self.number).unwrap(),
            Count::Echo(address, reply) => reply.send(address),
            Count::Forward(address, reply) => address.tell(reply).unwrap(),
            Count::Text(text, reply) => reply.send(text.len() as u64),
            Count::Fail(words) => panic!("{words}"),
            Count::Ignore(reply) => drop(reply),
            Count::Refuse(why, times, reply) => reply.refuse(why.repeat(times)),
            Count::Keep(reply) => self.kept.push(reply),
            Count::Stop => cx.stop(),
        }
    }
}

pub(crate) fn counter(pool: &Pool) -> Address<Count> {
    pool.spawner().name("counter").spawn(Counter::default())
}
