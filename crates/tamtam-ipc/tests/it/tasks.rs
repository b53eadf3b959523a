//! Waiting for other processes as tasks.

use std::future::Future;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tamtam_channel::RecvError;
use tamtam_ipc::{Event, Property, Receiver, Sender, Slot, bytes_channel, channel};

use crate::other::{Other, half};

const MESSAGES: u64 = 3_000;

/// Sends back what comes, by a channel that comes as the first number.
fn echo(memory: std::os::fd::OwnedFd) {
    let receiver = Receiver::<u64>::attach(memory).unwrap();
    let back = crate::other::further(receiver.recv().unwrap() as u32);
    let sender = Sender::<u64>::attach(back).unwrap();
    for message in receiver.iter() {
        sender.send(message).unwrap();
    }
}

/// A channel there, one back, and the process between them.
fn echoed(path: &str) -> (Sender<u64>, Receiver<u64>, Other) {
    use std::os::fd::AsRawFd;
    let (sender, receiver) = channel::<u64>(4).unwrap();
    let memory = receiver.hand_over().unwrap();
    let other = Other::start(path, "echo", memory.as_fd());
    let (back, answers) = channel::<u64>(4).unwrap();
    let number = back.memory().as_raw_fd().cast_unsigned();
    sender.send(u64::from(number)).unwrap();
    sender.send(0).unwrap();
    // The other process has its sender from here on.
    assert_eq!(answers.recv(), Ok(0));
    drop(back);
    (sender, answers, other)
}

async fn send_all(sender: Sender<u64>) {
    for number in 0..MESSAGES {
        sender.send_async(number).await.unwrap();
    }
}

async fn receive_all(mut answers: Receiver<u64>) {
    for number in 0..MESSAGES {
        assert_eq!(answers.recv_async().await, Ok(number));
    }
    assert_eq!(answers.recv_async().await, Err(RecvError));
}

#[test]
fn tasks_of_tokio_send_and_receive() {
    const PATH: &str = "tasks::tasks_of_tokio_send_and_receive";
    if let Some(memory) = half("echo") {
        return echo(memory);
    }
    let (sender, answers, other) = echoed(PATH);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let sending = runtime.spawn(send_all(sender));
    let receiving = runtime.spawn(receive_all(answers));
    runtime.block_on(async {
        sending.await.unwrap();
        receiving.await.unwrap();
    });
    other.ends_well();
}

/// The last sender is killed, and a task that waits is told.
#[test]
fn a_killed_process_ends_the_wait_of_a_task() {
    const PATH: &str = "tasks::a_killed_process_ends_the_wait_of_a_task";
    if let Some(memory) = half("victim") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        sender.send(1).unwrap();
        loop {
            std::thread::park();
        }
    }
    let mut told = Vec::new();
    for _ in 0..5 {
        let (sender, mut receiver) = channel::<u64>(4).unwrap();
        let mut other = Other::start(PATH, "victim", sender.memory());
        drop((block_on(receiver.recv_async()), sender));
        std::thread::scope(|threads| {
            let killing = threads.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                let killed = Instant::now();
                other.kill();
                killed
            });
            assert_eq!(block_on(receiver.recv_async()), Err(RecvError));
            let now = Instant::now();
            told.push(now - killing.join().unwrap());
        });
    }
    println!("told after {told:?}");
    assert!(told.iter().min() < Some(&Duration::from_millis(500)));
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Futures that are dropped, before and after what they wait for has come, have taken and sent nothing.
#[test]
fn what_is_cancelled_takes_and_sends_nothing() {
    let (sender, mut receiver) = channel::<u64>(1).unwrap();
    for number in 0..100 {
        let mut receiving = receiver.recv_async();
        assert!(poll(&mut receiving).is_pending());
        sender.send(number).unwrap();
        let mut sending = sender.send_async(1000);
        assert!(poll(&mut sending).is_pending());
        drop(receiving);
        assert_eq!(receiver.try_recv(), Ok(number));
        drop(sending);
        assert!(receiver.is_empty());
    }
    let turn = Event::auto().unwrap();
    let mut waiting = turn.wait_async();
    assert!(poll(&mut waiting).is_pending());
    turn.set();
    drop(waiting);
    assert!(turn.try_wait());
    let slot = Slot::<u64>::create().unwrap();
    let mut taking = slot.take_async();
    assert!(poll(&mut taking).is_pending());
    slot.put(1);
    let mut putting = slot.put_async(2);
    assert!(poll(&mut putting).is_pending());
    drop((taking, putting));
    assert_eq!((slot.try_take(), slot.try_take()), (Some(1), None));
}

