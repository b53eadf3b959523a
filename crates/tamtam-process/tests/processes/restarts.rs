//! What becomes of a process between its death and the next one, and after what there is a next one.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use tamtam_actor::{Address, EndReason, Pool, Reply, Restart};
use tamtam_process::{Process, ProcessHandle};

use crate::actors::{Count, Counter, Death};
use crate::memory::futures_block_on as block_on;
use crate::{LONG, until};

crate::tests! { "restarts":
    one_that_pauses_is_stopped_at_once
    one_that_pauses_ends_at_once_with_its_last_address
    one_that_pauses_has_what_it_was_sent_handled_before_it_ends
    one_that_stops_itself_is_begun_again_if_it_always_is
    an_address_of_a_process_that_has_died_is_none_of_the_next_one
    the_last_address_of_an_actor_that_goes_back_to_its_process_is_released_behind_the_message
}

fn the_last_address_of_an_actor_that_goes_back_to_its_process_is_released_behind_the_message() {
    let counter = Process::spawn::<Counter>(1).unwrap();
    let pool = Pool::with_threads(1);
    for is_busy in [false, true] {
        for _ in 0..20 {
            let before = counter.ask(Count::Read).unwrap();
            let adder = counter.ask(Count::Adder).unwrap();
            let (tell, told) = mpsc::channel();
            let asked = pool.spawn_fn(move |reply: Reply<u64>, _| tell.send(reply).unwrap());
            let busy = is_busy.then(|| counter.ask_async(|reply| Count::AskBack(asked, reply)));
            // While the process waits in a handler, what comes is kept there.
            let let_on = is_busy.then(|| told.recv().unwrap());
            let given_back = counter.ask_async(|reply| Count::TellOther(adder, 2, reply));
            if let (Some(let_on), Some(busy)) = (let_on, busy) {
                let_on.send(7);
                assert_eq!(block_on(busy), Ok(7));
            }
            assert_eq!(block_on(given_back), Ok(true), "busy: {is_busy}");
            assert_eq!(counter.ask(Count::Read), Ok(before + 2));
        }
    }
}

/// It was written into a message that the next one begins.
fn an_address_of_a_process_that_has_died_is_none_of_the_next_one() {
    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    let adder = counter.ask(Count::Adder).unwrap();
    adder.tell(5).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(6));
    let (tell, told) = mpsc::channel();
    let pool = Pool::with_threads(1);
    let hanging = pool.spawn_fn(move |number: u64, _| tell.send(number).unwrap());
    counter.tell(Count::Hang(hanging)).unwrap();
    told.recv().unwrap();
    let before = counter.ask_async(|reply| Count::TellOther(adder.clone(), 100, reply));
    let of_next = counter.ask_async(Count::Adder);
    let behind = counter.ask_async(|reply| Count::TellOther(adder.clone(), 200, reply));
    let sum = counter.ask_async(Count::Read);
    handle.kill();
    assert_eq!(block_on(before), Ok(false));
    let of_next = block_on(of_next).unwrap();
    assert_eq!(block_on(behind), Ok(false));
    assert_eq!(block_on(sum), Ok(1));
    assert_eq!(handle.restarts(), 1);
    // It has ended here, too, and the next one's has not.
    assert!(adder.tell(300).is_err());
    of_next.tell(7).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(8));
}

/// Of any reason, after so long.
fn paused(pause: Duration) -> Restart {
    Restart::on_panic().backoff(pause, 1.0, pause)
}

/// One that pauses for so long.
fn pausing(pause: Duration) -> (Address<Count>, ProcessHandle) {
    let spawner = Process::spawner().restart(paused(pause));
    let (counter, handle) = spawner.spawn_with_handle::<Counter>(1).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(1));
    handle.kill();
    until("it is dead", || {
        handle.pid().is_none() || handle.restarts() > 0
    });
    (counter, handle)
}

fn one_that_pauses_is_stopped_at_once() {
    for finishes in [false, true] {
        let (counter, handle) = pausing(2 * LONG);
        let begun = Instant::now();
        if finishes {
            counter.finish();
        } else {
            counter.tell(Count::Add(1)).unwrap();
            counter.stop();
        }
        let ended = counter.end().wait_timeout(LONG).expect("it is stopped");
        assert_eq!(ended.reason, EndReason::Stopped);
        assert!(begun.elapsed() < LONG);
        assert_eq!((handle.restarts(), handle.pid()), (0, None));
        assert!(counter.lost() >= u64::from(!finishes));
    }
}

fn one_that_pauses_ends_at_once_with_its_last_address() {
    let (counter, handle) = pausing(2 * LONG);
    let mut end = counter.end();
    drop(counter);
    let ended = end.wait_timeout(LONG).expect("it ends");
    assert_eq!(ended.reason, EndReason::NoAddresses);
    assert_eq!((handle.restarts(), handle.pid()), (0, None));
}

fn one_that_pauses_has_what_it_was_sent_handled_before_it_ends() {
    let (counter, handle) = pausing(Duration::from_millis(300));
    let answer = counter.ask_async(Count::Read);
    let end = counter.end();
    counter.finish();
    drop(counter);
    assert_eq!(block_on(answer), Ok(1));
    assert_eq!(end.wait().reason, EndReason::Stopped);
    assert_eq!(handle.restarts(), 1);
}

fn one_that_stops_itself_is_begun_again_if_it_always_is() {
    let always = Restart::always().no_limit();
    let spawner = Process::spawner().restart(always);
    let (counter, handle) = spawner.spawn_with_handle::<Counter>(1).unwrap();
    for restarts in 1..4 {
        counter.tell(Count::Add(1)).unwrap();
        counter.tell(Count::Stop).unwrap();
        // What is behind that is for the next one.
        counter.tell(Count::Add(5)).unwrap();
        assert_eq!(counter.ask(Count::Read), Ok(6));
        assert_eq!((handle.restarts(), counter.lost()), (restarts, 0));
    }
    // Through an address it is stopped for good.
    counter.stop();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
    assert_eq!(handle.restarts(), 3);

    let (counter, handle) = Process::spawner().spawn_with_handle::<Counter>(1).unwrap();
    counter.tell(Count::Die(Death::Abort)).unwrap();
    counter.tell(Count::Stop).unwrap();
    assert_eq!(counter.end().wait().reason, EndReason::Stopped);
    assert_eq!(
        handle.restarts(),
        1,
        "it is begun again after failures alone"
    );
}
