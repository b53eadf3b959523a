//! What arrives, what is not sent, and what is dropped.

use std::time::Duration;

use tamtam_actor::{Address, AskError, EndReason, ProcessEnd, Restart};
use tamtam_process::{Limits, Process};
use tracing::Level;

use crate::actors::{Tell, Teller};
use crate::subscriber::{event, heard, hold, wait_for, want};

pub(crate) const TESTS: &[(&str, fn())] = &[
    (
        "an_event_arrives_with_all_that_it_has",
        an_event_arrives_with_all_that_it_has,
    ),
    (
        "an_event_says_in_which_spans_it_was",
        an_event_says_in_which_spans_it_was,
    ),
    (
        "what_the_subscriber_does_not_want_is_not_made",
        what_the_subscriber_does_not_want_is_not_made,
    ),
    (
        "a_flood_keeps_no_handler_and_what_is_dropped_is_told",
        a_flood_keeps_no_handler_and_what_is_dropped_is_told,
    ),
    ("a_large_event_is_cut", a_large_event_is_cut),
    (
        "the_last_words_before_a_crash_arrive",
        the_last_words_before_a_crash_arrive,
    ),
    ("a_panic_is_an_event_too", a_panic_is_an_event_too),
    (
        "a_worker_of_a_worker_is_named",
        a_worker_of_a_worker_is_named,
    ),
    ("limits_let_events_pass", limits_let_events_pass),
    (
        "a_worker_without_shared_memory_is_told_of",
        a_worker_without_shared_memory_is_told_of,
    ),
];

fn teller(name: &str) -> Address<Tell> {
    Process::spawner().name(name).spawn::<Teller>(()).unwrap()
}

fn an_event_arrives_with_all_that_it_has() {
    let spawner = Process::spawner().name("all");
    let (teller, handle) = spawner.spawn_with_handle::<Teller>(()).unwrap();
    teller.tell(Tell::All).unwrap();
    let error = event("all", "an error");
    assert_eq!(
        (error.level, &*error.target),
        (Level::ERROR, "tracing::actors")
    );
    assert!(error.file.unwrap().ends_with("tests/tracing/actors.rs"));
    assert_eq!(error.fields["error"], "no paper");
    let told = event("all", "information");
    assert_eq!(
        (told.level, &*told.target),
        (Level::INFO, "teller::figures")
    );
    let pid = handle.pid().unwrap().to_string();
    let expected = [
        ("displayed", "plain"),
        ("float", "0.5"),
        ("message", "information"),
        ("pid", &pid),
        ("shown", "Some(1)"),
        ("signed", "-7"),
        ("text", "\"a \\\"text\\\"\""),
        ("truth", "true"),
        ("unsigned", "7"),
        ("worker", "\"all\""),
    ];
    let fields: Vec<_> = told
        .fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    assert_eq!(fields, expected);
    // In order, and only what is wanted.
    let heard = heard("all");
    let messages: Vec<_> = heard
        .iter()
        .map(|heard| &*heard.fields["message"])
        .collect();
    assert_eq!(
        messages,
        ["a teller is made", "information", "a warning", "an error"]
    );
}

fn an_event_says_in_which_spans_it_was() {
    let teller = teller("spans");
    teller.tell(Tell::InSpans).unwrap();
    let told = event("spans", "in spans");
    assert_eq!(told.fields["spans"], "job{number=7}{state=\"half\"}:step");
}

