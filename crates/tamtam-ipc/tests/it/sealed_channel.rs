//! A channel of sealed bytes between two processes.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};
use tamtam_channel::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use tamtam_ipc::{
    AttachError, SealedBytes, SealedReceiver, SealedRecvError, SealedSender, SharedBytes,
    sealed_channel,
};

use crate::other::{Other, half};

const SOON: Duration = Duration::from_millis(5);

fn number(of: u32) -> SealedBytes {
    SealedBytes::copy_of(&of.to_le_bytes()).unwrap()
}

#[test]
fn another_process_sends_in_order_until_it_dies() {
    const PATH: &str = "sealed_channel::another_process_sends_in_order_until_it_dies";
    const MESSAGES: u32 = 1_000;
    if let Some(socket) = half("sends") {
        let sender = SealedSender::attach(socket).unwrap();
        for message in 0..MESSAGES {
            // More than the socket keeps: it waits.
            sender.send(number(message)).unwrap();
        }
        loop {
            std::thread::park();
        }
    }
    let (sender, receiver) = sealed_channel().unwrap();
    let mut other = Other::start(PATH, "sends", sender.socket());
    drop(sender);
    for message in 0..MESSAGES {
        let bytes = receiver.recv().unwrap();
        assert_eq!(*bytes, message.to_le_bytes());
        // Not even this process, nor the one that has made it.
        assert_eq!(rustix::io::write(bytes.memory(), b"x"), Err(Errno::PERM));
    }
    let empty = receiver.try_recv().unwrap_err();
    assert!(matches!(
        empty,
        SealedRecvError::Refused(TryRecvError::Empty)
    ));
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| receiver.recv());
        other.kill();
        let ended = waiting.join().unwrap().unwrap_err();
        assert!(matches!(ended, SealedRecvError::Refused(_)), "{ended}");
    });
}

#[test]
fn the_death_of_the_receiver_gives_messages_back() {
    const PATH: &str = "sealed_channel::the_death_of_the_receiver_gives_messages_back";
    if let Some(socket) = half("receives") {
        let receiver = SealedReceiver::attach(socket).unwrap();
        assert_eq!(*receiver.recv().unwrap(), 0_u32.to_le_bytes());
        loop {
            std::thread::park();
        }
    }
    let (sender, receiver) = sealed_channel().unwrap();
    let mut other = Other::start(PATH, "receives", receiver.socket());
    drop(receiver);
    let mut sent = 0;
    let full = loop {
        match sender.try_send(number(sent)) {
            Ok(()) => sent += 1,
            Err(TrySendError::Full(message)) => break message,
            Err(error) => panic!("{error}"),
        }
        assert!(sent < 100_000, "it is bounded");
    };
    // The other one takes one at most.
    let began = Instant::now();
    let late = loop {
        match sender.send_timeout(full.clone(), SOON) {
            Err(SendTimeoutError::Timeout(message)) => break message,
            sent => sent.unwrap(),
        }
    };
    assert_eq!(*late, *full);
    assert!(began.elapsed() >= SOON);
    std::thread::scope(|threads| {
        let sending = threads.spawn(|| sender.send(number(7)));
        other.kill();
        assert_eq!(*sending.join().unwrap().unwrap_err().0, 7_u32.to_le_bytes());
    });
    let refused = sender.try_send(number(8)).unwrap_err();
    assert!(refused.is_disconnected());
}

#[test]
fn what_another_program_sends_there_is_told_and_does_not_end_it() {
    let sockets = || {
        socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap()
    };
    let (other, own) = sockets();
    let receiver = SealedReceiver::attach(own).unwrap();
    let send = |descriptors: &[&OwnedFd]| {
        let fds: Vec<_> = descriptors.iter().map(|it| it.as_fd()).collect();
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        let bytes = [std::io::IoSlice::new(b"nonsense")];
        sendmsg(&other, &bytes, &mut control, SendFlags::empty()).unwrap();
    };
    let shared = SharedBytes::create(100).unwrap();
    let unsealed = shared.memory().try_clone_to_owned().unwrap();
    let sealed = number(5).memory().try_clone_to_owned().unwrap();
    send(&[]);
    send(&[&sealed, &sealed]);
    send(&[&unsealed]);
    send(&[&sealed]);
    let none = receiver.try_recv().unwrap_err();
    assert!(matches!(
        none,
        SealedRecvError::NotAMessage { descriptors: 0 }
    ));
    let two = receiver.try_recv().unwrap_err();
    assert!(matches!(
        two,
        SealedRecvError::NotAMessage { descriptors: 2 }
    ));
    let open = receiver.try_recv().unwrap_err();
    assert!(matches!(
        open,
        SealedRecvError::Attach(AttachError::NotSealed)
    ));
    assert_eq!(*receiver.recv().unwrap(), 5_u32.to_le_bytes());
    let empty = receiver.recv_timeout(SOON).unwrap_err();
    assert!(matches!(
        empty,
        SealedRecvError::Refused(RecvTimeoutError::Timeout)
    ));
    // What is no such socket.
    let stream = std::os::unix::net::UnixStream::pair().unwrap().0;
    assert!(matches!(
        SealedSender::attach(stream.into()),
        Err(AttachError::NotOurs)
    ));
    assert!(matches!(
        SealedReceiver::attach(sealed),
        Err(AttachError::NotOurs)
    ));
}

/// The socket says to an event loop of another library when a message is there, when there is room, and that the other side is gone.
#[test]
fn an_event_loop_waits_for_both_ends() {
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    const MESSAGES: u32 = 2_000;
    let (sender, receiver) = sealed_channel().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_io()
        .build()
        .unwrap();
    let send = async move {
        // SAFETY: a sender has the same open socket as long as it is there.
        let sender = unsafe { AsyncFd::register_with_interest(sender, Interest::WRITABLE) };
        let sender = sender.unwrap();
        for message in 0..MESSAGES {
            let mut unsent = Some(number(message));
            while let Some(message) = unsent.take() {
                let mut ready = sender.writable().await.unwrap();
                match sender.get_ref().try_send(message) {
                    Ok(()) => {}
                    Err(TrySendError::Full(message)) => {
                        unsent = Some(message);
                        ready.clear_ready();
                    }
                    Err(TrySendError::Disconnected(_)) => panic!("nobody receives"),
                }
            }
        }
    };
    let receive = async move {
        // SAFETY: a receiver has the same open socket as long as it is there.
        let receiver = unsafe { AsyncFd::register_with_interest(receiver, Interest::READABLE) };
        let receiver = receiver.unwrap();
        let mut next = 0;
        loop {
            let mut ready = receiver.readable().await.unwrap();
            match receiver.get_ref().try_recv() {
                Ok(message) => {
                    assert_eq!(message[..4], u32::to_le_bytes(next));
                    next += 1;
                }
                Err(SealedRecvError::Refused(TryRecvError::Empty)) => ready.clear_ready(),
                Err(SealedRecvError::Refused(TryRecvError::Disconnected)) => return next,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let sent = runtime.spawn(send);
    assert_eq!(runtime.block_on(receive), MESSAGES);
    runtime.block_on(sent).unwrap();
}
