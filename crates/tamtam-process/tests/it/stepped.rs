//! Programs of several processes in one, run by a stepper: what is promised of processes holds in each order, deaths and cuts included.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Loss, Overflow, ProcessEnd, Refusal, Reply,
    Restart, Stepper, on_dead_letter,
};
use tamtam_process::{Process, Remote, SteppedProcess};

#[derive(Serialize, Deserialize)]
enum Note {
    /// Is passed on to the list, with how many there were before.
    Pass(u32),
    Read(Reply<u32>),
    Panic,
    Stop,
}

/// Passes numbers on to a list in another process.
struct Passing {
    list: Address<(u32, u32)>,
    passed: u32,
}

/// One that is sent the list first.
#[derive(Serialize, Deserialize)]
enum Start {
    List(Address<(u32, u32)>),
    Then(Note),
}

struct Started {
    passing: Option<Passing>,
}

impl Actor for Started {
    type Message = Start;

    fn handle(&mut self, message: Start, cx: &mut Context<Self>) {
        match (message, &mut self.passing) {
            (Start::List(list), _) => self.passing = Some(Passing { list, passed: 0 }),
            (Start::Then(Note::Stop), _) => cx.stop(),
            (Start::Then(Note::Pass(number)), Some(passing)) => {
                // The list may be gone.
                let _ = passing.list.tell((number, passing.passed));
                passing.passed += 1;
            }
            (Start::Then(Note::Read(reply)), passing) => {
                reply.send(passing.as_ref().map_or(0, |passing| passing.passed));
            }
            (Start::Then(Note::Panic), _) => panic!("on purpose"),
            // A new process does not know the list.
            (Start::Then(Note::Pass(_)), None) => {}
        }
    }
}

impl Remote for Started {
    type Config = String;
    const NAME: &'static str = "started";

    fn create(fails: String, _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        match fails.as_str() {
            "" => Ok(Started { passing: None }),
            _ => Err(fails.into()),
        }
    }
}

fn spawn(stepper: &Stepper) -> (Address<Start>, SteppedProcess) {
    Process::spawner()
        .name("stepped")
        .spawn_in::<Started>(stepper, String::new())
        .unwrap()
}

fn read(stepper: &Stepper, actor: &Address<Start>) -> Result<u32, AskError> {
    let question = actor.ask_async(|reply| Start::Then(Note::Read(reply)));
    stepper.advance(Duration::from_secs(2));
    stepper
        .wait_for(question)
        .expect("each question has an end")
}

/// Two processes pass numbers on to the program, and die at some steps. What the list got, and what was lost.
fn run(seed: u64, kills: &[u32]) -> (Vec<(u32, u32)>, Vec<Loss>, u32) {
    let stepper = Stepper::with_seed(seed);
    let list = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&list);
    let to_list = stepper.spawn_fn(move |pair: (u32, u32), _| written.lock().unwrap().push(pair));
    let processes = [spawn(&stepper), spawn(&stepper)];
    let ids = processes.each_ref().map(|(actor, _)| actor.id());
    let lost = Arc::new(Mutex::new(Vec::new()));
    let losses = Arc::clone(&lost);
    let _watch = on_dead_letter(move |letter| {
        if ids.contains(&letter.actor) {
            losses.lock().unwrap().push(letter.why);
        }
    });
    for (place, (actor, process)) in processes.iter().enumerate() {
        actor.tell(Start::List(to_list.clone())).unwrap();
        for number in 0..5 {
            let number = place as u32 * 100 + number;
            actor.tell(Start::Then(Note::Pass(number))).unwrap();
        }
        for steps in kills {
            process.kill_after(*steps);
        }
    }
    stepper.advance(Duration::from_secs(60));
    for (actor, _) in &processes {
        assert!(read(&stepper, actor).unwrap() <= 5);
    }
    let restarts = processes
        .iter()
        .map(|(_, process)| process.restarts())
        .sum();
    let (list, lost) = (list.lock().unwrap().clone(), lost.lock().unwrap().clone());
    (list, lost, restarts)
}

