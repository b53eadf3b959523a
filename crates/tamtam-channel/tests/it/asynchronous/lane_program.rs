//! Random programs as in `program`, for the ends that have one owner each. An end that a task has borrowed is lent until
//! the task is done or dropped, at whatever poll. Since everything runs by turns, it is known how many messages are in
//! each lane at any time, and so is whether a send must find room.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use tamtam_channel::mpsc::{self, LaneSender, Many, Receiver};
use tamtam_channel::spsc::{self, Single};
use tamtam_channel::{TryRecvError, TryReserveError, TrySendError};

use crate::asynchronous::hand::Hand;
use crate::asynchronous::ledger::{Ledger, Message};
use crate::support::{Random, within_limit};

/// Whether a sender can have another one beside it.
trait Kind: Sized + 'static {
    fn another(
        sender: &LaneSender<Message, Self>,
        weakly: bool,
    ) -> Option<LaneSender<Message, Self>>;
}

impl Kind for Single {
    fn another(_: &LaneSender<Message, Self>, _: bool) -> Option<LaneSender<Message, Self>> {
        None
    }
}

impl Kind for Many {
    fn another(
        sender: &LaneSender<Message, Self>,
        weakly: bool,
    ) -> Option<LaneSender<Message, Self>> {
        if weakly {
            let open = !sender.is_closed();
            let upgraded = sender.downgrade().upgrade();
            assert!(upgraded.is_some() || !open, "an open sender lives");
            upgraded
        } else {
            Some(sender.clone())
        }
    }
}

/// What is known of a lane.
#[derive(Default)]
struct Account {
    in_flight: Cell<usize>,
    last: Cell<Option<u64>>,
}

struct World {
    capacity: usize,
    ledger: RefCell<Ledger>,
    /// Which lane a message was made for.
    lanes: RefCell<Vec<Rc<Account>>>,
    /// The receiver has closed the channel, or is gone.
    closed: Cell<bool>,
}

impl World {
    fn message(&self, lane: &Rc<Account>) -> Message {
        self.lanes.borrow_mut().push(Rc::clone(lane));
        self.ledger.borrow_mut().message()
    }

    fn lane_of(&self, number: u64) -> Rc<Account> {
        Rc::clone(&self.lanes.borrow()[number as usize])
    }

    fn accept(&self, number: u64) {
        assert!(!self.closed.get(), "accepted after the end");
        let lane = self.lane_of(number);
        lane.in_flight.set(lane.in_flight.get() + 1);
        assert!(lane.in_flight.get() <= self.capacity, "more than fit");
        self.ledger.borrow_mut().accept(number);
    }

    fn refuse(&self, message: Message) {
        self.ledger.borrow_mut().refuse(message);
    }

    fn receive(&self, message: Message) {
        let lane = self.lane_of(message.number);
        lane.in_flight.set(lane.in_flight.get() - 1);
        assert!(lane.last.get() < Some(message.number), "out of order");
        lane.last.set(Some(message.number));
        self.ledger.borrow_mut().receive(message);
    }

    fn in_flight(&self) -> usize {
        let ledger = self.ledger.borrow();
        ledger.accepted.len() - ledger.received.len()
    }
}

struct Lane<K> {
    sender: RefCell<LaneSender<Message, K>>,
    account: Rc<Account>,
}

/// What a task waits for, if it does not end.
enum Wants<K> {
    Room(Rc<Lane<K>>),
    Messages,
}

struct Waiting<K> {
    hand: Hand,
    polled: bool,
    heard: usize,
    /// Tells the task to ask its message back.
    give_up: Rc<Cell<bool>>,
    wants: Wants<K>,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

impl<K> Waiting<K> {
    fn new(
        wants: Wants<K>,
        future: impl FnOnce(Rc<Cell<bool>>) -> Pin<Box<dyn Future<Output = ()>>>,
    ) -> Self {
        let give_up = Rc::new(Cell::new(false));
        Waiting {
            hand: Hand::new(),
            polled: false,
            heard: 0,
            wants,
            future: future(Rc::clone(&give_up)),
            give_up,
        }
    }

    fn was_woken(&self) -> bool {
        !self.polled || self.hand.wakes() > self.heard
    }

