//! Ways of handing messages back and forth between tasks, and between a thread and a task.

use crate::{End, Queue, QueueEnd, QueuePair};

/// A way of handing messages back and forth between two tasks.
pub trait AsyncHandover<M>: Copy + Send + Sync + 'static {
    /// What each of the two tasks holds.
    type End: AsyncEnd<M>;

    /// A fresh connection.
    fn connect_async(&self) -> (Self::End, Self::End);
}

/// A way of handing messages back and forth between a thread that blocks and a task.
pub trait MixedHandover<M>: Copy + Send + Sync + 'static {
    /// What the thread holds.
    type Near: End<M>;
    /// What the task holds.
    type Far: AsyncEnd<M>;

    /// A fresh connection.
    fn connect_mixed(&self) -> (Self::Near, Self::Far);
}

/// A task's end of an [`AsyncHandover`] or a [`MixedHandover`].
pub trait AsyncEnd<M>: Send + 'static {
    /// Hands a message to the other end; may wait until that has taken the one before.
    fn send(&mut self, message: M) -> impl Future<Output = ()> + Send;

    /// Waits for the next message of the other end.
    fn receive(&mut self) -> impl Future<Output = M> + Send;
}

/// A [`Queue`] that tasks can use, too, at one side or at both.
///
/// Where one type of sender both blocks and awaits, and one type of receiver, [`for_tasks!`](crate::for_tasks) implements
/// this.
pub trait AsyncQueue<M>: Queue<M> {
    /// The sending side of a task.
    type AsyncSender: AsyncPost<M>;
    /// The receiving side of a task.
    type AsyncReceiver: AsyncRetrieve<M>;

    /// A fresh queue from a task to a task.
    fn open_async(&self, capacity: usize) -> (Self::AsyncSender, Self::AsyncReceiver);

    /// A fresh queue from a thread that blocks to a task.
    fn open_to_task(&self, capacity: usize) -> (Self::Sender, Self::AsyncReceiver);

    /// A fresh queue from a task to a thread that blocks.
    fn open_from_task(&self, capacity: usize) -> (Self::AsyncSender, Self::Receiver);
}

/// The sending side of a queue, in a task.
pub trait AsyncPost<M>: Send + 'static {
    /// Sends, and waits as long as the queue is full.
    fn send_async(&mut self, message: M) -> impl Future<Output = ()> + Send;
}

/// The receiving side of a queue, in a task.
pub trait AsyncRetrieve<M>: Send + 'static {
    /// Waits for the next message.
    fn receive_async(&mut self) -> impl Future<Output = M> + Send;
}

/// Implements [`AsyncQueue`](crate::AsyncQueue) for a [`Queue`](crate::Queue) whose sender and receiver both
/// block and await: all three ways to open it are its [`open`](crate::Queue::open).
///
/// `for_tasks!(Channel)` is for messages that are `Send`; `for_tasks!(Channel: Clone + Send)` names other bounds.
#[macro_export]
macro_rules! for_tasks {
    ($queue:ident) => {
        $crate::for_tasks!($queue: Send);
    };
    ($queue:ident: $($bounds:tt)+) => {
        impl<M: $($bounds)+ + 'static> $crate::AsyncQueue<M> for $queue {
            type AsyncSender = <Self as $crate::Queue<M>>::Sender;
            type AsyncReceiver = <Self as $crate::Queue<M>>::Receiver;

            fn open_async(&self, capacity: usize) -> (Self::AsyncSender, Self::AsyncReceiver) {
                $crate::Queue::open(self, capacity)
            }

            fn open_to_task(&self, capacity: usize) -> (Self::Sender, Self::AsyncReceiver) {
                $crate::Queue::open(self, capacity)
            }

            fn open_from_task(&self, capacity: usize) -> (Self::AsyncSender, Self::Receiver) {
                $crate::Queue::open(self, capacity)
            }
        }
    };
}

impl<M: Send + 'static, Q: AsyncQueue<M>> AsyncHandover<M> for QueuePair<Q> {
    type End = QueueEnd<Q::AsyncSender, Q::AsyncReceiver>;

    fn connect_async(&self) -> (Self::End, Self::End) {
        let (to_far, from_near) = self.queue.open_async(self.capacity);
        let (to_near, from_far) = self.queue.open_async(self.capacity);
        (
            QueueEnd::new(to_far, from_far),
            QueueEnd::new(to_near, from_near),
        )
    }
}

impl<M: Send + 'static, Q: AsyncQueue<M>> MixedHandover<M> for QueuePair<Q> {
    type Near = QueueEnd<Q::Sender, Q::Receiver>;
    type Far = QueueEnd<Q::AsyncSender, Q::AsyncReceiver>;

    fn connect_mixed(&self) -> (Self::Near, Self::Far) {
        let (to_far, from_near) = self.queue.open_to_task(self.capacity);
        let (to_near, from_far) = self.queue.open_from_task(self.capacity);
        (
            QueueEnd::new(to_far, from_far),
            QueueEnd::new(to_near, from_near),
        )
    }
}

impl<M: Send, S: AsyncPost<M>, R: AsyncRetrieve<M>> AsyncEnd<M> for QueueEnd<S, R> {
    fn send(&mut self, message: M) -> impl Future<Output = ()> + Send {
        self.sender.send_async(message)
    }

    fn receive(&mut self) -> impl Future<Output = M> + Send {
        self.receiver.receive_async()
    }
}