#[test]
fn processes_in_memory_do_as_processes_do() {
    for seed in 0..30 {
        let (list, lost, restarts) = run(seed, &[]);
        assert_eq!((list.len(), lost.len(), restarts), (10, 0, 0));
        for place in 0..2 {
            let own: Vec<_> = list
                .iter()
                .filter(|(number, _)| number / 100 == place)
                .collect();
            assert!((0..5).all(|at| *own[at as usize] == (place * 100 + at, at)));
        }
    }
}

#[test]
fn a_seed_repeats_a_run_with_its_deaths() {
    let mut runs = BTreeSet::new();
    for seed in 0..60 {
        let kills = [seed as u32 % 30, 7];
        let (list, lost, restarts) = run(seed, &kills);
        assert_eq!(
            run(seed, &kills),
            (list.clone(), lost.clone(), restarts),
            "seed {seed}"
        );
        // Each process died at one message at most each time, and the letters say so.
        assert!(
            restarts >= 2 && lost.len() as u32 <= restarts,
            "{lost:?}, {restarts}"
        );
        assert!(
            lost.iter()
                .all(|why| *why == Loss::ProcessEnded(ProcessEnd::Killed(9)))
        );
        // In order, and none twice.
        for place in 0..2 {
            let own = list
                .iter()
                .map(|pair| pair.0)
                .filter(|number| number / 100 == place);
            assert!(
                own.is_sorted_by(|one, next| one < next),
                "seed {seed}: {list:?}"
            );
        }
        runs.insert((list.len(), lost.len()));
    }
    assert!(runs.len() > 5, "{runs:?}");
}

#[test]
fn the_message_at_which_it_dies_is_lost_and_those_behind_it_are_not() {
    let stepper = Stepper::new();
    let (actor, process) = spawn(&stepper);
    let lost = Arc::new(Mutex::new(Vec::new()));
    let (losses, id) = (Arc::clone(&lost), actor.id());
    let _watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            losses
                .lock()
                .unwrap()
                .push((letter.why, letter.bytes.clone()));
        }
    });
    actor.tell(Start::Then(Note::Panic)).unwrap();
    assert_eq!(read(&stepper, &actor), Ok(0));
    assert_eq!(process.restarts(), 1);
    assert_eq!(
        *lost.lock().unwrap(),
        [(Loss::Panicked, Some([1, 2].into()))]
    );
}

#[test]
fn one_that_dies_too_often_is_given_up_in_the_time_of_the_stepper() {
    let stepper = Stepper::new();
    let spawner = Process::spawner().restart(Restart::on_panic().limit(3, Duration::from_secs(10)));
    let (actor, process) = spawner
        .spawn_in::<Started>(&stepper, "no paper".to_owned())
        .unwrap();
    let end = actor.end();
    stepper.advance(Duration::from_secs(60));
    match &end.wait().reason {
        EndReason::GaveUp { restarts, message } => {
            assert_eq!(*restarts, 3);
            assert!(message.contains("no paper"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(process.restarts(), 3);
}

#[test]
fn a_cut_and_a_stop_end_it_as_they_end_a_process() {
    let stepper = Stepper::new();
    let (actor, process) = spawn(&stepper);
    assert_eq!(read(&stepper, &actor), Ok(0));
    process.cut();
    assert_eq!(read(&stepper, &actor), Ok(0));
    assert_eq!(process.restarts(), 1);
    let question = actor.ask_async(|reply| Start::Then(Note::Read(reply)));
    stepper.step();
    process.kill();
    stepper.advance(Duration::from_secs(2));
    assert!(stepper.wait_for(question).is_some());
    actor.tell(Start::Then(Note::Stop)).unwrap();
    stepper.run();
    assert_eq!(actor.end().wait().reason, EndReason::Stopped);
    // By its last address.
    let (other, _) = spawn(&stepper);
    let end = other.end();
    drop(other);
    stepper.run();
    assert_eq!(end.wait().reason, EndReason::NoAddresses);
}

#[test]
fn a_full_one_gives_the_message_back() {
    let stepper = Stepper::new();
    let spawner = Process::spawner().limited(2, Overflow::Fail);
    let (actor, _) = spawner
        .spawn_in::<Started>(&stepper, String::new())
        .unwrap();
    let tell = || actor.tell(Start::Then(Note::Pass(0)));
    tell().unwrap();
    tell().unwrap();
    assert_eq!(tell().unwrap_err().why(), Refusal::Full);
    stepper.run();
    tell().unwrap();
}
