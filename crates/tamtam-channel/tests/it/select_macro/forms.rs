//! Every way to write an arm.

use std::time::Instant;

use tamtam_channel::{
    RecvError, SendError, Sender, bounded, never, select, select_biased, unbounded,
};

use crate::select_macro::{FOREVER, SHORT, filled};

#[test]
fn recv_with_block_and_no_comma() {
    let (_sender, receiver) = filled(1);
    let silent = never::<i32>();
    select! {
        recv(receiver) -> message => { assert_eq!(message, Ok(1)); }
        recv(silent) -> _ => { unreachable!() }
    }
}

#[test]
fn recv_with_block_and_comma() {
    let (_sender, receiver) = filled(1);
    let silent = never::<i32>();
    select! {
        recv(silent) -> _ => { unreachable!() },
        recv(receiver) -> message => { assert_eq!(message, Ok(1)); },
    }
}

#[test]
fn recv_with_expression_and_no_last_comma() {
    let (_sender, receiver) = filled(1);
    let silent = never::<i32>();
    let value = select! {
        recv(silent) -> _ => 0,
        recv(receiver) -> message => message.unwrap() + 1
    };
    assert_eq!(value, 2);
}

#[test]
fn bodies_that_begin_with_a_block() {
    let (_sender, receiver) = filled(1);
    let silent = never::<i32>();
    let value = select! {
        recv(receiver) -> message => { message.unwrap() }.max(5),
        recv(silent) -> _ => { 0 }
        default => { 1 } + 1,
    };
    assert_eq!(value, 5);
}

#[test]
fn bodies_of_every_kind_of_expression() {
    let silent = never::<i32>();
    let text = |n: i32| match n {
        0 => select! {
            recv(silent) -> _ => if n == 0 { "a" } else { "b" },
            default => match n { 0 => "zero", _ => "other" },
        },
        _ => select! {
            recv(silent) -> _ => loop { if n > 0 { break "c" } },
            default => 'found: {
                if n > 1 { break 'found "more"; }
                "one"
            },
        },
    };
    assert_eq!([text(0), text(1), text(2)], ["zero", "one", "more"]);
}

#[test]
fn patterns() {
    let pair = || filled((1, 2));
    let silent = never::<()>();

    let (_sender, receiver) = pair();
    select! {
        recv(receiver) -> mut message => {
            message = message.map(|(a, b)| (a + 1, b));
            assert_eq!(message, Ok((2, 2)));
        }
        recv(silent) -> _ => unreachable!(),
    }
    let (_sender, receiver) = pair();
    select! {
        recv(receiver) -> ref message => assert_eq!(*message, Ok((1, 2))),
        recv(silent) -> _ => unreachable!(),
    }
    let (_sender, receiver) = pair();
    select! {
        recv(receiver) -> whole @ (Ok(_) | Err(_)) => assert_eq!(whole, Ok((1, 2))),
        recv(silent) -> (Ok(()) | Err(RecvError)) => unreachable!(),
    }
    let (_sender, receiver) = pair();
    select! {
        recv(receiver) -> _ => {}
        recv(silent) -> _ => unreachable!(),
    }
    assert!(receiver.is_empty(), "`_` receives too");
}

#[test]
fn send_and_its_result() {
    let (sender, receiver) = bounded(1);
    select! {
        send(sender, 1) -> result => assert_eq!(result, Ok(())),
        default => unreachable!(),
    }
    assert_eq!(receiver.recv(), Ok(1));
    drop(receiver);
    select! {
        send(sender, 2) -> result => assert_eq!(result, Err(SendError(2))),
        default(FOREVER) => unreachable!(),
    }
}

#[test]
fn commas_inside_the_arguments() {
    let (sender, receiver) = bounded(1);
    select! {
        send(sender, 1,) -> result => result.unwrap(),
        recv(receiver,) -> _ => unreachable!(),
        default(FOREVER,) => unreachable!(),
    }
    assert_eq!(receiver.len(), 1);
}

