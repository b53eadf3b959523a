//! Bodies are ordinary code of the place where they stand.

use std::error::Error;
use std::sync::Mutex;

use tamtam_channel::{
    Receiver, RecvError, SendError, Sender, bounded, never, select, select_biased, unbounded,
};

use crate::select_macro::{SHORT, closed, filled};

#[test]
fn move_the_same_variable() {
    let (sender, receiver) = bounded(0);
    let value = vec![1];
    let kept = select! {
        send(sender, value) -> _ => unreachable!(),
        recv(receiver) -> _ => value,
        default => value,
    };
    assert_eq!(kept, [1]);
}

#[test]
fn replace_and_drop_the_endpoints() {
    let mut receiver = closed::<u32>();
    let mut other = never::<u32>();
    select! {
        recv(receiver) -> message => {
            assert_eq!(message, Err(RecvError));
            receiver = never();
        }
        recv(other) -> _ => other = never(),
    }
    // Each form of the macro: several arms, with `default` or a timeout, and one arm alone.
    select! {
        recv(receiver) -> _ => { drop(receiver); unreachable!() },
        recv(other) -> _ => { drop(other); unreachable!() },
        default => {
            receiver = never();
            other = never();
        }
    }
    select! {
        recv(receiver) -> _ => { drop(receiver); unreachable!() },
        recv(other) -> _ => { drop(other); unreachable!() },
        default(SHORT) => drop((receiver, other)),
    }
    let (sender, mut receiver) = unbounded::<u32>();
    select! { recv(receiver) -> _ => { drop(receiver); unreachable!() } default => receiver = never() }
    select! { recv(receiver) -> _ => { drop(receiver); unreachable!() }, default(SHORT) => receiver = closed() }
    select! { recv(receiver) -> message => { assert!(message.is_err()); drop(receiver); } }
    select! { send(sender, 1) -> result => { assert!(result.is_err()); drop(sender); } }
}

#[test]
fn break_and_continue_the_loop_outside() {
    let (sender, receiver) = unbounded();
    let (stopper, stop) = unbounded();
    (0..10).for_each(|n| sender.send(n).unwrap());
    let mut even = 0;
    let result = 'outer: loop {
        for _ in 0..3 {
            select_biased! {
                recv(stop) -> _ => break 'outer even,
                recv(receiver) -> message => {
                    let n: i32 = message.unwrap();
                    if n == 9 {
                        stopper.send(()).unwrap();
                    }
                    if n % 2 == 1 {
                        continue 'outer;
                    }
                    if n == 100 {
                        break;
                    }
                }
            }
            even += 1;
        }
    };
    assert_eq!(result, 5);
}

#[test]
fn leave_from_within_the_arguments() {
    let silent = never::<i32>();
    let mut rounds = 0;
    loop {
        rounds += 1;
        select! {
            recv(if rounds < 3 { &silent } else { break }) -> _ => unreachable!(),
            recv(silent) -> _ => unreachable!(),
            default => continue,
        }
    }
    assert_eq!(rounds, 3);
}

#[test]
fn return_and_question_mark() {
    fn parse(
        numbers: &Receiver<i32>,
        words: &Receiver<&str>,
        answers: &Sender<i32>,
    ) -> Result<i32, Box<dyn Error>> {
        select! {
            recv(numbers) -> number => Ok(number?),
            recv(words) -> word => {
                let word = word?;
                if word.is_empty() {
                    return Ok(-1);
                }
                Ok(word.parse()?)
            }
            send(answers, 7) -> result => {
                result?;
                Ok(7)
            }
        }
    }
    let (full, _receiver) = bounded(0);
    let (numbers, words) = (never::<i32>(), never::<&str>());
    assert_eq!(parse(&filled(1).1, &words, &full).unwrap(), 1);
    assert_eq!(parse(&numbers, &filled("12").1, &full).unwrap(), 12);
    assert_eq!(parse(&numbers, &filled("").1, &full).unwrap(), -1);
    assert!(parse(&numbers, &filled("x").1, &full).is_err());
    assert!(
        parse(&closed(), &words, &full)
            .unwrap_err()
            .is::<RecvError>()
    );
    let (refusing, _) = bounded(0);
    assert!(
        parse(&numbers, &words, &refusing)
            .unwrap_err()
            .is::<SendError<i32>>()
    );
}

#[test]
#[expect(
    clippy::needless_return,
    reason = "an arm that never has a value is what is tested"
)]
fn diverge() {
    fn first(receiver: &Receiver<u8>) -> u8 {
        select! {
            recv(receiver) -> message => return message.unwrap(),
            default => panic!("nothing there"),
        }
    }
    assert_eq!(first(&filled(3).1), 3);
    assert!(std::panic::catch_unwind(|| first(&never())).is_err());
}

