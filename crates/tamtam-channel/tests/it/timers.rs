//! `after`, `at`, `tick` and `never`: receivers whose messages come from the clock, alone and in a select.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{LONG, SHORT, ms, until, within_limit};
use tamtam_channel::{
    Receiver, RecvTimeoutError, Select, TryRecvError, after, at, bounded, never, tick, unbounded,
};

/// The timer's message. A look without waiting comes first: on a loaded machine the timer may be due by then, and
/// what comes before it is due is an error.
fn look_then_receive(timer: &Receiver<Instant>, due: Instant) -> Instant {
    match timer.try_recv() {
        Ok(message) => {
            assert!(Instant::now() >= due, "too early");
            message
        }
        Err(error) => {
            assert_eq!(error, TryRecvError::Empty);
            timer.recv().unwrap()
        }
    }
}

#[test]
fn after_delivers_once_and_not_before_its_time() {
    within_limit(|| {
        let start = Instant::now();
        let timer = after(ms(40));
        let message = look_then_receive(&timer, start + ms(40));
        assert!(start.elapsed() >= ms(40));
        // The message is the moment at which it was due.
        assert!(message >= start + ms(40) && message <= Instant::now());
        assert_eq!(timer.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(timer.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    });
}

#[test]
fn after_zero_is_there_at_once() {
    let timer = after(Duration::ZERO);
    assert!(timer.try_recv().is_ok());
    assert_eq!(timer.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn after_counts_from_its_making_not_from_its_receiving() {
    within_limit(|| {
        let start = Instant::now();
        let timer = after(ms(30));
        let made = Instant::now();
        until(|| made.elapsed() > ms(60));
        let message = timer.try_recv().expect("due long ago");
        assert!(message >= start + ms(30));
        assert!(
            message <= made + ms(30),
            "the message states when it was due, not when it was received"
        );
    });
}

#[test]
fn an_after_of_ages_is_made_and_waits() {
    for duration in [
        Duration::MAX,
        Duration::from_secs(u64::MAX),
        Duration::from_secs(1 << 40),
    ] {
        let timer = after(duration);
        assert_eq!(timer.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(timer.recv_timeout(ms(2)), Err(RecvTimeoutError::Timeout));
    }
}

#[test]
fn at_delivers_exactly_its_instant() {
    within_limit(|| {
        let when = Instant::now() + ms(40);
        let timer = at(when);
        assert_eq!(look_then_receive(&timer, when), when);
        assert!(Instant::now() >= when);
        assert_eq!(timer.try_recv(), Err(TryRecvError::Empty));
    });
}

#[test]
fn at_in_the_past_is_there_at_once() {
    let when = Instant::now();
    let timer = at(when);
    assert_eq!(timer.try_recv(), Ok(when));
    let timer = at(when);
    assert_eq!(timer.recv_timeout(Duration::ZERO), Ok(when));
    assert_eq!(timer.recv_timeout(ms(5)), Err(RecvTimeoutError::Timeout));
}

#[test]
fn a_timer_and_its_clones_deliver_one_message_in_all() {
    within_limit(|| {
        for make in [|| after(ms(20)), || at(Instant::now() + ms(20))] {
            let timer: Receiver<Instant> = make();
            let got: usize = thread::scope(|scope| {
                let takers: Vec<_> = (0..8)
                    .map(|_| {
                        let timer = timer.clone();
                        scope.spawn(move || usize::from(timer.recv_timeout(ms(200)).is_ok()))
                    })
                    .collect();
                takers.into_iter().map(|taker| taker.join().unwrap()).sum()
            });
            assert_eq!(got, 1);
        }
    });
}

#[test]
fn len_and_its_questions_follow_the_clock() {
    within_limit(|| {
        for make in [
            || after(ms(30)),
            || at(Instant::now() + ms(30)),
            || tick(ms(30)),
        ] {
            let distant = [after(LONG), at(Instant::now() + LONG), tick(LONG)];
            for timer in distant {
                assert_eq!(
                    (timer.len(), timer.is_empty(), timer.is_full()),
                    (0, true, false)
                );
            }
            let timer: Receiver<Instant> = make();
            assert_eq!(timer.capacity(), Some(1));
            until(|| timer.len() == 1);
            assert!(!timer.is_empty());
            assert!(timer.is_full());
            assert!(timer.try_recv().is_ok());
        }
        let timer = after(Duration::ZERO);
        assert!(timer.recv().is_ok());
        assert_eq!(
            (timer.len(), timer.is_empty(), timer.is_full()),
            (0, true, false)
        );
    });
}

#[test]
fn recv_timeout_ends_at_whichever_comes_first() {
    within_limit(|| {
        let timer = after(LONG);
        let start = Instant::now();
        assert_eq!(timer.recv_timeout(ms(20)), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= ms(20));

        let start = Instant::now();
        let timer = after(ms(20));
        assert!(timer.recv_timeout(LONG).is_ok());
        assert!(start.elapsed() >= ms(20) && start.elapsed() < LONG);
        assert!(after(ms(5)).recv_deadline(Instant::now() + LONG).is_ok());
    });
}

#[test]
fn tick_delivers_again_and_again_on_its_grid() {
    within_limit(|| {
        let start = Instant::now();
        let ticker = tick(ms(10));
        let messages: Vec<Instant> = ticker.iter().take(5).collect();
        assert!(start.elapsed() >= ms(50));
        for (number, message) in messages.iter().enumerate() {
            assert!(*message >= start + ms(10) * (number as u32 + 1));
        }
        for pair in messages.windows(2) {
            assert!(
                pair[1] - pair[0] >= ms(10),
                "two ticks closer together than the interval"
            );
        }
    });
}

#[test]
fn missed_ticks_do_not_pile_up() {
    within_limit(|| {
        let start = Instant::now();
        let ticker = tick(ms(20));
        until(|| start.elapsed() > ms(90));
        // One waits in the channel, which holds one; the next comes an interval after this receive.
        let received = Instant::now();
        let first = ticker.try_recv().expect("one is there");
        assert!(first >= start + ms(20) && first <= received);
        assert!(ticker.is_empty() || received.elapsed() >= ms(20));
        let second = ticker.recv().unwrap();
        assert!(
            second >= received + ms(20),
            "the interval after a late receive was too short"
        );
    });
}

#[test]
fn ticks_are_shared_out_among_clones() {
    within_limit(|| {
        let start = Instant::now();
        let ticker = tick(ms(5));
        let mut all: Vec<Instant> = thread::scope(|scope| {
            let takers: Vec<_> = (0..4)
                .map(|_| {
                    let ticker = ticker.clone();
                    scope.spawn(move || ticker.iter().take(3).collect::<Vec<_>>())
                })
                .collect();
            takers
                .into_iter()
                .flat_map(|taker| taker.join().unwrap())
                .collect()
        });
        assert!(start.elapsed() >= ms(60));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 12, "a tick was delivered twice");
    });
}

#[test]
fn a_tick_of_ages_waits() {
    let ticker = tick(Duration::MAX);
    assert_eq!(ticker.recv_timeout(ms(2)), Err(RecvTimeoutError::Timeout));
    let ticker = tick(Duration::from_secs(1 << 40));
    assert_eq!(ticker.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn never_never_delivers() {
    let receiver = never::<u8>();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let start = Instant::now();
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert!(start.elapsed() >= SHORT);
    assert_eq!(
        receiver.recv_deadline(start),
        Err(RecvTimeoutError::Timeout)
    );
    assert_eq!(
        (receiver.len(), receiver.is_empty(), receiver.is_full()),
        (0, true, true)
    );
    assert_eq!(receiver.capacity(), Some(0));
    assert_eq!(receiver.try_iter().count(), 0);
}

#[test]
fn never_is_made_while_compiling() {
    static NEVER: Receiver<u8> = never();
    assert_eq!(NEVER.clone().try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn timers_know_their_own() {
    let (first, second) = (after(LONG), after(LONG));
    assert!(first.same_channel(&first.clone()) && !first.same_channel(&second));
    let when = Instant::now() + LONG;
    assert!(!at(when).same_channel(&at(when)));
    let (first, second) = (tick(LONG), tick(LONG));
    assert!(first.same_channel(&first.clone()) && !first.same_channel(&second));
    assert!(!first.same_channel(&after(LONG)));
    let (_sender, receiver) = bounded::<Instant>(1);
    assert!(!receiver.same_channel(&after(LONG)));
    assert!(!receiver.same_channel(&never()));
    let first = never::<u8>();
    assert!(first.same_channel(&first.clone()));
}

#[test]
fn timers_print_as_receivers() {
    for receiver in [after(LONG), at(Instant::now()), tick(LONG), never()] {
        assert_eq!(format!("{receiver:?}"), "Receiver { .. }");
    }
}

#[test]
fn a_timer_ends_a_select() {
    within_limit(|| {
        let (sender, receiver) = unbounded::<u8>();
        let start = Instant::now();
        let timer = after(ms(30));
        let mut select = Select::new();
        let channel = select.recv(&receiver);
        let alarm = select.recv(&timer);
        let selected = select.select();
        assert_ne!(selected.index(), channel);
        assert_eq!(selected.index(), alarm);
        assert!(selected.recv(&timer).unwrap() >= start + ms(30));
        assert!(start.elapsed() >= ms(30));
        assert!(select.try_select().is_err());
        assert!(select.select_timeout(ms(5)).is_err());
        drop(sender);
    });
}

#[test]
fn the_earliest_of_several_timers_is_selected() {
    within_limit(|| {
        let timers = [
            after(LONG),
            after(ms(20)),
            at(Instant::now() + LONG),
            tick(LONG),
            never(),
        ];
        let mut select = Select::new();
        for timer in &timers {
            select.recv(timer);
        }
        let selected = select.select();
        assert_eq!(selected.index(), 1);
        selected.recv(&timers[1]).unwrap();
    });
}

#[test]
fn a_due_timer_is_ready_and_a_message_beats_a_distant_one() {
    within_limit(|| {
        let timer = after(Duration::ZERO);
        let mut select = Select::new();
        let index = select.recv(&timer);
        assert_eq!(select.try_ready(), Ok(index));
        assert_eq!(select.ready(), index);
        select.try_select().unwrap().recv(&timer).unwrap();
        assert!(select.try_ready().is_err());

        let (sender, receiver) = bounded(0);
        let distant = after(LONG * 10);
        thread::scope(|scope| {
            scope.spawn(|| sender.send(3).unwrap());
            let mut select = Select::new();
            select.recv(&distant);
            let channel = select.recv(&receiver);
            let selected = select.select();
            assert_eq!(selected.index(), channel);
            assert_eq!(selected.recv(&receiver), Ok(3));
        });
    });
}

#[test]
fn a_ticker_in_a_loop_of_selects() {
    within_limit(|| {
        let start = Instant::now();
        let (ticker, end, (_sender, receiver)) = (tick(ms(5)), after(ms(100)), bounded::<u8>(0));
        let mut ticks = 0;
        loop {
            let mut select = Select::new();
            select.recv(&ticker);
            let end_index = select.recv(&end);
            select.recv(&receiver);
            let selected = select.select();
            match selected.index() {
                0 => {
                    selected.recv(&ticker).unwrap();
                    ticks += 1;
                }
                index => {
                    assert_eq!(index, end_index);
                    selected.recv(&end).unwrap();
                    break;
                }
            }
        }
        assert!(start.elapsed() >= ms(100));
        // Never more than the interval allows; on a loaded machine fewer, down to one that was there with the end.
        assert!(
            ticks <= (start.elapsed().as_millis() / 5) as usize,
            "{ticks} ticks"
        );
        assert!(ticks > 0 || ticker.try_recv().is_ok());
    });
}

#[test]
fn one_timer_selected_by_many_threads_goes_to_one() {
    within_limit(|| {
        for _ in 0..20 {
            let timer = after(ms(2));
            let got: usize = thread::scope(|scope| {
                let takers: Vec<_> = (0..6)
                    .map(|_| {
                        scope.spawn(|| {
                            let mut select = Select::new();
                            select.recv(&timer);
                            match select.select_timeout(ms(30)) {
                                Ok(selected) => usize::from(selected.recv(&timer).is_ok()),
                                Err(_) => 0,
                            }
                        })
                    })
                    .collect();
                takers.into_iter().map(|taker| taker.join().unwrap()).sum()
            });
            assert_eq!(got, 1);
        }
    });
}

#[test]
fn select_timeout_and_a_timer_end_at_whichever_comes_first() {
    within_limit(|| {
        let timer = after(LONG);
        let mut select = Select::new();
        select.recv(&timer);
        let start = Instant::now();
        assert!(select.select_timeout(ms(20)).is_err());
        assert!(select.ready_timeout(ms(20)).is_err());
        assert!(start.elapsed() >= ms(40));

        let soon = after(ms(20));
        let index = select.recv(&soon);
        assert_eq!(select.ready_timeout(LONG), Ok(index));
        let selected = select.select_timeout(LONG).unwrap();
        assert_eq!(selected.index(), index);
        selected.recv(&soon).unwrap();
    });
}
