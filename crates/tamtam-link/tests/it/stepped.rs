//! Several programs in one process, whose frames a stepper carries: the same seed gives the same run, cuts included.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tamtam_actor::{Address, AskError, Reply, Stepper};
use tamtam_link::{Link, carrier};

use crate::suite::messages::{Count, Counter};

/// Three programs in a triangle: two tell a third one, which passes on to one of them. What was handled, in order.
fn run(stepper: &Stepper, cut: Option<u32>) -> (Vec<String>, Vec<Result<u64, AskError>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let log = Arc::clone(&log);
        move |text: String| log.lock().unwrap().push(format!("{name}: {text}"))
    };
    let last = note("last");
    let last = stepper.spawn_fn(move |text: String, _| last(text));
    let to_last = carrier::stepped(stepper, Link::builder(), Link::builder().root(&last));
    let (middle, on) = (note("middle"), to_last.one().root::<String>());
    let middle = stepper.spawn_fn(move |text: String, _| {
        middle(text.clone());
        let _ = on.tell(text);
    });
    let links: Vec<_> = (0..2)
        .map(|_| carrier::stepped(stepper, Link::builder(), Link::builder().root(&middle)))
        .collect();
    for (number, link) in links.iter().enumerate() {
        let to_middle: Address<String> = link.one().root();
        for message in 0..3 {
            to_middle.tell(format!("{number}.{message}")).unwrap();
        }
    }
    let counter = stepper.spawn(Counter::default());
    let to_counter = carrier::stepped(stepper, Link::builder(), Link::builder().root(&counter));
    let far: Address<Count> = to_counter.one().root();
    let answers = Arc::new(Mutex::new(Vec::new()));
    for number in 1..=3 {
        far.tell(Count::Add(number)).unwrap();
        let answers = Arc::clone(&answers);
        let reply = Reply::to(move |answer| answers.lock().unwrap().push(answer));
        far.tell(Count::Read(reply)).unwrap();
    }
    if let Some(steps) = cut {
        to_counter.cut_after(steps);
    }
    stepper.run();
    drop(far);
    stepper.run();
    let answers = answers.lock().unwrap().clone();
    let log = log.lock().unwrap().clone();
    (log, answers)
}

#[test]
fn the_same_seed_gives_the_same_run_and_others_give_others() {
    let mut seen = BTreeSet::new();
    for seed in 0..50 {
        let (log, answers) = run(&Stepper::with_seed(seed), None);
        assert_eq!(answers, [Ok(1), Ok(3), Ok(6)]);
        assert_eq!(log.len(), 12);
        for number in 0..2 {
            for name in ["middle", "last"] {
                // The messages of one sender arrive in its order.
                let of = format!("{name}: {number}.");
                let own: Vec<_> = log
                    .iter()
                    .filter_map(|line| line.strip_prefix(&of))
                    .collect();
                assert_eq!(own, ["0", "1", "2"]);
            }
        }
        assert_eq!(run(&Stepper::with_seed(seed), None).0, log);
        seen.insert(log);
    }
    assert!(seen.len() > 20, "{} of 50 runs differ", seen.len());
}

#[test]
fn a_cut_comes_at_some_step_and_each_question_has_its_fate() {
    let mut fates = BTreeSet::new();
    for seed in 0..200 {
        let cut = Some(seed as u32 % 40);
        let (_, answers) = run(&Stepper::with_seed(seed), cut);
        assert_eq!(run(&Stepper::with_seed(seed), cut).1, answers);
        assert_eq!(answers.len(), 3);
        let mut answered = 0;
        for (place, answer) in answers.iter().enumerate() {
            match answer {
                Ok(number) => {
                    assert_eq!(*number, [1, 3, 6][place]);
                    answered += 1;
                }
                Err(AskError::Unreachable(failure)) => {
                    assert!(failure.text().contains("it was cut"), "{failure:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        fates.insert(answered);
    }
    assert_eq!(fates, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn each_order_of_frames_and_turns_can_be_tried() {
    let mut seen = BTreeSet::new();
    let explored = Stepper::explore(500, |stepper| {
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        let list = stepper.spawn_fn(move |name: char, _| written.lock().unwrap().push(name));
        let links = ['a', 'b'].map(|name| {
            let root = Link::builder().root(&list);
            let link = carrier::stepped(stepper, Link::builder(), root);
            let far: Address<char> = link.one().root();
            (name, link, far)
        });
        stepper.run();
        for (name, _, far) in &links {
            far.tell(*name).unwrap();
        }
        // No further: what comes behind has too many orders.
        while log.lock().unwrap().len() < 2 {
            assert!(stepper.step());
        }
        seen.insert(log.lock().unwrap().clone());
    });
    assert_eq!(seen, BTreeSet::from(["ab".to_owned(), "ba".to_owned()]));
    assert_eq!(explored.runs, 500);
}