/// A manual event lets a task pass that has waited when it was set, also if it is reset at once.
#[test]
fn a_task_passes_an_event_that_was_reset_since() {
    let event = Event::manual().unwrap();
    let mut waiting = event.wait_async();
    assert!(poll(&mut waiting).is_pending());
    event.set();
    event.reset();
    assert!(poll(&mut waiting).is_ready());
    assert!(poll(&mut event.wait_async()).is_pending());
}

/// Two processes hand values to and fro by slots, properties and events, each verb as a task.
#[test]
fn values_go_to_and_fro_between_tasks_of_two_processes() {
    const PATH: &str = "tasks::values_go_to_and_fro_between_tasks_of_two_processes";
    const ROUNDS: u64 = 500;
    if let Some(memory) = half("other") {
        let slot = Slot::<[u32; 2]>::attach(memory).unwrap();
        let [property, turn] = slot.take().map(crate::other::further);
        let property = Property::<u64>::attach(property).unwrap();
        let turn = Event::attach(turn).unwrap();
        return block_on(async {
            for round in 1..=ROUNDS {
                assert_eq!(slot.take_async().await, [round as u32, 0]);
                property.set(round);
                turn.wait_async().await;
            }
        });
    }
    use std::os::fd::AsRawFd;
    let slot = Slot::<[u32; 2]>::create().unwrap();
    let property = Property::create(0_u64).unwrap();
    let turn = Event::auto().unwrap();
    let other = Other::start(PATH, "other", slot.memory());
    let numbers = [property.memory(), turn.memory()];
    slot.put(numbers.map(|memory| memory.as_raw_fd().cast_unsigned()));
    block_on(async {
        for round in 1..=ROUNDS {
            slot.put_async([round as u32, 0]).await;
            assert_eq!(property.wait_changed_async(round - 1).await, round);
            assert_eq!(property.get(), round);
            turn.set();
        }
    });
    other.ends_well();
}

#[test]
fn bytes_come_to_a_task() {
    let (sender, mut receiver) = bytes_channel(1, 10).unwrap();
    let mut buffer = Vec::new();
    let send = async {
        for message in [b"one", b"two", b"tre"] {
            sender.send_async(message).await.unwrap();
        }
        assert!(sender.send_async(&[0; 11]).await.is_err());
        drop(sender);
    };
    let receive = async {
        for message in [b"one", b"two", b"tre"] {
            assert_eq!(receiver.recv_bytes_async(&mut buffer).await, Ok(3));
            assert_eq!(buffer, message);
        }
        assert_eq!(receiver.recv_bytes_async(&mut buffer).await, Err(RecvError));
    };
    std::thread::scope(|threads| {
        threads.spawn(|| block_on(receive));
        block_on(send);
    });
}

#[cfg(feature = "serde")]
#[test]
fn encoded_messages_come_to_a_task() {
    use tamtam_ipc::{EncodedRecvError, EncodedSendError, encoded_channel};

    const MESSAGES: u64 = 1_000;
    let (sender, mut receiver) = encoded_channel::<Vec<u64>>(2, 20).unwrap();
    let send = async {
        for number in 0..MESSAGES {
            sender.send_async(vec![number; 3]).await.unwrap();
        }
        let long = sender.send_async(vec![0; 30]).await.unwrap_err();
        assert!(matches!(long, EncodedSendError::TooLarge { bytes: 31, .. }));
        assert_eq!(long.into_inner(), [0; 30]);
        drop(sender);
    };
    let receive = async {
        for number in 0..MESSAGES {
            assert_eq!(receiver.recv_async().await.unwrap(), [number; 3]);
        }
        let end = receiver.recv_async().await;
        assert_eq!(end, Err(EncodedRecvError::Refused(RecvError)));
        receiver
    };
    std::thread::scope(|threads| {
        threads.spawn(|| block_on(send));
        drop(block_on(receive));
    });
}

/// What is sent to nobody, also while it waits for room, comes back; a future that is dropped has sent and taken nothing.
#[cfg(feature = "serde")]
#[test]
fn an_encoded_message_that_is_not_sent_comes_back() {
    use tamtam_ipc::encoded_channel;

    let (sender, mut receiver) = encoded_channel::<String>(1, 20).unwrap();
    assert!(poll(&mut receiver.recv_async()).is_pending());
    block_on(sender.send_async("first".to_owned())).unwrap();
    {
        let mut waiting = sender.send_async("dropped".to_owned());
        assert!(poll(&mut waiting).is_pending());
    }
    let mut waiting = sender.send_async("second".to_owned());
    assert!(poll(&mut waiting).is_pending());
    assert_eq!(block_on(receiver.recv_async()).unwrap(), "first");
    block_on(waiting).unwrap();
    let waiting = sender.send_async("third".to_owned());
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| block_on(waiting));
        drop(receiver);
        let error = waiting.join().unwrap().unwrap_err();
        assert_eq!(error.into_inner(), "third");
    });
}
