//! How does a game let other threads work for it, and still play the same game each time?
//!
//! What belongs to the game are actors in a `Frame`: they have their turns when the loop pumps, once a frame, on its
//! thread, and share its world without locks. A worker unpacks what is loaded, a pool finds paths, and both answer into
//! the frame. The frame's time is moved by hand, 16 milliseconds a frame, so a paused game would have no timers.
//!
//! Answers come when they come; the game is the same each time because it uses them in a frame that was agreed upon when
//! they were asked for, as games do that are played over a network. Only if one is late does the loop wait.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tamtam::actor::{Budget, Every, Time};
use tamtam::{Actor, Address, Context, Frame, Pool, Reply, Worker};

const FRAMES: u32 = 60;
const FRAME: Duration = Duration::from_millis(16);
/// Handling mail may take so much of it.
const MAIL: Duration = Duration::from_millis(2);
/// What is asked for in one frame is used so many frames later.
const LATENCY: u32 = 3;
const LEVEL_IN_FRAME: u32 = 5;

type Place = (usize, usize);

// ------------------------------------------------------------------------------- on other threads

/// Rows of so many times a tile each: what a level looks like on disk.
const PACKED: &str = "24#\n1#22.1#\n1#4.1#5.1#11.1#\n1#4.1#5.1#3.6#2.1#\n1#4.1#5.1#11.1#\n\
                      1#4.7#11.1#\n1#22.1#\n1#9.9#4.1#\n1#22.1#\n24#";

struct Level(Vec<Vec<u8>>);

impl Level {
    fn unpack(packed: &str) -> Self {
        let row = |line: &str| {
            let mut row = Vec::new();
            let mut count = 0;
            for byte in line.bytes() {
                match byte {
                    b'0'..=b'9' => count = 10 * count + usize::from(byte - b'0'),
                    tile => {
                        row.resize(row.len() + count, tile);
                        count = 0;
                    }
                }
            }
            row
        };
        Level(packed.lines().map(row).collect())
    }

    fn is_free(&self, (x, y): Place) -> bool {
        self.0[y][x] == b'.'
    }

    /// The shortest way, by breadth-first search: each place after the first.
    fn way(&self, from: Place, to: Place) -> VecDeque<Place> {
        // From its end, so that each place knows the next one.
        let mut next = BTreeMap::from([(to, to)]);
        let mut edge = VecDeque::from([to]);
        while let Some(place @ (x, y)) = edge.pop_front() {
            if place == from {
                break;
            }
            for neighbour in [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)] {
                if self.is_free(neighbour) && !next.contains_key(&neighbour) {
                    next.insert(neighbour, place);
                    edge.push_back(neighbour);
                }
            }
        }
        let mut way = VecDeque::new();
        let mut place = from;
        while let Some(&step) = next.get(&place) {
            if step == place {
                break;
            }
            way.push_back(step);
            place = step;
        }
        way
    }
}

struct FindWay {
    level: Arc<Level>,
    from: Place,
    to: Place,
    reply: Reply<VecDeque<Place>>,
}

// ------------------------------------------------------------------------------- in the frame

/// What all actors of the frame share.
#[derive(Default)]
struct World {
    frame: u32,
    level: Option<Arc<Level>>,
    places: BTreeMap<&'static str, Place>,
    /// What was asked for, by the frame in which it has to be there.
    awaited: Vec<u32>,
    happened: Vec<String>,
}

impl World {
    /// Something is to be there in that frame.
    fn expect_in(&mut self, frame: u32) {
        self.awaited.push(frame);
    }

    fn is_here(&mut self, frame: u32) {
        let index = self.awaited.iter().position(|due| *due == frame);
        self.awaited
            .swap_remove(index.expect("what comes was expected"));
    }

    fn lacks_something(&self) -> bool {
        self.awaited.iter().any(|due| *due <= self.frame)
    }
}

enum Order {
    /// Plan a way to that place when the frame of that number begins.
    Go(u32, Place),
    /// A frame has begun: one step.
    Step,
}

struct Unit {
    name: &'static str,
    world: Rc<RefCell<World>>,
    finder: Address<FindWay>,
    way: VecDeque<Place>,
    /// What is to be done from some frame on.
    orders: Vec<(u32, Place)>,
    ways: Vec<(u32, VecDeque<Place>)>,
}

impl Unit {
    fn ask_the_way(&mut self, to: Place, cx: &mut Context<Self>) {
        self.way.clear(); // stands still and thinks
        let mut world = self.world.borrow_mut();
        let Some(level) = world.level.clone() else {
            return;
        };
        let due = world.frame + LATENCY;
        world.expect_in(due);
        let from = world.places[self.name];
        let question = |reply| FindWay {
            level,
            from,
            to,
            reply,
        };
        // The pool searches; the answer is handled in the pump of some later frame.
        cx.ask(&self.finder, question, move |unit, way, _| {
            unit.world.borrow_mut().is_here(due);
            let way = way.expect("the pool finds ways as long as the game runs");
            unit.ways.push((due, way));
        });
    }

