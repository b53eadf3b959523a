//! Which of several ready operations is taken: a random one, or with bias the first.

use std::thread;
use std::time::Instant;

use crate::support::{LONG, within_limit};
use tamtam_channel::{Select, bounded, never, unbounded};

#[test]
fn ready_arms_get_a_fair_share() {
    // Far enough from the mean that a fair coin fails this about never: 10,000 draws, 4 arms, 1,600 of 2,500 asked for.
    let channels: Vec<_> = (0..4).map(|_| unbounded()).collect();
    let draws = 10_000;
    for (sender, _) in &channels {
        (0..draws).for_each(|number| sender.send(number).unwrap());
    }
    for form in 0..4 {
        let mut share = [0; 4];
        for _ in 0..draws / 4 {
            let mut select = Select::new();
            for (_, receiver) in &channels {
                select.recv(receiver);
            }
            match form {
                0 => {
                    let selected = select.select();
                    let index = selected.index();
                    selected.recv(&channels[index].1).unwrap();
                    share[index] += 1;
                }
                1 => {
                    let selected = select.try_select().unwrap();
                    let index = selected.index();
                    selected.recv(&channels[index].1).unwrap();
                    share[index] += 1;
                }
                2 => share[select.try_ready().unwrap()] += 1,
                _ => share[select.ready()] += 1,
            }
        }
        assert!(
            share.iter().all(|share| *share >= draws / 16 * 6 / 10),
            "form {form}: {share:?}"
        );
    }
}

#[test]
fn a_ready_send_and_a_ready_receive_share_fairly() {
    let (sender, send_target) = unbounded();
    let (feed, receiver) = unbounded();
    (0..4_000).for_each(|number| feed.send(number).unwrap());
    let mut share = [0; 2];
    for number in 0..4_000 {
        let mut select = Select::new();
        select.send(&sender);
        select.recv(&receiver);
        let selected = select.select();
        let index = selected.index();
        share[index] += 1;
        if index == 0 {
            selected.send(&sender, number).unwrap();
        } else {
            selected.recv(&receiver).unwrap();
        }
    }
    assert!(share.iter().all(|share| *share >= 1_200), "{share:?}");
    assert_eq!(send_target.len(), share[0]);
}

/// Of two that are ready beside others that are not, each is chosen as often; also of one channel that stands there several times, for
/// which the select has to sleep.
#[test]
fn arms_that_are_never_ready_do_not_favour_their_neighbours() {
    const SELECTS: usize = 4_000;
    for others in [2, 6, 10] {
        let pairs: Vec<_> = (0..2).map(|_| unbounded()).collect();
        for (sender, _) in &pairs {
            (0..SELECTS).for_each(|number| sender.send(number).unwrap());
        }
        let nothing: Vec<_> = (0..others).map(|_| never::<usize>()).collect();
        let mut share = [0; 2];
        for _ in 0..SELECTS {
            let mut select = Select::new();
            for receiver in pairs.iter().map(|(_, receiver)| receiver).chain(&nothing) {
                select.recv(receiver);
            }
            let selected = select.select();
            let index = selected.index();
            selected.recv(&pairs[index].1).unwrap();
            share[index] += 1;
        }
        let fair = SELECTS * 2 / 5..=SELECTS * 3 / 5;
        assert!(fair.contains(&share[0]), "{share:?} beside {others}");
    }
}

/// More arms than lie inline, of which three neighbours are ready: made for each select, or kept.
#[test]
fn ready_arms_among_many_get_a_fair_share() {
    const SELECTS: usize = 6_000;
    let channels: Vec<_> = (0..24).map(|_| unbounded()).collect();
    for (sender, _) in &channels[20..23] {
        (0..2 * SELECTS).for_each(|number| sender.send(number).unwrap());
    }
    let of_all = || {
        let mut select = Select::new();
        for (_, receiver) in &channels {
            select.recv(receiver);
        }
        select
    };
    for is_kept in [false, true] {
        let mut share = [0; 3];
        let mut select = of_all();
        for _ in 0..SELECTS {
            if !is_kept {
                select = of_all();
            }
            let selected = select.select();
            let index = selected.index();
            selected.recv(&channels[index].1).unwrap();
            share[index - 20] += 1;
        }
        // Each is to have 2,000, with a deviation of 37.
        assert!(
            share.iter().all(|share| (1_700..2_300).contains(share)),
            "kept: {is_kept}, {share:?}"
        );
    }
}

#[test]
fn arms_of_one_channel_are_chosen_as_often_by_who_sleeps() {
    const SELECTS: usize = 1_000;
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let mut share = [0; 4];
        thread::scope(|scope| {
            scope.spawn(|| (0..SELECTS).for_each(|number| sender.send(number).unwrap()));
            for _ in 0..SELECTS {
                let mut select = Select::new();
                share.iter().for_each(|_| _ = select.recv(&receiver));
                let selected = select.select();
                share[selected.index()] += 1;
                selected.recv(&receiver).unwrap();
            }
        });
        let least = SELECTS / share.len() / 2;
        assert!(share.iter().all(|share| *share >= least), "{share:?}");
    });
}

#[test]
fn a_disconnected_arm_does_not_starve_the_others() {
    let (gone, disconnected) = unbounded::<u8>();
    drop(gone);
    let (sender, receiver) = unbounded();
    (0..1_000).for_each(|number| sender.send(number).unwrap());
    let mut received = 0;
    for _ in 0..1_000 {
        let mut select = Select::new();
        select.recv(&disconnected);
        select.recv(&receiver);
        let selected = select.select();
        if selected.index() == 0 {
            assert!(selected.recv(&disconnected).is_err());
        } else {
            selected.recv(&receiver).unwrap();
            received += 1;
        }
    }
    assert!((300..=700).contains(&received), "{received}");
}

#[test]
fn a_biased_select_takes_the_first_ready_one() {
    let channels: Vec<_> = (0..4).map(|_| unbounded()).collect();
    for (sender, _) in &channels {
        (0..50).for_each(|number| sender.send(number).unwrap());
    }
    let mut select = Select::new_biased();
    for (_, receiver) in &channels {
        select.recv(receiver);
    }
    for (index, (_, receiver)) in channels.iter().enumerate() {
        for number in 0..50 {
            let selected = match number % 4 {
                0 => select.select(),
                1 => select.try_select().unwrap(),
                2 => select.select_timeout(LONG).unwrap(),
                _ => {
                    assert_eq!(select.ready(), index);
                    assert_eq!(select.try_ready(), Ok(index));
                    select.select_deadline(Instant::now()).unwrap()
                }
            };
            assert_eq!(selected.index(), index);
            assert_eq!(selected.recv(receiver), Ok(number));
        }
    }
    assert!(select.try_select().is_err());
}

#[test]
fn a_biased_select_waits_like_any_other() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let nothing = never::<u8>();
        thread::scope(|scope| {
            scope.spawn(|| (0..100).for_each(|number| sender.send(number).unwrap()));
            let mut select = Select::new_biased();
            select.recv(&nothing);
            let index = select.recv(&receiver);
            for number in 0..100 {
                let selected = select.select();
                assert_eq!(selected.index(), index);
                assert_eq!(selected.recv(&receiver), Ok(number));
            }
        });
    });
}
