//! How do many talk to many, when nobody keeps a list of who listens?
//!
//! A room is a topic: what one member says, all who are in the room hear. Members are actors; they come
//! by subscribing and go by dropping the subscription. A bot listens, too, but through a filter: only to
//! what begins with an exclamation mark. And who is there is asked on a topic, too: with the question goes a channel, which all
//! answer through, and which ends when the last of them has dropped its end. The example `many_answers` does more about that.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::error::Error;

use tamtam::actor::{PublishError, Subscription};
use tamtam::{Actor, Address, Context, Pool, Reply, Sender, Topic, unbounded};

/// What somebody says.
#[derive(Clone)]
struct Line {
    who: String,
    text: String,
}

#[derive(Clone)]
struct Room {
    name: &'static str,
    lines: Topic<Line>,
    /// Who is there?
    roll: Topic<Sender<String>>,
}

impl Room {
    fn new(name: &'static str) -> Self {
        Room {
            name,
            lines: Topic::new(),
            roll: Topic::new(),
        }
    }

    /// Says something to all who are there: to how many.
    fn say(&self, who: &str, text: impl Into<String>) -> Result<usize, PublishError<Line>> {
        self.lines.publish(Line {
            who: who.to_owned(),
            text: text.into(),
        })
    }

    fn members(&self) -> Vec<String> {
        let (sender, names) = unbounded();
        self.roll
            .publish(sender)
            .expect("no member's mailbox has a limit");
        // Until all have dropped their sender.
        let mut members: Vec<String> = names.iter().collect();
        members.sort();
        members
    }
}

/// What a member can be told.
enum Told {
    Join(Room, Reply<()>),
    Leave(&'static str, Reply<()>),
    Heard(&'static str, Line),
    Asked(Sender<String>),
    Transcript(Reply<Vec<String>>),
}

struct Member {
    name: String,
    rooms: BTreeMap<&'static str, [Subscription; 2]>,
    transcript: Vec<String>,
}

impl Member {
    fn named(name: &str) -> Self {
        Member {
            name: name.to_owned(),
            rooms: BTreeMap::new(),
            transcript: Vec::new(),
        }
    }
}

impl Actor for Member {
    type Message = Told;

    fn handle(&mut self, told: Told, cx: &mut Context<Self>) {
        match told {
            Told::Join(room, reply) => {
                let name = room.name;
                let me = cx.address();
                let hears = room
                    .lines
                    .subscribe(&me.map(move |line| Told::Heard(name, line)));
                let answers = room.roll.subscribe(&me.map(Told::Asked));
                self.rooms.insert(name, [hears, answers]);
                reply.send(());
            }
            Told::Leave(name, reply) => {
                // What keeps the subscriptions going is dropped.
                self.rooms.remove(name);
                reply.send(());
            }
            Told::Heard(room, line) => {
                let line = format!("[{room}] {}: {}", line.who, line.text);
                self.transcript.push(line);
            }
            // If nobody wants to know any more, that is no error.
            Told::Asked(names) => drop(names.send(self.name.clone())),
            Told::Transcript(reply) => reply.send(std::mem::take(&mut self.transcript)),
        }
    }
}

/// Answers what begins with an exclamation mark.
enum ToBot {
    Command(Line),
    /// Everything before this is answered.
    Done(Reply<()>),
}

fn bot(pool: &Pool, room: &Room) -> (Address<ToBot>, Subscription) {
    let mut answered = 0;
    let here = room.clone();
    let bot = pool.spawn_fn(move |told: ToBot, _| match told {
        ToBot::Command(line) => {
            answered += 1;
            let answer = match line.text.split_once(' ') {
                Some(("!add", numbers)) => {
                    let sum: i64 = numbers.split(' ').flat_map(str::parse::<i64>).sum();
                    format!("{}, that is {sum}", line.who)
                }
                _ => format!("{}, I can only !add", line.who),
            };
            here.say("bot", format!("{answer} (answer {answered})"))
                .expect("no member's mailbox has a limit");
        }
        ToBot::Done(reply) => reply.send(()),
    });
    let subscription = room
        .lines
        .feed()
        .filter(|line| line.text.starts_with('!'))
        .subscribe(&bot.map(ToBot::Command));
    (bot, subscription)
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let pool = Pool::new();
    let (kitchen, garden) = (Room::new("kitchen"), Room::new("garden"));
    let (bot, listening) = bot(&pool, &kitchen);
    let [ada, ben, cleo] = ["Ada", "Ben", "Cleo"].map(|name| pool.spawn(Member::named(name)));

    ada.ask(|reply| Told::Join(kitchen.clone(), reply))?;
    ben.ask(|reply| Told::Join(kitchen.clone(), reply))?;
    ben.ask(|reply| Told::Join(garden.clone(), reply))?;
    println!("in the kitchen: {}", kitchen.members().join(", "));

    println!("Ada is heard by {}", kitchen.say("Ada", "tea is ready")?);
    garden.say("Ben", "the roses are out")?;
    // Four hear it: the members, and the bot, which answers from a thread of the pool.
    cleo.ask(|reply| Told::Join(kitchen.clone(), reply))?;
    println!("Ben is heard by {}", kitchen.say("Ben", "!add 20 22")?);
    bot.ask(ToBot::Done)?;

    ben.ask(|reply| Told::Leave("kitchen", reply))?;
    println!("in the kitchen: {}", kitchen.members().join(", "));
    kitchen.say("Ada", "!sing")?;
    bot.ask(ToBot::Done)?;

    // The bot leaves, too: now nobody answers.
    println!("the bot was given {} lines", listening.delivered());
    listening.unsubscribe();
    println!("Cleo is heard by {}", kitchen.say("Cleo", "!add 1 2")?);

    for (name, member) in [("Ada", &ada), ("Ben", &ben), ("Cleo", &cleo)] {
        println!("{name} has heard:");
        for line in member.ask(Told::Transcript)? {
            println!("  {line}");
        }
    }

    // Who stops leaves all rooms: a topic keeps nobody alive.
    drop(ada);
    drop(cleo);
    pool.shutdown();
    println!(
        "in the kitchen at the end: {}",
        kitchen.say("nobody", "good night")?
    );
    Ok(())
}
