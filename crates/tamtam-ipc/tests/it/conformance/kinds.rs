//! What is sent by the suite: numbers, as each kind of channel takes them.

use std::convert::identity;
use std::fmt::Debug;
use std::future::Future;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::time::{Duration, Instant};

use tamtam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, select,
};
use tamtam_ipc as ipc;

/// A verb as a task.
pub(super) type Task<'a, R> = Pin<Box<dyn Future<Output = R> + Send + 'a>>;

/// How many messages a channel holds, but for one that the system bounds.
pub(super) const CAPACITY: usize = 4;

/// A kind of channel, by the verbs that all of them have, for numbers.
pub(super) trait Kind {
    type Sender: Clone + Debug + Send + Sync;
    type Receiver: Debug + Send;

    fn channel() -> (Self::Sender, Self::Receiver);
    fn lend(sender: &Self::Sender) -> BorrowedFd<'_>;
    fn hand_over(receiver: Self::Receiver) -> OwnedFd;
    fn sender(memory: OwnedFd) -> Self::Sender;
    fn receiver(memory: OwnedFd) -> Self::Receiver;

    fn try_send(sender: &Self::Sender, number: u64) -> Result<(), TrySendError<u64>>;
    fn send(sender: &Self::Sender, number: u64) -> Result<(), SendError<u64>>;
    fn send_timeout(
        sender: &Self::Sender,
        number: u64,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<u64>>;
    fn send_deadline(
        sender: &Self::Sender,
        number: u64,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<u64>>;
    fn send_async(sender: &Self::Sender, number: u64) -> Task<'_, Result<(), SendError<u64>>>;
    fn is_closed(sender: &Self::Sender) -> bool;

    fn try_recv(receiver: &Self::Receiver) -> Result<u64, TryRecvError>;
    fn recv(receiver: &Self::Receiver) -> Result<u64, RecvError>;
    fn recv_timeout(receiver: &Self::Receiver, timeout: Duration) -> Result<u64, RecvTimeoutError>;
    fn recv_deadline(receiver: &Self::Receiver, deadline: Instant)
    -> Result<u64, RecvTimeoutError>;
    fn recv_async(receiver: &mut Self::Receiver) -> Task<'_, Result<u64, RecvError>>;
    fn len(receiver: &Self::Receiver) -> usize;

    /// Whether a select finds room, or the end, within the time.
    fn has_room_within(sender: &Self::Sender, timeout: Duration) -> bool;
    /// Whether a select finds a message, or the end, within the time.
    fn has_message_within(receiver: &mut Self::Receiver, timeout: Duration) -> bool;

    /// Sends a batch, if there are batches: how many were sent, and the one that was not.
    fn send_many(
        _sender: &Self::Sender,
        _numbers: &mut dyn Iterator<Item = u64>,
    ) -> Option<Result<usize, (usize, u64)>> {
        None
    }

    fn recv_many(
        _receiver: &Self::Receiver,
        _numbers: &mut Vec<u64>,
        _limit: usize,
    ) -> Option<Result<usize, RecvError>> {
        None
    }

    fn try_recv_many(
        _receiver: &Self::Receiver,
        _numbers: &mut Vec<u64>,
        _limit: usize,
    ) -> Option<Result<usize, TryRecvError>> {
        None
    }
}

/// Whether what is waited for is ready within the time.
macro_rules! is_ready_within {
    ($source:expr, $timeout:expr) => {{
        let source = $source;
        select! {
            wait(source) => true,
            default($timeout) => false,
        }
    }};
}

/// What is alike of all channels in shared memory.
macro_rules! ends_in_memory {
    ($sender:ty, $receiver:ty, $channel:expr) => {
        type Sender = $sender;
        type Receiver = $receiver;

        fn channel() -> (Self::Sender, Self::Receiver) {
            $channel.unwrap()
        }

        fn lend(sender: &Self::Sender) -> BorrowedFd<'_> {
            sender.memory()
        }

        fn hand_over(receiver: Self::Receiver) -> OwnedFd {
            receiver.hand_over().unwrap()
        }

        fn sender(memory: OwnedFd) -> Self::Sender {
            <$sender>::attach(memory).unwrap()
        }

        fn receiver(memory: OwnedFd) -> Self::Receiver {
            <$receiver>::attach(memory).unwrap()
        }

        fn is_closed(sender: &Self::Sender) -> bool {
            sender.is_closed()
        }

        fn len(receiver: &Self::Receiver) -> usize {
            receiver.len()
        }

        fn has_room_within(sender: &Self::Sender, timeout: Duration) -> bool {
            is_ready_within!(sender, timeout)
        }

        fn has_message_within(receiver: &mut Self::Receiver, timeout: Duration) -> bool {
            is_ready_within!(receiver.selectable(), timeout)
        }
    };
}

/// The verbs of a channel whose messages come back: what a number is sent as, which number a message is, and what is refused or received for no other
/// reason than in any channel.
macro_rules! verbs_of_messages {
    ($message:path, $number:path, $refused:path, $came:path) => {
        fn try_send(sender: &Self::Sender, number: u64) -> Result<(), TrySendError<u64>> {
            let sent = sender.try_send($message(number));
            sent.map_err(|error| full($refused(error), $number))
        }

        fn send(sender: &Self::Sender, number: u64) -> Result<(), SendError<u64>> {
            let sent = sender.send($message(number));
            sent.map_err(|error| SendError($number($refused(error).0)))
        }

        fn send_timeout(
            sender: &Self::Sender,
            number: u64,
            timeout: Duration,
        ) -> Result<(), SendTimeoutError<u64>> {
            let sent = sender.send_timeout($message(number), timeout);
            sent.map_err(|error| late($refused(error), $number))
        }

        fn send_deadline(
            sender: &Self::Sender,
            number: u64,
            deadline: Instant,
        ) -> Result<(), SendTimeoutError<u64>> {
            let sent = sender.send_deadline($message(number), deadline);
            sent.map_err(|error| late($refused(error), $number))
        }

        fn send_async(sender: &Self::Sender, number: u64) -> Task<'_, Result<(), SendError<u64>>> {
            Box::pin(async move {
                let sent = sender.send_async($message(number)).await;
                sent.map_err(|error| SendError($number($refused(error).0)))
            })
        }

        fn try_recv(receiver: &Self::Receiver) -> Result<u64, TryRecvError> {
            $came(receiver.try_recv())
        }

        fn recv(receiver: &Self::Receiver) -> Result<u64, RecvError> {
            $came(receiver.recv())
        }

        fn recv_timeout(
            receiver: &Self::Receiver,
            timeout: Duration,
        ) -> Result<u64, RecvTimeoutError> {
            $came(receiver.recv_timeout(timeout))
        }

        fn recv_deadline(
            receiver: &Self::Receiver,
            deadline: Instant,
        ) -> Result<u64, RecvTimeoutError> {
            $came(receiver.recv_deadline(deadline))
        }

        fn recv_async(receiver: &mut Self::Receiver) -> Task<'_, Result<u64, RecvError>> {
            Box::pin(async move { $came(receiver.recv_async().await) })
        }
    };
}

