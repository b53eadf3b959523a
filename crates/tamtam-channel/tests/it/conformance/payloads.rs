//! Messages of unusual kinds: of no size, large, overaligned, boxed closures, channels sent through themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tamtam_channel::{Receiver, Sender};

use crate::support::{Drops, Flavour, Token, for_every_flavour};

for_every_flavour!(
    messages_of_no_size,
    messages_of_no_size_are_dropped_once,
    large_messages,
    messages_aligned_to_64_bytes,
    messages_aligned_to_128_bytes,
    large_messages_do_not_overflow_a_small_stack,
    closures_are_run_by_the_receiver,
    a_channel_is_sent_through_itself,
    channels_of_channels,
    nested_options_and_references,
);

fn messages_of_no_size(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|_| sender.send(()).unwrap());
    assert_eq!(sender.len(), flavour.room());
    if flavour.capacity().is_some() {
        assert!(sender.try_send(()).unwrap_err().is_full());
    }
    assert_eq!(receiver.try_iter().count(), flavour.room());
    thread::scope(|scope| {
        scope.spawn(move || (0..5_000).for_each(|_| sender.send(()).unwrap()));
        assert_eq!(receiver.iter().count(), 5_000);
    });
}

fn messages_of_no_size_are_dropped_once(flavour: Flavour) {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::SeqCst);
        }
    }
    // The tests of the flavours run side by side and share the static: this one guards it.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    DROPS.store(0, Ordering::SeqCst);

    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|_| sender.send(Nothing).unwrap());
    let taken = receiver.try_iter().take(flavour.room() / 2).count();
    assert_eq!(DROPS.load(Ordering::SeqCst), taken);
    drop(sender);
    drop(receiver);
    assert_eq!(DROPS.load(Ordering::SeqCst), flavour.room());
}

fn large_messages(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..300_u64 {
                let mut message = [number; 512];
                message[511] = !number;
                sender.send(message).unwrap();
            }
        });
        for number in 0..300_u64 {
            let message = receiver.recv().unwrap();
            assert!(message[..511].iter().all(|word| *word == number));
            assert_eq!(message[511], !number);
        }
    });
}

fn large_messages_do_not_overflow_a_small_stack(flavour: Flavour) {
    /// A message as large as half of the stack of the thread that makes the channel.
    #[derive(Clone, Copy)]
    struct Huge(#[expect(dead_code)] [u8; 64 * 1024]);

    if flavour.room() == 100 {
        // A hundred of these are 6 MiB: the loop below is about one message, not about memory.
        return;
    }
    thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || {
            let (sender, receiver) = flavour.pair::<Huge>();
            if !flavour.is_rendezvous() {
                sender.send(Huge([1; 64 * 1024])).unwrap();
                assert!(receiver.recv().is_ok());
            }
            drop((sender, receiver));
        })
        .unwrap()
        .join()
        .unwrap();
}

/// Defines a message with an alignment and checks it on arrival.
macro_rules! aligned {
    ($name:ident, $align:literal) => {
        fn $name(flavour: Flavour) {
            #[repr(align($align))]
            struct Aligned(usize, Token);

            let drops = Drops::default();
            let (sender, receiver) = flavour.pair();
            let check = |message: &Aligned, number: usize| {
                assert_eq!(std::ptr::from_ref(message).addr() % $align, 0);
                assert_eq!((message.0, message.1.number), (number, number));
            };
            for number in 0..flavour.room() {
                sender
                    .send(Aligned(number, drops.numbered(number)))
                    .unwrap();
            }
            for number in 0..flavour.room() {
                check(&receiver.recv().unwrap(), number);
            }
            thread::scope(|scope| {
                let drops = &drops;
                scope.spawn(move || {
                    (0..500).for_each(|number| {
                        sender
                            .send(Aligned(number, drops.numbered(number)))
                            .unwrap()
                    });
                });
                for number in 0..500 {
                    check(&receiver.recv().unwrap(), number);
                }
            });
            assert_eq!(drops.count(), flavour.room() + 500);
        }
    };
}
aligned!(messages_aligned_to_64_bytes, 64);
aligned!(messages_aligned_to_128_bytes, 128);

fn closures_are_run_by_the_receiver(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<Box<dyn FnOnce() -> usize + Send>>();
    thread::scope(|scope| {
        let sum = scope.spawn(move || receiver.iter().map(|work| work()).sum::<usize>());
        for number in 0..100 {
            sender.send(Box::new(move || number)).unwrap();
        }
        drop(sender);
        assert_eq!(sum.join().unwrap(), 99 * 100 / 2);
    });
}

/// A message that carries an end of the channel on which it travels.
struct Traveller {
    sender: Sender<Traveller>,
    hops: usize,
}

fn a_channel_is_sent_through_itself(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<Traveller>();
    thread::scope(|scope| {
        let first = Traveller {
            sender: sender.clone(),
            hops: 0,
        };
        scope.spawn(move || sender.send(first).unwrap());
        // Each hop sends the only sender on; when the last one is dropped, the channel ends.
        while let Ok(traveller) = receiver.recv() {
            if traveller.hops < 50 {
                scope.spawn(move || {
                    let sender = traveller.sender.clone();
                    sender
                        .send(Traveller {
                            sender: traveller.sender,
                            hops: traveller.hops + 1,
                        })
                        .unwrap();
                });
            } else {
                assert_eq!(traveller.hops, 50);
            }
        }
    });

    // A receiver inside its own channel.
    struct Nest(#[expect(dead_code)] Receiver<Nest>);
    let (sender, receiver) = flavour.pair::<Nest>();
    let inner = receiver.clone();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(Nest(inner)).unwrap());
        assert!(receiver.recv().is_ok());
    });
}

fn channels_of_channels(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<(usize, Sender<usize>)>();
    thread::scope(|scope| {
        scope.spawn(move || {
            for (number, answer) in receiver {
                answer.send(number + 1).unwrap();
            }
        });
        for number in 0..100 {
            let (answer, answered) = flavour.pair();
            sender.send((number, answer)).unwrap();
            assert_eq!(answered.recv(), Ok(number + 1));
            assert!(answered.recv().is_err());
        }
        drop(sender);
    });
}

fn nested_options_and_references(flavour: Flavour) {
    let words = ["one", "two", "three"];
    let (sender, receiver) = flavour.pair::<Option<Option<&str>>>();
    thread::scope(|scope| {
        let words = &words;
        scope.spawn(move || {
            for word in words {
                sender.send(Some(Some(word))).unwrap();
            }
            sender.send(Some(None)).unwrap();
            sender.send(None).unwrap();
        });
        let received: Vec<_> = receiver.iter().collect();
        assert_eq!(
            received,
            [
                Some(Some("one")),
                Some(Some("two")),
                Some(Some("three")),
                Some(None),
                None
            ]
        );
    });
}
