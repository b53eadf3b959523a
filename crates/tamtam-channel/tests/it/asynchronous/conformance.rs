//! The verbs of channels on every flavour and every executor: awaiting alone, and beside threads that block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use futures::executor::block_on;
use tamtam_channel::{Select, TryRecvError};

use crate::asynchronous::executor::{Executor, Task, task};
use crate::asynchronous::hand::Hand;
use crate::support::{Drops, Flavour, LONG, for_every_flavour};

for_every_flavour!(
    messages_arrive_in_order,
    many_tasks_share_the_messages,
    tasks_send_and_a_thread_receives,
    a_thread_sends_and_tasks_receive,
    threads_and_tasks_wait_in_one_line_on_both_sides,
    a_select_meets_tasks,
    pending_receives_end_with_the_last_sender,
    pending_sends_end_with_the_last_receiver,
    what_was_sent_before_the_end_is_received,
    every_message_is_dropped_once,
    two_tasks_take_strict_turns,
);

fn messages_arrive_in_order(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let sends = task(async move {
            for number in 0..500 {
                sender.send_async(number).await.unwrap();
            }
        });
        let receives = task(async move {
            for number in 0..500 {
                assert_eq!(receiver.recv_async().await, Ok(number));
            }
            assert!(receiver.recv_async().await.is_err());
        });
        executor.run(vec![sends, receives]);
    }
}