/// The number in what comes back.
fn full<M>(refused: TrySendError<M>, number: impl Fn(M) -> u64) -> TrySendError<u64> {
    match refused {
        TrySendError::Full(message) => TrySendError::Full(number(message)),
        TrySendError::Disconnected(message) => TrySendError::Disconnected(number(message)),
    }
}

fn late<M>(refused: SendTimeoutError<M>, number: impl Fn(M) -> u64) -> SendTimeoutError<u64> {
    match refused {
        SendTimeoutError::Timeout(message) => SendTimeoutError::Timeout(number(message)),
        SendTimeoutError::Disconnected(message) => SendTimeoutError::Disconnected(number(message)),
    }
}

/// The numbers themselves.
#[derive(Debug)]
pub(super) struct Plain;

impl Kind for Plain {
    ends_in_memory!(ipc::Sender<u64>, ipc::Receiver<u64>, ipc::channel(CAPACITY));

    verbs_of_messages!(identity, identity, identity, identity);

    fn send_many(
        sender: &Self::Sender,
        numbers: &mut dyn Iterator<Item = u64>,
    ) -> Option<Result<usize, (usize, u64)>> {
        let sent = sender.send_many(numbers);
        Some(sent.map_err(|error| {
            let first = error.unsent[0];
            assert!(
                (first..)
                    .zip(&error.unsent)
                    .all(|(expected, it)| expected == *it)
            );
            (error.sent, first)
        }))
    }

    fn recv_many(
        receiver: &Self::Receiver,
        numbers: &mut Vec<u64>,
        limit: usize,
    ) -> Option<Result<usize, RecvError>> {
        Some(receiver.recv_many(numbers, limit))
    }

    fn try_recv_many(
        receiver: &Self::Receiver,
        numbers: &mut Vec<u64>,
        limit: usize,
    ) -> Option<Result<usize, TryRecvError>> {
        Some(receiver.try_recv_many(numbers, limit))
    }
}

/// Their bytes, of a length by the number.
#[derive(Debug)]
pub(super) struct Bytes;