    fn step(&mut self, cx: &mut Context<Self>) {
        let frame = self.world.borrow().frame;
        if let Some((_, goal)) = self.orders.pop_if(|(due, _)| *due <= frame) {
            self.ask_the_way(goal, cx);
        }
        let mut world = self.world.borrow_mut();
        if let Some((_, way)) = self.ways.pop_if(|(due, _)| *due <= frame) {
            let text = format!("{} sets out, {} steps to go", self.name, way.len());
            world.happened.push(text);
            self.way = way;
        }
        if let Some(place) = self.way.pop_front() {
            world.places.insert(self.name, place);
            if self.way.is_empty() {
                let text = format!("{} arrives at {place:?}", self.name);
                world.happened.push(text);
            }
        }
    }
}

impl Actor for Unit {
    type Message = Order;

    fn handle(&mut self, order: Order, cx: &mut Context<Self>) {
        match order {
            Order::Go(frame, to) => self.orders.push((frame, to)),
            Order::Step => self.step(cx),
        }
    }
}

/// Sends everybody to a new place every 20 frames of game time.
struct Referee {
    world: Rc<RefCell<World>>,
    units: Vec<Address<Order>>,
    goals: VecDeque<Place>,
}

impl Referee {
    fn next_round(&mut self) {
        let mut world = self.world.borrow_mut();
        for unit in &self.units {
            if let Some(goal) = self.goals.pop_front() {
                unit.tell(Order::Go(world.frame + 1, goal))
                    .expect("units live as long as the frame");
            }
        }
        let left = self.goals.len();
        world.happened.push(format!("new goals, {left} left"));
    }
}

impl Actor for Referee {
    /// The level is there.
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        self.next_round();
        cx.every(Every::rate(20 * FRAME), |referee, _| referee.next_round());
    }
}

fn draw(world: &World) {
    let Some(level) = &world.level else {
        return;
    };
    let mut picture = level.0.clone();
    for (name, (x, y)) in &world.places {
        picture[*y][*x] = name.as_bytes()[0];
    }
    for row in picture {
        println!("    {}", String::from_utf8_lossy(&row));
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let loader = Worker::builder().name("loader").build()?;
    let pool = Pool::new();
    let finder =
        pool.spawn_fn(|find: FindWay, _| find.reply.send(find.level.way(find.from, find.to)));

    let time = Time::manual();
    let mut frame = Frame::with_time(time.clone());
    let world = Rc::new(RefCell::new(World::default()));

    let starts = [("Ada", (2, 1)), ("Ben", (8, 2)), ("Cleo", (21, 8))];
    let units = starts.map(|(name, place)| {
        world.borrow_mut().places.insert(name, place);
        frame.spawn(Unit {
            name,
            world: Rc::clone(&world),
            finder: finder.clone(),
            way: VecDeque::new(),
            orders: Vec::new(),
            ways: Vec::new(),
        })
    });
    let goals = [
        [(9, 7), (20, 4), (21, 4)],
        [(12, 2), (17, 6), (16, 2)],
        [(4, 5), (22, 1), (12, 8)],
    ];
    let referee = frame.spawn(Referee {
        world: Rc::clone(&world),
        units: units.to_vec(),
        goals: goals.into_iter().flatten().collect(),
    });

    // The worker unpacks the level; what follows is called here, by a pump.
    let unpack = loader.comm(|packed: &'static str| Arc::new(Level::unpack(packed)));
    world.borrow_mut().expect_in(LEVEL_IN_FRAME);
    let loaded = Rc::clone(&world);
    frame.call(&unpack, PACKED, move |level| {
        let mut world = loaded.borrow_mut();
        world.is_here(LEVEL_IN_FRAME);
        world.level = Some(level.expect("the level can be unpacked"));
    });

    for number in 1..=FRAMES {
        world.borrow_mut().frame = number;
        // Whatever timers ring in this frame, their actors have mail now.
        time.advance(FRAME);
        // What has come by itself. What does not fit into the budget comes a frame later ...
        frame.pump(Budget::time(MAIL));
        // ... unless it was agreed upon for this one.
        while world.borrow().lacks_something() {
            frame.wait(Duration::from_secs(1));
            frame.pump(Budget::unlimited());
        }

        if number == LEVEL_IN_FRAME {
            world
                .borrow_mut()
                .happened
                .push("the level is there".into());
            referee.tell(())?;
        }
        for unit in &units {
            unit.tell(Order::Step)?;
        }
        while frame.pump(Budget::unlimited()).left {}

        let mut happened = std::mem::take(&mut world.borrow_mut().happened);
        // Who has had mail before has an earlier turn; that is left to chance.
        happened.sort();
        for text in &happened {
            println!("frame {number:2}: {text}");
        }
        if number % 20 == 0 {
            draw(&world.borrow());
        }
    }
    // The worker and the pool end with the program; the frame's actors, when it is dropped.
    Ok(())
}
