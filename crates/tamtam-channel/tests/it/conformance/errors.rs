//! The error types: what they print, contain and convert into.

use std::error::Error;

use tamtam_channel::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError, bounded,
};

/// A message that can neither be printed nor compared nor cloned.
struct Opaque(u8);

fn is_copy_eq_debug<E: Copy + Eq + std::fmt::Debug + Send + Sync + 'static>(_: E) {}

#[test]
fn display() {
    assert_eq!(
        SendError(1).to_string(),
        "sending on a disconnected channel"
    );
    assert_eq!(
        TrySendError::Full(1).to_string(),
        "sending on a full channel"
    );
    assert_eq!(
        TrySendError::Disconnected(1).to_string(),
        "sending on a disconnected channel"
    );
    assert_eq!(
        SendTimeoutError::Timeout(1).to_string(),
        "timed out waiting on send operation"
    );
    assert_eq!(
        SendTimeoutError::Disconnected(1).to_string(),
        "sending on a disconnected channel"
    );
    assert_eq!(
        RecvError.to_string(),
        "receiving on an empty and disconnected channel"
    );
    assert_eq!(
        TryRecvError::Empty.to_string(),
        "receiving on an empty channel"
    );
    assert_eq!(
        TryRecvError::Disconnected.to_string(),
        "receiving on an empty and disconnected channel"
    );
    assert_eq!(
        RecvTimeoutError::Timeout.to_string(),
        "timed out waiting on receive operation"
    );
    assert_eq!(
        RecvTimeoutError::Disconnected.to_string(),
        "channel is empty and disconnected"
    );
    assert_eq!(
        TrySelectError.to_string(),
        "all operations in select would block"
    );
    assert_eq!(
        SelectTimeoutError.to_string(),
        "timed out waiting on select"
    );
}

#[test]
fn display_respects_width() {
    assert_eq!(
        format!("{:>35}|", SendError(1)),
        "  sending on a disconnected channel|"
    );
    assert_eq!(
        format!("{:<27}|", TrySendError::Full(Opaque(1))),
        "sending on a full channel  |"
    );
    assert_eq!(format!("{:.9}", RecvError), "receiving");
}

#[test]
fn debug_needs_nothing_of_the_message() {
    // Whether the text stands in quotation marks is left open.
    let debug = |error: &dyn std::fmt::Debug| format!("{error:?}").trim_matches('"').to_owned();
    assert_eq!(debug(&SendError(Opaque(1))), "SendError(..)");
    assert_eq!(debug(&TrySendError::Full(Opaque(1))), "Full(..)");
    assert_eq!(
        debug(&TrySendError::Disconnected(Opaque(1))),
        "Disconnected(..)"
    );
    assert_eq!(
        debug(&SendTimeoutError::Timeout(Opaque(1))),
        "SendTimeoutError(..)"
    );
    assert_eq!(
        debug(&SendTimeoutError::Disconnected(Opaque(1))),
        "SendTimeoutError(..)"
    );
    assert_eq!(format!("{RecvError:?}"), "RecvError");
    assert_eq!(format!("{:?}", TryRecvError::Empty), "Empty");
    assert_eq!(format!("{:?}", TryRecvError::Disconnected), "Disconnected");
    assert_eq!(format!("{:?}", RecvTimeoutError::Timeout), "Timeout");
    assert_eq!(
        format!("{:?}", RecvTimeoutError::Disconnected),
        "Disconnected"
    );
    assert_eq!(format!("{TrySelectError:?}"), "TrySelectError");
    assert_eq!(format!("{SelectTimeoutError:?}"), "SelectTimeoutError");
    assert_eq!(format!("{TryReadyError:?}"), "TryReadyError");
    assert_eq!(format!("{ReadyTimeoutError:?}"), "ReadyTimeoutError");
}

#[test]
fn the_message_comes_back() {
    assert_eq!(SendError(Opaque(3)).into_inner().0, 3);
    assert_eq!(SendError(Opaque(3)).0.0, 3);
    assert_eq!(TrySendError::Full(Opaque(4)).into_inner().0, 4);
    assert_eq!(TrySendError::Disconnected(Opaque(5)).into_inner().0, 5);
    assert_eq!(SendTimeoutError::Timeout(Opaque(6)).into_inner().0, 6);
    assert_eq!(SendTimeoutError::Disconnected(Opaque(7)).into_inner().0, 7);
}

