//! A link on which nothing goes: what it costs both programs.

use std::fs::File;
use std::thread;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use tamtam_actor::Address;
use tamtam_link::{Link, carrier};
use tamtam_testing::processor_time_in_a_second;

use crate::kills::begin;
use crate::victim::{Does, Load, Role};

pub(crate) const TESTS: &[(&str, fn())] = &[(
    "idle::neither_side_of_an_idle_link_uses_a_processor",
    neither_side_of_an_idle_link_uses_a_processor,
)];

/// What each of them may use in a second: the promise.
const MOST_A_SECOND: Duration = Duration::from_millis(1);

fn neither_side_of_an_idle_link_uses_a_processor() {
    let role = Role {
        name: format!("tamtam-link-{}-idle", std::process::id()),
        listens: true,
        room: None,
        does: Does::Nothing,
    };
    let log = File::from(memfd_create("handled", MemfdFlags::empty()).unwrap());
    let (mut child, socket) = begin(&role, &log);
    let link = carrier::unix(Link::builder(), socket).unwrap();
    let far: Address<Load> = link.root();
    for number in 0..1_000 {
        far.tell(Load::Tell(number)).unwrap();
        assert_eq!(far.ask(|reply| Load::Ask(number, reply)), Ok(number));
    }
    // The promise begins 100 ms after the last message.
    thread::sleep(Duration::from_millis(100));
    let other = child.id().to_string();
    let [here, there] = processor_time_in_a_second(["self", &other]);
    println!("in a second this side uses {here:?}, the other one {there:?}");
    assert!(
        here < MOST_A_SECOND && there < MOST_A_SECOND,
        "{here:?} and {there:?}"
    );
    assert_eq!(far.ask(|reply| Load::Ask(7, reply)), Ok(7));
    child.kill().unwrap();
    child.wait().unwrap();
}
