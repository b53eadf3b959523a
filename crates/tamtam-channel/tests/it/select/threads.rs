//! Selects on both sides and from many threads, on every flavour.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::{Flavour, for_every_flavour};
use tamtam_channel::Select;

for_every_flavour!(
    select_against_select,
    select_against_plain_operations,
    many_selects_on_one_channel,
);

fn select_against_select(flavour: Flavour) {
    // Two channels; one side selects between two sends, the other between two receives: every message meets once.
    let channels = [flavour.pair(), flavour.pair()];
    let count = 5_000;
    thread::scope(|scope| {
        let channels = &channels;
        for me in 0..2 {
            scope.spawn(move || {
                for number in 0..count {
                    let mut select = Select::new();
                    for (sender, _) in channels {
                        select.send(sender);
                    }
                    let selected = select.select();
                    let index = selected.index();
                    selected.send(&channels[index].0, (me, number)).unwrap();
                }
            });
        }
        let takers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut got = Vec::new();
                    let mut select = Select::new();
                    for (_, receiver) in channels {
                        select.recv(receiver);
                    }
                    for _ in 0..count {
                        let selected = select.select();
                        let index = selected.index();
                        got.push(selected.recv(&channels[index].1).unwrap());
                    }
                    got
                })
            })
            .collect();
        let mut got: Vec<_> = takers
            .into_iter()
            .flat_map(|taker| taker.join().unwrap())
            .collect();
        got.sort_unstable();
        assert!(
            got.into_iter()
                .eq((0..2).flat_map(|me| (0..count).map(move |number| (me, number))))
        );
    });
    assert!(
        channels
            .iter()
            .all(|(_, receiver)| receiver.try_recv().is_err())
    );
}

fn select_against_plain_operations(flavour: Flavour) {
    let channels = [flavour.pair(), flavour.pair(), flavour.pair()];
    let count = 2_000;
    thread::scope(|scope| {
        for (me, (sender, _)) in channels.iter().enumerate() {
            scope.spawn(move || (0..count).for_each(|number| sender.send((me, number)).unwrap()));
        }
        let mut next = [0; 3];
        let mut select = Select::new();
        for (_, receiver) in &channels {
            select.recv(receiver);
        }
        for _ in 0..3 * count {
            let selected = select.select();
            let index = selected.index();
            assert_eq!(selected.recv(&channels[index].1), Ok((index, next[index])));
            next[index] += 1;
        }
    });
    thread::scope(|scope| {
        for (_, receiver) in &channels {
            scope.spawn(move || (0..count).for_each(|_| _ = receiver.recv().unwrap()));
        }
        let mut sent = [0; 3];
        while sent.iter().sum::<usize>() < 3 * count {
            let mut select = Select::new();
            let open: Vec<usize> = (0..3).filter(|channel| sent[*channel] < count).collect();
            for channel in &open {
                select.send(&channels[*channel].0);
            }
            let selected = select.select();
            let channel = open[selected.index()];
            selected
                .send(&channels[channel].0, (channel, sent[channel]))
                .unwrap();
            sent[channel] += 1;
        }
    });
}

fn many_selects_on_one_channel(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let (_other_sender, other) = flavour.pair::<usize>();
    let got = AtomicUsize::new(0);
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                let mut select = Select::new();
                let index = select.recv(&receiver);
                select.recv(&other);
                loop {
                    let selected = select.select();
                    assert_eq!(selected.index(), index);
                    if selected.recv(&receiver).is_err() {
                        ended.fetch_add(1, Ordering::SeqCst);
                        break;
                    }
                    got.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        (0..1_000).for_each(|number| sender.send(number).unwrap());
        drop(sender);
    });
    assert_eq!((got.into_inner(), ended.into_inner()), (1_000, 32));
}