#[test]
fn default_stands_anywhere_in_every_form() {
    let a = never::<i32>();
    let b = never::<i32>();
    let first = select! { default => 1, recv(a) -> _ => 2, recv(b) -> _ => 3 };
    let middle = select! { recv(a) -> _ => 2, default() => { 1 } recv(b) -> _ => 3 };
    let last = select! { recv(a) -> _ => 2, recv(b) -> _ => 3, default(SHORT) => 1 };
    let lone = select! { default => 1 };
    let parenthesized = 1 + select!(recv(a) -> _ => 2, default => 0);
    assert_eq!([first, middle, last, lone, parenthesized], [1; 5]);
}

#[test]
fn a_lone_timeout_waits() {
    let start = Instant::now();
    select! { default(SHORT) => {} }
    assert!(start.elapsed() >= SHORT);
}

#[test]
fn biased_in_every_form() {
    let (sender, receiver) = bounded(1);
    let fill = |sender: &Sender<i32>| {
        select_biased! { send(sender, 1) -> result => result.is_ok(), default => false }
    };
    assert!(fill(&sender));
    assert!(!fill(&sender));
    let silent = never::<i32>();
    let value = select_biased! {
        recv(silent) -> _ => 0,
        recv(receiver) -> message => message.unwrap(),
        default(FOREVER) => 2
    };
    assert_eq!(value, 1);
    assert_eq!(select_biased! { default(SHORT) => 3 }, 3);
    assert_eq!(
        select_biased! { recv(filled(4).1) -> message => message },
        Ok(4)
    );
}

#[test]
fn by_path_and_with_all_brackets() {
    let (_sender, receiver) = filled(1);
    let silent = never::<()>();
    let value = tamtam_channel::select![recv(silent) -> _ => 0, default => 1];
    use tamtam_channel as crossbeam_channel;
    let other = crossbeam_channel::select!(recv(receiver) -> message => message.unwrap());
    assert_eq!((value, other), (1, 1));
}

mod one_arm {
    use super::*;

    #[test]
    fn recv() {
        let (sender, receiver) = filled(1);
        assert_eq!(select! { recv(receiver) -> message => message }, Ok(1));
        drop(sender);
        assert_eq!(
            select! { recv(receiver) -> message => message },
            Err(RecvError)
        );
    }

    #[test]
    fn recv_or_default() {
        let (sender, receiver) = filled(1);
        let look = || select! { recv(receiver) -> message => Some(message), default => None };
        assert_eq!(look(), Some(Ok(1)));
        assert_eq!(look(), None);
        drop(sender);
        assert_eq!(
            look(),
            Some(Err(RecvError)),
            "a disconnected channel is ready"
        );
    }

    #[test]
    fn recv_or_timeout() {
        let (sender, receiver) = filled(1);
        let look =
            || select! { recv(receiver) -> message => Some(message), default(SHORT) => None };
        assert_eq!(look(), Some(Ok(1)));
        let start = Instant::now();
        assert_eq!(look(), None);
        assert!(start.elapsed() >= SHORT);
        drop(sender);
        assert_eq!(look(), Some(Err(RecvError)));
    }

    #[test]
    fn send() {
        let (sender, receiver) = unbounded();
        select! { send(sender, 1) -> result => result.unwrap() }
        assert_eq!(receiver.recv(), Ok(1));
        drop(receiver);
        let refused = select! { send(sender, 2) -> result => result };
        assert_eq!(refused, Err(SendError(2)));
    }

    #[test]
    fn send_or_default_leaves_the_value_alone() {
        let (sender, _receiver) = bounded(0);
        let value = String::from("kept");
        let kept = select! { send(sender, value) -> _ => unreachable!(), default => value };
        let kept = select! { send(sender, kept) -> _ => unreachable!(), default(SHORT) => kept };
        assert_eq!(kept, "kept");
    }
}