/// A number, and more bytes, so that each message has another length than the one before.
fn bytes_of(number: u64) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(8 + (number % 30) as usize, number as u8);
    bytes
}

fn number_of(bytes: &[u8]) -> u64 {
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(bytes, bytes_of(number));
    number
}

/// What bytes refuse for no other reason than others do.
fn refused<R: std::error::Error>(error: ipc::LoanError<R>) -> R {
    match error {
        ipc::LoanError::Refused(refused) => refused,
        other => panic!("{other}"),
    }
}

impl Kind for Bytes {
    ends_in_memory!(
        ipc::BytesSender,
        ipc::BytesReceiver,
        ipc::bytes_channel(CAPACITY, 40)
    );

    fn try_send(sender: &Self::Sender, number: u64) -> Result<(), TrySendError<u64>> {
        let sent = sender.try_send(&bytes_of(number));
        // They were only lent: what comes back is that they were not sent.
        sent.map_err(|error| full(refused(error), |()| number))
    }

    fn send(sender: &Self::Sender, number: u64) -> Result<(), SendError<u64>> {
        let sent = sender.send(&bytes_of(number));
        sent.map_err(|error| {
            let SendError(()) = refused(error);
            SendError(number)
        })
    }

    fn send_timeout(
        sender: &Self::Sender,
        number: u64,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<u64>> {
        let sent = sender.send_timeout(&bytes_of(number), timeout);
        sent.map_err(|error| late(refused(error), |()| number))
    }

    fn send_deadline(
        sender: &Self::Sender,
        number: u64,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<u64>> {
        let sent = sender.send_deadline(&bytes_of(number), deadline);
        sent.map_err(|error| late(refused(error), |()| number))
    }

    fn send_async(sender: &Self::Sender, number: u64) -> Task<'_, Result<(), SendError<u64>>> {
        Box::pin(async move {
            let sent = sender.send_async(&bytes_of(number)).await;
            sent.map_err(|error| {
                let SendError(()) = refused(error);
                SendError(number)
            })
        })
    }

    fn try_recv(receiver: &Self::Receiver) -> Result<u64, TryRecvError> {
        receiver.try_recv_with(|bytes| number_of(&bytes.to_vec()))
    }

    fn recv(receiver: &Self::Receiver) -> Result<u64, RecvError> {
        receiver.recv_with(|bytes| number_of(&bytes.to_vec()))
    }

    fn recv_timeout(receiver: &Self::Receiver, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        receiver.recv_timeout_with(timeout, |bytes| number_of(&bytes.to_vec()))
    }

    fn recv_deadline(
        receiver: &Self::Receiver,
        deadline: Instant,
    ) -> Result<u64, RecvTimeoutError> {
        receiver.recv_deadline_with(deadline, |bytes| number_of(&bytes.to_vec()))
    }

    fn recv_async(receiver: &mut Self::Receiver) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move {
            let mut bytes = Vec::new();
            let len = receiver.recv_bytes_async(&mut bytes).await?;
            assert_eq!(bytes.len(), len);
            Ok(number_of(&bytes))
        })
    }

    fn send_many(
        sender: &Self::Sender,
        numbers: &mut dyn Iterator<Item = u64>,
    ) -> Option<Result<usize, (usize, u64)>> {
        let sent = sender.send_many(numbers.map(bytes_of));
        Some(sent.map_err(|error| {
            let SendError(()) = refused(error.error);
            (error.sent, number_of(&error.unsent))
        }))
    }

    fn recv_many(
        receiver: &Self::Receiver,
        numbers: &mut Vec<u64>,
        limit: usize,
    ) -> Option<Result<usize, RecvError>> {
        let mut add = |bytes: ipc::Bytes<'_>| numbers.push(number_of(&bytes.to_vec()));
        Some(receiver.recv_many_with(limit, &mut add))
    }

    fn try_recv_many(
        receiver: &Self::Receiver,
        numbers: &mut Vec<u64>,
        limit: usize,
    ) -> Option<Result<usize, TryRecvError>> {
        let mut add = |bytes: ipc::Bytes<'_>| numbers.push(number_of(&bytes.to_vec()));
        Some(receiver.try_recv_many_with(limit, &mut add))
    }
}

/// Texts with the numbers in them.
#[cfg(feature = "serde")]
#[derive(Debug)]
pub(super) struct Encoded;

#[cfg(feature = "serde")]
fn text_of(number: u64) -> String {
    format!("{number}:{}", "x".repeat((number % 30) as usize))
}

#[cfg(feature = "serde")]
fn number_in(text: String) -> u64 {
    let (number, _) = text.split_once(':').unwrap();
    let number = number.parse().unwrap();
    assert_eq!(text, text_of(number));
    number
}