fn what_the_subscriber_does_not_want_is_not_made() {
    let teller = teller("quiet");
    assert_eq!(teller.ask(Tell::IsDebugWanted), Ok(false));
    // It is known also to a worker that is there already.
    for (levels, is_wanted) in [(5, true), (1, false), (4, true), (3, false)] {
        want(levels);
        let start = std::time::Instant::now();
        while teller.ask(Tell::IsDebugWanted) != Ok(is_wanted) {
            assert!(start.elapsed() < Duration::from_secs(30), "{levels} levels");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn a_flood_keeps_no_handler_and_what_is_dropped_is_told() {
    const EVENTS: u64 = 100_000;
    let teller = teller("flood");
    let other = Process::spawner()
        .name("other")
        .spawn::<Teller>(())
        .unwrap();
    event("flood", "a teller is made");
    hold(true);
    // The handler comes back, though nothing is read.
    let longest = teller.ask(|reply| Tell::Flood(EVENTS, reply));
    let pid = other.ask(Tell::Pid);
    hold(false);
    println!("the longest of {EVENTS} events took {longest:?} microseconds");
    assert!(longest.is_ok() && pid.is_ok(), "{longest:?}, {pid:?}");
    let (told, dropped) = wait_for("flood", |heard| {
        let told = heard
            .iter()
            .filter(|heard| heard.fields["message"] == "one of many");
        let told = told.count() as u64;
        let dropped = heard.iter().filter_map(|heard| heard.fields.get("events"));
        let dropped: u64 = dropped.map(|count| count.parse::<u64>().unwrap()).sum();
        (told + dropped == EVENTS).then_some((told, dropped))
    });
    println!("{told} were told, {dropped} were dropped");
    assert!(told > 1_000 && dropped > 1_000);
    let warning = heard("flood")
        .into_iter()
        .find(|heard| heard.fields.contains_key("events"));
    let warning = warning.unwrap();
    assert_eq!(
        (warning.level, &*warning.target),
        (Level::WARN, "tamtam::process")
    );
}

fn a_large_event_is_cut() {
    let teller = teller("large");
    teller.tell(Tell::Large).unwrap();
    let told = event("large", "large");
    let bytes: usize = told.fields.values().map(String::len).sum();
    assert!((8_000..64_000).contains(&bytes), "{bytes}");
}

fn the_last_words_before_a_crash_arrive() {
    let spawner = Process::spawner().name("crash").restart(Restart::never());
    let teller = spawner.spawn::<Teller>(()).unwrap();
    teller.tell(Tell::Abort).unwrap();
    let end = teller.end().wait().reason.clone();
    assert_eq!(end, EndReason::ProcessEnded(ProcessEnd::Killed(6)));
    event("crash", "the last words");
}

fn a_panic_is_an_event_too() {
    let teller = teller("panic");
    assert!(matches!(
        teller.ask(|_: tamtam_actor::Reply<()>| Tell::Panic),
        Err(AskError::Panicked(_) | AskError::Unanswered)
    ));
    let told = event("panic", "a thread of a worker has panicked");
    assert_eq!(
        (told.level, &*told.target),
        (Level::ERROR, "tamtam::process")
    );
    assert_eq!(told.fields["said"], "\"told as an event\"");
    assert_eq!(told.fields["thread"], "\"main\"");
    assert!(told.fields["place"].contains("tests/tracing/actors.rs:"));
}

fn a_worker_of_a_worker_is_named() {
    let teller = teller("above");
    let pid = teller
        .ask(|reply| Tell::Below("below".to_owned(), reply))
        .unwrap();
    let told = event("below", "a teller is made");
    assert_eq!(told.fields["pid"], pid.to_string());
}

fn limits_let_events_pass() {
    let spawner = Process::spawner().name("limits");
    let spawner = spawner.limits(Limits::new().untrusted().allow_less());
    let teller = spawner.spawn::<Teller>(()).unwrap();
    teller.tell(Tell::All).unwrap();
    event("limits", "an error");
}

fn a_worker_without_shared_memory_is_told_of() {
    // A worker that makes no file as large as the memory, and that lives on when it tries to, has one.
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\""]);
    limited.arg(std::env::current_exe().unwrap());
    let spawner = Process::from(limited).name("limited in files");
    let teller = spawner.spawn::<Teller>(()).unwrap();
    let below = |reply| Tell::Below("over its socket".to_owned(), reply);
    let pid = teller.ask(below).unwrap();
    let message = "the messages of a worker go over its socket, which takes longer: there is no shared memory";
    let told = event("over its socket", message);
    assert_eq!(
        (told.level, &*told.target),
        (Level::WARN, "tamtam::process")
    );
    assert_eq!(told.fields["pid"], pid.to_string());
    assert!(told.fields["reason"].contains("File too large"), "{told:?}");
    // What has shared memory is no reason for words.
    let said = |heard: &crate::subscriber::Heard| heard.fields["message"] == message;
    assert!(!heard("limited in files").iter().any(said));
}