#[test]
fn coerce_to_the_expected_type() {
    let silent = never::<i32>();
    let make: Box<dyn Fn() -> i32> = select! {
        recv(silent) -> message => Box::new(move || message.unwrap()),
        recv(silent) -> _ => Box::new(|| 1),
        default => Box::new(|| 2),
    };
    assert_eq!(make(), 2);
}

#[test]
fn borrow_the_message_to_the_end() {
    let (_sender, receiver) = filled(Mutex::new(5));
    let silent = never::<i32>();
    let value = select! {
        recv(receiver) -> message => {
            let inner = message.as_ref().unwrap().lock().unwrap();
            *inner
        }
        recv(silent) -> _ => 0,
    };
    assert_eq!(value, 5);
}

#[test]
fn contain_further_selects() {
    let (_sender, outer) = filled(1);
    let (_other_sender, inner) = filled(10);
    let silent = never::<i32>();
    let sum = select! {
        recv(outer) -> message => select! {
            recv(inner) -> more => message.unwrap() + more.unwrap() + select! {
                recv(outer) -> _ => unreachable!(),
                recv(inner) -> _ => unreachable!(),
                default => 100,
            },
            recv(silent) -> _ => 0,
        },
        recv(silent) -> _ => 0,
    };
    assert_eq!(sum, 111);

    let (sender, receiver) = bounded(1);
    select! {
        send(sender, select! { recv(silent) -> _ => 0, default => 2 }) -> result => result.unwrap(),
        recv(silent) -> _ => unreachable!(),
    }
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn live_in_closures_generics_and_futures() {
    fn either<T: Send>(receiver: &Receiver<T>, sender: &Sender<T>, value: T) -> Option<T> {
        select! {
            recv(receiver) -> message => message.ok(),
            send(sender, value) -> result => result.err().map(SendError::into_inner),
        }
    }
    let (sender, receiver) = bounded(1);
    assert_eq!(either(&receiver, &sender, "a"), None);
    let mut count = 0;
    let mut drain = || {
        select! {
            recv(receiver) -> message => { count += 1; message.ok() }
            default => None
        }
    };
    assert_eq!((drain(), drain()), (Some("a"), None));
    assert_eq!(count, 1);

    let (_sender, receiver) = filled(1);
    let future = async move {
        select! {
            recv(receiver) -> message => std::future::ready(message).await.unwrap(),
            recv(never::<()>()) -> _ => std::future::ready(0).await,
        }
    };
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(
        future.as_mut().poll(&mut context),
        std::task::Poll::Ready(1)
    );
}

mod inference {
    use super::*;

    #[test]
    fn from_the_bodies() {
        let (sender, receiver) = bounded(1);
        let silent = never();
        select! {
            recv(receiver) -> message => { let _: Result<u8, RecvError> = message; unreachable!() }
            recv(silent) -> message => { let _: u16 = message.unwrap(); }
            send(sender, Default::default()) -> result => {
                let _: Result<(), SendError<u8>> = result;
            }
        }
        let silent = never();
        select! {
            recv(silent) -> message => { let _: u16 = message.unwrap(); }
            default => {}
        }
    }
}

mod hygiene {
    use super::*;

    #[test]
    fn plain_names_of_the_caller() {
        let (sel, r, (s, _unread)) = (1, filled(10).1, bounded::<i32>(0));
        let (index, operation, oper, select, endpoint, res, msg, chosen) = (2, 3, 4, 5, 6, 7, 8, 9);
        let sum = select! {
            recv(r) -> m => m.unwrap() + sel + index + operation + oper + select + endpoint + res + msg + chosen,
            send(s, sel) -> _ => index,
            default => operation,
        };
        assert_eq!(sum, 55);
    }

    macro_rules! first_of {
        ($a:expr, $b:expr) => {
            select! { recv($a) -> message => message, recv($b) -> message => message }
        };
    }

    macro_rules! poll {
        ($name:ident from $receiver:ident: $($arm:tt)*) => {
            select! { recv($receiver) -> $name => $($arm)* default => None }
        };
    }

    #[test]
    fn within_macros_of_the_caller() {
        let (_sender, receiver) = filled(1);
        let message = 5;
        assert_eq!(first_of!(receiver, never::<i32>()), Ok(1));
        assert_eq!(poll!(found from receiver: { found.ok() }), None);
        assert_eq!(message, 5);
    }
}