#[test]
fn questions() {
    assert!(TrySendError::Full(1).is_full() && !TrySendError::Full(1).is_disconnected());
    assert!(
        TrySendError::Disconnected(1).is_disconnected() && !TrySendError::Disconnected(1).is_full()
    );
    assert!(
        SendTimeoutError::Timeout(1).is_timeout()
            && !SendTimeoutError::Timeout(1).is_disconnected()
    );
    assert!(
        SendTimeoutError::Disconnected(1).is_disconnected()
            && !SendTimeoutError::Disconnected(1).is_timeout()
    );
    assert!(TryRecvError::Empty.is_empty() && !TryRecvError::Empty.is_disconnected());
    assert!(TryRecvError::Disconnected.is_disconnected() && !TryRecvError::Disconnected.is_empty());
    assert!(RecvTimeoutError::Timeout.is_timeout() && !RecvTimeoutError::Timeout.is_disconnected());
    assert!(
        RecvTimeoutError::Disconnected.is_disconnected()
            && !RecvTimeoutError::Disconnected.is_timeout()
    );
}

#[test]
fn conversions() {
    assert_eq!(
        TrySendError::from(SendError(1)),
        TrySendError::Disconnected(1)
    );
    assert_eq!(
        SendTimeoutError::from(SendError(1)),
        SendTimeoutError::Disconnected(1)
    );
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
    assert_eq!(
        RecvTimeoutError::from(RecvError),
        RecvTimeoutError::Disconnected
    );
}

#[test]
fn copy_clone_and_equality() {
    is_copy_eq_debug(SendError(1));
    is_copy_eq_debug(TrySendError::Full(1));
    is_copy_eq_debug(SendTimeoutError::Timeout(1));
    is_copy_eq_debug(RecvError);
    is_copy_eq_debug(TryRecvError::Empty);
    is_copy_eq_debug(RecvTimeoutError::Timeout);
    is_copy_eq_debug(TrySelectError);
    is_copy_eq_debug(SelectTimeoutError);
    is_copy_eq_debug(TryReadyError);
    is_copy_eq_debug(ReadyTimeoutError);

    let text = TrySendError::Full(String::from("text"));
    assert_eq!(text.clone(), text);
    assert_ne!(TrySendError::Full(1), TrySendError::Full(2));
    assert_ne!(TrySendError::Full(1), TrySendError::Disconnected(1));
    assert_ne!(
        SendTimeoutError::Timeout(1),
        SendTimeoutError::Disconnected(1)
    );
    assert_ne!(SendError(1), SendError(2));
    assert_ne!(TryRecvError::Empty, TryRecvError::Disconnected);
    assert_ne!(RecvTimeoutError::Timeout, RecvTimeoutError::Disconnected);
}

#[test]
fn all_are_errors_that_the_question_mark_boxes() {
    fn send() -> Result<(), Box<dyn Error + Send + Sync>> {
        let (sender, receiver) = bounded(1);
        drop(receiver);
        sender.send(5)?;
        Ok(())
    }
    fn try_send() -> Result<(), Box<dyn Error + Send + Sync>> {
        let (sender, _receiver) = bounded(0);
        sender.try_send(5)?;
        Ok(())
    }
    fn receive() -> Result<u8, Box<dyn Error + Send + Sync>> {
        let (sender, receiver) = bounded(1);
        drop(sender);
        Ok(receiver.recv()?)
    }
    assert_eq!(
        send().unwrap_err().to_string(),
        "sending on a disconnected channel"
    );
    assert_eq!(
        try_send().unwrap_err().to_string(),
        "sending on a full channel"
    );
    assert_eq!(
        receive().unwrap_err().to_string(),
        "receiving on an empty and disconnected channel"
    );

    let all: Vec<Box<dyn Error + Send + Sync>> = vec![
        Box::new(SendError(1)),
        Box::new(TrySendError::Full(1)),
        Box::new(SendTimeoutError::Timeout(1)),
        Box::new(RecvError),
        Box::new(TryRecvError::Empty),
        Box::new(RecvTimeoutError::Timeout),
        Box::new(TrySelectError),
        Box::new(SelectTimeoutError),
    ];
    assert!(
        all.iter()
            .all(|error| error.source().is_none() && !error.to_string().is_empty())
    );

    // The message may lack Debug and Sync; Send is enough.
    fn is_error<E: Error>() {}
    is_error::<SendError<std::cell::Cell<Opaque>>>();
    is_error::<TrySendError<std::cell::Cell<Opaque>>>();
    is_error::<SendTimeoutError<std::cell::Cell<Opaque>>>();
}