    /// Polls once; whether it has ended.
    fn poll(&mut self) -> bool {
        self.polled = true;
        self.heard = self.hand.wakes();
        self.hand.poll(&mut self.future).is_ready()
    }
}

/// Lets the others have a turn.
async fn pause() {
    let mut paused = false;
    poll_fn(|context| {
        if paused {
            return Poll::Ready(());
        }
        paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[expect(
    clippy::await_holding_refcell_ref,
    reason = "an end that a task has borrowed is lent, and whoever asks for it sees that"
)]
async fn send<K>(world: Rc<World>, lane: Rc<Lane<K>>, way: u64, give_up: Rc<Cell<bool>>) {
    let Ok(mut sender) = lane.sender.try_borrow_mut() else {
        return;
    };
    match way {
        // Room first; the message is made when there is some, or never.
        0..3 => {
            let Ok(permit) = sender.reserve_async().await else {
                return;
            };
            pause().await;
            if way == 0 {
                return;
            }
            let message = world.message(&lane.account);
            let number = message.number;
            match permit.send(message) {
                Ok(()) => world.accept(number),
                Err(error) => world.refuse(error.into_inner()),
            }
        }
        3..5 => {
            let mut sink = sender.sink();
            for _ in 0..3 {
                // What was kept is in the channel now.
                if let Err(error) = poll_fn(|context| sink.poll_ready(context)).await {
                    world.refuse(error.into_inner());
                    return;
                }
                let message = world.message(&lane.account);
                let number = message.number;
                if let Err(error) = sink.start_send(message) {
                    world.refuse(error.into_inner());
                    return;
                }
                match poll_fn(|context| sink.poll_flush(context)).await {
                    Ok(()) => world.accept(number),
                    Err(error) => {
                        world.refuse(error.into_inner());
                        return;
                    }
                }
            }
        }
        _ => {
            let message = world.message(&lane.account);
            let number = message.number;
            let mut future = sender.send_async(message);
            let sent = poll_fn(|context| {
                if give_up.get() {
                    return Poll::Ready(None);
                }
                Pin::new(&mut future).poll(context).map(Some)
            });
            match sent.await {
                Some(Ok(())) => world.accept(number),
                Some(Err(error)) => world.refuse(error.into_inner()),
                None => match future.into_inner() {
                    Some(message) => world.refuse(message),
                    None => world.accept(number),
                },
            }
        }
    }
}

#[expect(clippy::await_holding_refcell_ref, reason = "as above")]
async fn receive(world: Rc<World>, receiver: Rc<RefCell<Receiver<Message>>>, way: u64) {
    let Ok(mut receiver) = receiver.try_borrow_mut() else {
        return;
    };
    match way {
        0 => {
            let mut stream = receiver.stream();
            for _ in 0..4 {
                match poll_fn(|context| stream.poll_next(context)).await {
                    Some(message) => world.receive(message),
                    None => return,
                }
            }
        }
        1 => {
            for _ in 0..2 {
                match receiver.recv_async().await {
                    Ok(message) => world.receive(message),
                    Err(_) => return,
                }
                pause().await;
            }
        }
        _ => {
            if let Ok(message) = receiver.recv_async().await {
                world.receive(message);
            }
        }
    }
}

/// What an end does at once.
fn send_at_once<K>(world: &World, lane: &Lane<K>, random: &mut Random) {
    let Ok(sender) = lane.sender.try_borrow() else {
        return;
    };
    let closed = sender.is_closed();
    let room = world.capacity - lane.account.in_flight.get();
    match random.below(3) {
        0 => {
            let message = world.message(&lane.account);
            let number = message.number;
            match sender.try_send(message) {
                Ok(()) => {
                    assert!(room > 0 && !closed);
                    world.accept(number);
                }
                Err(error) => {
                    let full = matches!(error, TrySendError::Full(_));
                    assert!(closed || (full && room == 0), "there is room");
                    world.refuse(error.into_inner());
                }
            }
        }
        // So many that all of them fit.
        1 => {
            let many = room.min(random.below(4) as usize);
            let messages: Vec<_> = (0..many).map(|_| world.message(&lane.account)).collect();
            let numbers: Vec<_> = messages.iter().map(|message| message.number).collect();
            match sender.send_many(messages) {
                Ok(sent) => {
                    assert_eq!(sent, many);
                    numbers.into_iter().for_each(|number| world.accept(number));
                }
                Err(error) => {
                    assert!(closed && error.sent == 0);
                    error.unsent.into_iter().for_each(|back| world.refuse(back));
                }
            }
        }
        // Permits, and messages that pass by them.
        _ => {
            let mut permits = Vec::new();
            for _ in 0..random.below(4) {
                match sender.try_reserve() {
                    Ok(permit) => permits.push(permit),
                    Err(TryReserveError::Full) => {
                        assert!(permits.len() == room && !closed);
                        break;
                    }
                    Err(_) => assert!(closed),
                }
            }
            assert!(permits.len() <= room);
            for _ in 0..4 {
                if random.below(2) == 0 {
                    let message = world.message(&lane.account);
                    let number = message.number;
                    let room = world.capacity - lane.account.in_flight.get() - permits.len();
                    match sender.try_send(message) {
                        Ok(()) => {
                            assert!(room > 0);
                            world.accept(number);
                        }
                        Err(error) => {
                            assert!(room == 0 || closed);
                            world.refuse(error.into_inner());
                        }
                    }
                } else if let Some(permit) = permits.pop()
                    && random.below(3) > 0
                {
                    let message = world.message(&lane.account);
                    let number = message.number;
                    assert!(permit.send(message).is_ok(), "room was kept for it");
                    world.accept(number);
                }
            }
        }
    }
}

fn receive_at_once(world: &World, receiver: &RefCell<Receiver<Message>>, random: &mut Random) {
    let Ok(receiver) = receiver.try_borrow() else {
        return;
    };
    assert_eq!(receiver.len(), world.in_flight());
    match random.below(3) {
        0 => match receiver.try_recv() {
            Ok(message) => world.receive(message),
            Err(error) => {
                assert_eq!(world.in_flight(), 0, "it is there");
                assert_eq!(error == TryRecvError::Disconnected, receiver.is_closed());
            }
        },
        1 => {
            let mut buffer = Vec::new();
            let limit = 1 + random.below(5) as usize;
            let there = world.in_flight();
            match receiver.try_recv_many(&mut buffer, limit) {
                Ok(count) => assert_eq!((count, count), (buffer.len(), there.min(limit))),
                Err(_) => assert_eq!(there, 0),
            }
            buffer
                .into_iter()
                .for_each(|message| world.receive(message));
        }
        _ => {
            let some = random.below(4) as usize;
            let received: Vec<_> = receiver.drain().take(some).collect();
            received
                .into_iter()
                .for_each(|message| world.receive(message));
        }
    }
}

/// Polls those that were woken until nobody is.
fn settle<K>(waiting: &mut Vec<Waiting<K>>, random: &mut Random) {
    loop {
        let woken: Vec<_> = (0..waiting.len())
            .filter(|index| waiting[*index].was_woken())
            .collect();
        if woken.is_empty() {
            return;
        }
        let index = woken[random.below(woken.len() as u64) as usize];
        if waiting[index].poll() {
            waiting.swap_remove(index);
        }
    }
}

/// Nobody waits in vain.
fn check<K>(world: &World, waiting: &[Waiting<K>]) {
    for waits in waiting {
        match &waits.wants {
            Wants::Messages => assert_eq!(world.in_flight(), 0, "it waits for what is there"),
            Wants::Room(lane) => {
                assert_eq!(
                    lane.account.in_flight.get(),
                    world.capacity,
                    "there is room"
                );
                assert!(!world.closed.get(), "the receiver is gone");
            }
        }
    }
}

fn run<K: Kind>(
    seed: u64,
    steps: usize,
    (sender, receiver): (LaneSender<Message, K>, Receiver<Message>),
) {
    let mut random = Random::new(seed);
    let world = Rc::new(World {
        capacity: sender.capacity().unwrap_or(usize::MAX),
        ledger: RefCell::default(),
        lanes: RefCell::default(),
        closed: Cell::new(false),
    });
    let lane = |sender| {
        Rc::new(Lane {
            sender: RefCell::new(sender),
            account: Rc::default(),
        })
    };
    let mut lanes: Vec<Rc<Lane<K>>> = vec![lane(sender)];
    let mut receiver = Some(Rc::new(RefCell::new(receiver)));
    let mut waiting: Vec<Waiting<K>> = Vec::new();
    for _ in 0..steps {
        let some_lane = match lanes.len() as u64 {
            0 => None,
            count => Some(Rc::clone(&lanes[random.below(count) as usize])),
        };
        let way = random.below(8);
        match (random.below(20), some_lane) {
            (0..4, Some(lane)) => {
                // One that finds its end lent would wait for nothing.
                if lane.sender.try_borrow_mut().is_ok() {
                    let world = Rc::clone(&world);
                    let wants = Wants::Room(Rc::clone(&lane));
                    let mut waits = Waiting::new(wants, move |give_up| {
                        Box::pin(send(world, lane, way, give_up))
                    });
                    if !waits.poll() {
                        waiting.push(waits);
                    }
                }
            }
            (4..7, _) => {
                if let Some(receiver) = &receiver
                    && receiver.try_borrow_mut().is_ok()
                {
                    let (world, receiver) = (Rc::clone(&world), Rc::clone(receiver));
                    let mut waits = Waiting::new(Wants::Messages, move |_| {
                        Box::pin(receive(world, receiver, way))
                    });
                    if !waits.poll() {
                        waiting.push(waits);
                    }
                }
            }
            // A poll, with or without a cause.
            (7..11, _) => {
                if !waiting.is_empty() {
                    let index = random.below(waiting.len() as u64) as usize;
                    if waiting[index].poll() {
                        waiting.swap_remove(index);
                    }
                }
            }
            // Dropped at whatever poll it has come to, woken or not; or its message is asked back.
            (11..13, _) => {
                if !waiting.is_empty() {
                    let index = random.below(waiting.len() as u64) as usize;
                    if way < 4 {
                        waiting[index].give_up.set(true);
                        if waiting[index].poll() {
                            waiting.swap_remove(index);
                        }
                    } else {
                        drop(waiting.swap_remove(index));
                    }
                }
            }
            (13..15, Some(lane)) => send_at_once(&world, &lane, &mut random),
            (15..17, _) => {
                if let Some(receiver) = &receiver {
                    receive_at_once(&world, receiver, &mut random);
                }
            }
            (17, Some(some)) if lanes.len() < 4 => {
                let another = match some.sender.try_borrow() {
                    Ok(sender) if !sender.is_closed() => K::another(&sender, way < 4),
                    _ => None,
                };
                lanes.extend(another.map(lane));
            }
            (18, _) => match (random.below(30), &receiver) {
                (0..6, _) if lanes.len() > 1 => drop(lanes.swap_remove(0)),
                (6, _) if !lanes.is_empty() => drop(lanes.pop()),
                (7, _) => {
                    if let Some(lane) = lanes.first()
                        && let Ok(sender) = lane.sender.try_borrow_mut()
                    {
                        sender.close();
                    }
                }
                (8, Some(shared)) => {
                    if let Ok(receiver) = shared.try_borrow_mut() {
                        receiver.close();
                        world.closed.set(true);
                    }
                }
                (9, Some(shared)) if shared.try_borrow_mut().is_ok() => {
                    world.closed.set(true);
                    receiver = None;
                }
                _ => {}
            },
            _ => {
                settle(&mut waiting, &mut random);
                check(&world, &waiting);
            }
        }
    }
    settle(&mut waiting, &mut random);
    check(&world, &waiting);
    if let Some(receiver) = &receiver {
        // All that was accepted is received, to the last.
        waiting.retain(|waits| matches!(waits.wants, Wants::Room(_)));
        let receiver = receiver.borrow();
        while let Ok(message) = receiver.try_recv() {
            world.receive(message);
            settle(&mut waiting, &mut random);
        }
        assert!(waiting.is_empty(), "a sender was forgotten");
        assert_eq!(world.in_flight(), 0, "something was lost");
    }
    drop((waiting, lanes, receiver));
    world.ledger.borrow().check_fates();
}

fn programs<K: Kind>(
    name: &'static str,
    open: fn() -> (LaneSender<Message, K>, Receiver<Message>),
) {
    within_limit(move || {
        let (seeds, steps) = if cfg!(miri) { (6, 120) } else { (400, 300) };
        let first = std::env::var("TAMTAM_SEED").map_or(0, |seed| seed.parse().unwrap());
        for seed in first..first + seeds {
            let program = std::panic::AssertUnwindSafe(|| run(seed, steps, open()));
            if let Err(panic) = std::panic::catch_unwind(program) {
                eprintln!("{name} with TAMTAM_SEED={seed}");
                std::panic::resume_unwind(panic);
            }
        }
    });
}

#[test]
fn an_spsc_of_one_conserves() {
    programs("spsc of one", || spsc::bounded(1));
}

#[test]
fn an_spsc_of_three_conserves() {
    programs("spsc of three", || spsc::bounded(3));
}

#[test]
fn an_unbounded_spsc_conserves() {
    programs("unbounded spsc", spsc::unbounded);
}

#[test]
fn an_mpsc_of_one_conserves() {
    programs("mpsc of one", || mpsc::bounded(1));
}

#[test]
fn an_mpsc_of_three_conserves() {
    programs("mpsc of three", || mpsc::bounded(3));
}

#[test]
fn an_unbounded_mpsc_conserves() {
    programs("unbounded mpsc", mpsc::unbounded);
}
