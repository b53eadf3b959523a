//! Which actors does a page reach, and which of its own reach the server? Those of this program, over a link. It serves the tests of
//! `@tamtam/web/link`, until its input ends.
//!
//!     cargo run -p tamtam-gateway --example link_server
//!
//! `/link/counter` has an actor for each page, `/link/shared` one for all, `/link/patient` one whose mailbox has room for two, and
//! `/link/closed` wants the token `let me in`. Beside them there are the method `Sums.add`, `Sums.slow`, which takes long, and the property
//! `Sums.last`, which is the sum that came last.

use std::io::Read;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, Address, Context, Overflow, Pool, Reply};
use tamtam_channel::Property;
use tamtam_gateway::{Caller, Fault, Gateway, LinkRoot, Server, Service, bearer};

#[derive(Serialize, Deserialize)]
enum Count {
    Add(u64),
    Reset,
    Total(Reply<u64>),
    /// From now on each sum is told there.
    Watch(Address<u64>),
    /// Asks an actor of the page, and answers with what that says.
    AskBack {
        page: Address<Question>,
        text: String,
        reply: Reply<String>,
    },
    /// Whatever JSON that is, it comes back.
    Echo(serde_json::Value, Reply<serde_json::Value>),
    /// Gives an address back as it came.
    Back(Address<u64>, Reply<Address<u64>>),
    /// Another actor, which is the page's alone.
    Spawn(Reply<Address<Count>>),
    /// Passes the reply on to an actor of the page.
    Forward(Address<Reply<u64>>, Reply<u64>),
    /// Tells there so many numbers.
    Flood(Address<u64>, u64),
    Fail(String),
    Keep(Reply<u64>),
    Drop(Reply<u64>),
    Refuse(String, Reply<u64>),
    Stop,
}

/// What the page is asked.
#[derive(Serialize, Deserialize)]
struct Question {
    text: String,
    reply: Reply<String>,
}

struct Counter {
    /// Where its children live.
    pool: Arc<Pool>,
    total: u64,
    watchers: Vec<Address<u64>>,
    kept: Vec<Reply<u64>>,
}

impl Counter {
    fn new(pool: &Arc<Pool>) -> Counter {
        Counter {
            pool: Arc::clone(pool),
            total: 0,
            watchers: Vec::new(),
            kept: Vec::new(),
        }
    }
}

impl Actor for Counter {
    type Message = Count;

    fn handle(&mut self, message: Count, cx: &mut Context<Self>) {
        match message {
            Count::Add(number) => {
                self.total += number;
                self.watchers.retain(|it| it.tell(self.total).is_ok());
            }
            Count::Reset => self.total = 0,
            Count::Total(reply) => reply.send(self.total),
            Count::Watch(watcher) => self.watchers.push(watcher),
            Count::AskBack { page, text, reply } => {
                let question = |reply| Question { text, reply };
                cx.ask(&page, question, |_, answer, _| {
                    let said = match answer {
                        Ok(answer) => answer,
                        Err(error) => format!("error: {error}"),
                    };
                    reply.send(said);
                });
            }
            Count::Echo(value, reply) => reply.send(value),
            Count::Back(address, reply) => reply.send(address),
            Count::Spawn(reply) => reply.send(self.pool.spawn(Counter::new(&self.pool))),
            Count::Forward(page, reply) => drop(page.tell(reply)),
            Count::Flood(page, count) => {
                for number in 0..count {
                    if page.tell(number).is_err() {
                        break;
                    }
                }
            }
            Count::Fail(words) => panic!("{words}"),
            Count::Keep(reply) => self.kept.push(reply),
            Count::Drop(reply) => drop(reply),
            Count::Refuse(why, reply) => reply.refuse(why),
            Count::Stop => cx.stop(),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Arc::new(Pool::new());
    let shared = pool.spawn(Counter::new(&pool));
    let spawning = Arc::clone(&pool);
    let waiting = Arc::clone(&pool);
    let last = Arc::new(Property::new(0_i64));
    let setting = Arc::clone(&last);
    let sums = Service::new("Sums")
        .blocking("add", move |(one, other): (i64, i64)| {
            let sum = one.checked_add(other);
            let sum = sum.ok_or_else(|| Fault::new("Sums.TooLarge", "it has more than 64 bits"))?;
            setting.set(sum);
            Ok::<_, Fault>(sum)
        })
        .method("slow", |_: ()| async {
            std::future::pending::<()>().await;
            Ok::<_, Fault>(())
        })
        .property("last", last);
    let gateway = Gateway::new()
        .origin("*")
        .service(sums)
        .link(LinkRoot::new("counter", move |_: &Caller| {
            spawning.spawn(Counter::new(&spawning))
        }))
        .link(LinkRoot::new("patient", move |_: &Caller| {
            let spawner = waiting.spawner().limited(2, Overflow::Wait);
            spawner.spawn(Counter::new(&waiting))
        }))
        .link({
            let shared = shared.clone();
            LinkRoot::new("closed", move |_| shared.clone()).authorize(bearer("let me in"))
        })
        .link(LinkRoot::new("shared", move |_| shared.clone()));
    let server = Server::bind(gateway, "127.0.0.1:0".parse()?).await?;
    println!("listening on {}", server.url());
    let input_ends = tokio::task::spawn_blocking(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
    });
    server.serve(async { drop(input_ends.await) }).await?;
    Ok(())
}