#[cfg(feature = "serde")]
fn came<R: std::error::Error>(
    received: Result<String, ipc::EncodedRecvError<R>>,
) -> Result<u64, R> {
    match received {
        Ok(text) => Ok(number_in(text)),
        Err(ipc::EncodedRecvError::Refused(refused)) => Err(refused),
        Err(other) => panic!("{other}"),
    }
}

#[cfg(feature = "serde")]
fn counted<R: std::error::Error>(
    received: Result<usize, ipc::EncodedRecvError<R>>,
) -> Result<usize, R> {
    match received {
        Ok(count) => Ok(count),
        Err(ipc::EncodedRecvError::Refused(refused)) => Err(refused),
        Err(other) => panic!("{other}"),
    }
}

#[cfg(feature = "serde")]
fn refused_in<R: std::error::Error>(error: ipc::EncodedSendError<String, R>) -> R {
    match error {
        ipc::EncodedSendError::Refused(refused) => refused,
        other => panic!("{other}"),
    }
}

#[cfg(feature = "serde")]
impl Kind for Encoded {
    ends_in_memory!(
        ipc::EncodedSender<String>,
        ipc::EncodedReceiver<String>,
        ipc::encoded_channel(CAPACITY, 60)
    );

    verbs_of_messages!(text_of, number_in, refused_in, came);

    fn send_many(
        sender: &Self::Sender,
        numbers: &mut dyn Iterator<Item = u64>,
    ) -> Option<Result<usize, (usize, u64)>> {
        let sent = sender.send_many(numbers.map(text_of));
        Some(sent.map_err(|error| {
            let disconnected = ipc::EncodedSendError::Refused(SendError(()));
            assert_eq!(error.error, disconnected);
            (error.sent, number_in(error.unsent))
        }))
    }

    fn recv_many(
        receiver: &Self::Receiver,
        numbers: &mut Vec<u64>,
        limit: usize,
    ) -> Option<Result<usize, RecvError>> {
        let mut texts = Vec::new();
        let received = receiver.recv_many(&mut texts, limit);
        numbers.extend(texts.into_iter().map(number_in));
        Some(counted(received))
    }

    fn try_recv_many(
        receiver: &Self::Receiver,
        numbers: &mut Vec<u64>,
        limit: usize,
    ) -> Option<Result<usize, TryRecvError>> {
        let mut texts = Vec::new();
        let received = receiver.try_recv_many(&mut texts, limit);
        numbers.extend(texts.into_iter().map(number_in));
        Some(counted(received))
    }
}

/// A piece of sealed memory for each number.
#[derive(Debug)]
pub(super) struct Sealed;

fn sealed(number: u64) -> ipc::SealedBytes {
    ipc::SealedBytes::copy_of(&bytes_of(number)).unwrap()
}

fn number_sealed(bytes: ipc::SealedBytes) -> u64 {
    number_of(&bytes)
}

fn unsealed<R: std::error::Error>(
    received: Result<ipc::SealedBytes, ipc::SealedRecvError<R>>,
) -> Result<u64, R> {
    match received {
        Ok(bytes) => Ok(number_sealed(bytes)),
        Err(ipc::SealedRecvError::Refused(refused)) => Err(refused),
        Err(other) => panic!("{other}"),
    }
}

impl Kind for Sealed {
    type Sender = ipc::SealedSender;
    type Receiver = ipc::SealedReceiver;

    fn channel() -> (Self::Sender, Self::Receiver) {
        ipc::sealed_channel().unwrap()
    }

    fn lend(sender: &Self::Sender) -> BorrowedFd<'_> {
        sender.socket()
    }

    fn hand_over(receiver: Self::Receiver) -> OwnedFd {
        receiver.as_fd().try_clone_to_owned().unwrap()
    }

    fn sender(memory: OwnedFd) -> Self::Sender {
        ipc::SealedSender::attach(memory).unwrap()
    }

    fn receiver(memory: OwnedFd) -> Self::Receiver {
        ipc::SealedReceiver::attach(memory).unwrap()
    }

    verbs_of_messages!(sealed, number_sealed, identity, unsealed);

    fn is_closed(sender: &Self::Sender) -> bool {
        sender.is_closed()
    }
    fn len(receiver: &Self::Receiver) -> usize {
        receiver.len()
    }

    fn has_room_within(sender: &Self::Sender, timeout: Duration) -> bool {
        is_ready_within!(sender, timeout)
    }

    fn has_message_within(receiver: &mut Self::Receiver, timeout: Duration) -> bool {
        is_ready_within!(&*receiver, timeout)
    }
}
