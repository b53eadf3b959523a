//! A process that has nothing to do, and its parent: what they use of a processor.

use std::time::Duration;

use tamtam_process::{Process, is_primordial};
use tamtam_testing::processor_time_in_a_second;

use crate::actors::{Count, Counter, this_program};

crate::tests! { "idle":
    neither_an_idle_process_nor_its_parent_uses_a_processor
}

const LOOKS: &str = "TAMTAM_TEST_IDLE";

/// What each of them may use in a second: the promise.
const MOST_A_SECOND: Duration = Duration::from_millis(1);

fn neither_an_idle_process_nor_its_parent_uses_a_processor() {
    // Alone, since others have work to do.
    let output = this_program().env(LOOKS, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(said.contains("both are idle"), "{output:?}");
}

/// What the program does that looks at itself and at its worker, if this is that.
pub(crate) fn look_if_asked() {
    if std::env::var_os(LOOKS).is_none() || !is_primordial() {
        return;
    }
    let counter = Process::spawn::<Counter>(0).unwrap();
    let worker = counter.ask(Count::Pid).unwrap().to_string();
    for number in 0..1_000 {
        counter.tell(Count::Add(1)).unwrap();
        assert_eq!(counter.ask(Count::Read), Ok(number + 1));
    }
    // The promise begins 100 ms after the last message.
    std::thread::sleep(Duration::from_millis(100));
    let [worker, parent] = processor_time_in_a_second([&worker, "self"]);
    println!("in a second the worker uses {worker:?}, its parent {parent:?}");
    assert!(worker < MOST_A_SECOND && parent < MOST_A_SECOND);
    assert_eq!(counter.ask(Count::Read), Ok(1_000));
    println!("both are idle");
    std::process::exit(0);
}