/// Four tasks send, three receive; each receiver sees each sender's messages in order.
fn many_tasks_share_the_messages(flavour: Flavour) {
    const EACH: usize = 200;
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let received = Arc::new(Mutex::new(vec![0; 4 * EACH]));
        let mut tasks: Vec<Task> = (0..4)
            .map(|me| {
                let sender = sender.clone();
                task(async move {
                    for number in 0..EACH {
                        sender.send_async((me, number)).await.unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..3 {
            let (receiver, received) = (receiver.clone(), Arc::clone(&received));
            tasks.push(task(async move {
                let mut last = [None; 4];
                while let Ok((from, number)) = receiver.recv_async().await {
                    assert!(last[from] < Some(number));
                    last[from] = Some(number);
                    received.lock().unwrap()[from * EACH + number] += 1;
                }
            }));
        }
        drop((sender, receiver));
        executor.run(tasks);
        assert!(
            received.lock().unwrap().iter().all(|count| *count == 1),
            "{executor:?}"
        );
    }
}

fn tasks_send_and_a_thread_receives(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let thread = thread::spawn(move || receiver.iter().sum::<usize>());
        let tasks = (0..3)
            .map(|_| {
                let sender = sender.clone();
                task(async move {
                    for number in 0..300 {
                        sender.send_async(number).await.unwrap();
                    }
                })
            })
            .collect();
        drop(sender);
        executor.run(tasks);
        assert_eq!(thread.join().unwrap(), 3 * 299 * 300 / 2);
    }
}

fn a_thread_sends_and_tasks_receive(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let thread = thread::spawn(move || (0..900).for_each(|n| sender.send(n).unwrap()));
        let sum = Arc::new(AtomicUsize::new(0));
        let tasks = (0..3)
            .map(|_| {
                let (receiver, sum) = (receiver.clone(), Arc::clone(&sum));
                task(async move {
                    while let Ok(number) = receiver.recv_async().await {
                        sum.fetch_add(number, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        executor.run(tasks);
        thread.join().unwrap();
        assert_eq!(sum.load(Ordering::Relaxed), 899 * 900 / 2);
    }
}

fn threads_and_tasks_wait_in_one_line_on_both_sides(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let count = Arc::new(AtomicUsize::new(0));
        let sending = [(); 2].map(|()| {
            let sender = sender.clone();
            thread::spawn(move || (0..200).for_each(|_| sender.send_timeout((), LONG).unwrap()))
        });
        let receiving = [(); 2].map(|()| {
            let (receiver, count) = (receiver.clone(), Arc::clone(&count));
            thread::spawn(move || {
                while receiver.recv().is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        let mut tasks = Vec::new();
        for _ in 0..2 {
            let sender = sender.clone();
            tasks.push(task(async move {
                for _ in 0..200 {
                    sender.send_async(()).await.unwrap();
                }
            }));
            let (receiver, count) = (receiver.clone(), Arc::clone(&count));
            tasks.push(task(async move {
                while receiver.recv_async().await.is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        drop((sender, receiver));
        executor.run(tasks);
        for thread in sending.into_iter().chain(receiving) {
            thread.join().unwrap();
        }
        assert_eq!(count.load(Ordering::Relaxed), 800, "{executor:?}");
    }
}

fn a_select_meets_tasks(flavour: Flavour) {
    for executor in Executor::ALL {
        let ((ask, asked), (answer, answered)) = (flavour.pair(), flavour.pair());
        let selects = thread::spawn(move || {
            for _ in 0..200 {
                let mut select = Select::new();
                select.recv(&asked);
                let number: usize = select.select().recv(&asked).unwrap();
                let mut select = Select::new();
                select.send(&answer);
                select.select().send(&answer, number + 1).unwrap();
            }
        });
        executor.run_one(async move {
            for number in 0..200 {
                ask.send_async(number).await.unwrap();
                assert_eq!(answered.recv_async().await, Ok(number + 1));
            }
        });
        selects.join().unwrap();
    }
}

fn pending_receives_end_with_the_last_sender(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair::<u8>();
        let mut tasks: Vec<Task> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                task(async move { assert!(receiver.recv_async().await.is_err()) })
            })
            .collect();
        tasks.push(task(async move {
            let second = sender.clone();
            drop(sender);
            drop(second);
        }));
        executor.run(tasks);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

fn pending_sends_end_with_the_last_receiver(flavour: Flavour) {
    if flavour == Flavour::Unbounded {
        return;
    }
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        for number in 0..flavour.room() {
            sender.send(number).unwrap();
        }
        let mut tasks: Vec<Task> = (1_000..1_003)
            .map(|number| {
                let sender = sender.clone();
                task(async move {
                    let error = sender.send_async(number).await.unwrap_err();
                    assert_eq!(error.into_inner(), number);
                })
            })
            .collect();
        tasks.push(task(async move { drop(receiver) }));
        executor.run(tasks);
    }
}

fn what_was_sent_before_the_end_is_received(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let sends = task(async move {
            for number in 0..3 {
                sender.send_async(number).await.unwrap();
            }
        });
        let receives = task(async move {
            for number in 0..3 {
                assert_eq!(receiver.recv_async().await, Ok(number));
            }
            for _ in 0..3 {
                assert!(receiver.recv_async().await.is_err());
            }
        });
        executor.run(vec![sends, receives]);
    }
}

fn every_message_is_dropped_once(flavour: Flavour) {
    for executor in Executor::ALL {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        let made = drops.clone();
        let sends = task(async move {
            for _ in 0..100 {
                let _ = sender.send_async(made.token()).await;
            }
        });
        let receives = task(async move {
            for _ in 0..50 {
                receiver.recv_async().await.unwrap();
            }
        });
        executor.run(vec![sends, receives]);
        assert_eq!(drops.count(), 100, "{executor:?}");
    }
}

fn two_tasks_take_strict_turns(flavour: Flavour) {
    for executor in Executor::ALL {
        let ((ask, asked), (answer, answered)) = (flavour.pair(), flavour.pair());
        let server = task(async move {
            while let Ok(number) = asked.recv_async().await {
                if answer.send_async(number + 1).await.is_err() {
                    break;
                }
            }
        });
        let client = task(async move {
            for number in 0..500 {
                ask.send_async(number).await.unwrap();
                assert_eq!(answered.recv_async().await, Ok(number + 1));
            }
        });
        executor.run(vec![server, client]);
    }
}

/// Threads and tasks are served in the order in which they came.
#[test]
fn a_task_does_not_overtake_a_thread_that_came_first() {
    for flavour in [Flavour::Bounded(3), Flavour::Unbounded] {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        thread::scope(|scope| {
            let (tell, told) = std::sync::mpsc::channel();
            let receiver = &receiver;
            let blocked = scope.spawn(move || {
                tell.send(crate::support::thread_number()).unwrap();
                receiver.recv()
            });
            crate::support::until_asleep(&[told.recv().unwrap()]);
            let mut future = receiver.recv_async();
            hand.pends(&mut future);
            sender.send(1).unwrap();
            assert_eq!(blocked.join().unwrap(), Ok(1));
            assert_eq!(hand.wakes(), 0, "{flavour:?}");
            sender.send(2).unwrap();
            assert_eq!(hand.wakes(), 1);
            assert_eq!(hand.ready(&mut future), Ok(2));
        });
    }
}

/// A blocking verb in a task and an awaiting one under `block_on` are the same to the other side.
#[test]
fn blocking_verbs_work_inside_of_a_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let (sender, receiver) = Flavour::Bounded(1).pair();
    let handle = runtime.spawn(async move {
        for number in 0..100 {
            sender.send_timeout(number, LONG).unwrap();
        }
    });
    for number in 0..100 {
        assert_eq!(block_on(receiver.recv_async()), Ok(number));
    }
    runtime.block_on(handle).unwrap();
}
