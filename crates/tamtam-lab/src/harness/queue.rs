//! Ways of passing many messages from a sending to a receiving side.

/// A way of passing many messages: something with a sending and a receiving side.
pub trait Queue<M>: Copy + Send + Sync + 'static {
    /// The sending side.
    type Sender: Post<M>;
    /// The receiving side.
    type Receiver: Retrieve<M>;

    /// A fresh queue. One that is bounded holds exactly `capacity` messages; an unbounded one ignores it.
    fn open(&self, capacity: usize) -> (Self::Sender, Self::Receiver);
}

/// The sending side of a [`Queue`].
pub trait Post<M>: Send + 'static {
    /// Sends, and waits as long as the queue is full.
    fn send(&mut self, message: M);

    /// Sends if there is room.
    ///
    /// # Errors
    /// The queue is full; the error is the message itself.
    fn try_send(&mut self, message: M) -> Result<(), M>;
}

/// The receiving side of a [`Queue`].
pub trait Retrieve<M>: Send + 'static {
    /// Waits for the next message.
    fn receive(&mut self) -> M;

    /// Takes the next message if there is one.
    fn try_receive(&mut self) -> Option<M>;
}

/// A way of passing many messages that takes several of them at a time, at one end or at both.
///
/// It is measured in the same variants as a [`Queue`], so that the two stand in one table.
pub trait BatchQueue<M>: Copy + Send + Sync + 'static {
    /// The sending side.
    type Sender: PostMany<M>;
    /// The receiving side.
    type Receiver: RetrieveMany<M>;

    /// A fresh queue. One that is bounded holds exactly `capacity` messages; an unbounded one ignores it.
    fn open(&self, capacity: usize) -> (Self::Sender, Self::Receiver);
}

/// The sending side of a [`BatchQueue`].
pub trait PostMany<M>: Send + 'static {
    /// Sends all of `messages` in their order, and waits as long as the queue is full.
    ///
    /// A way that is to be measured with batches at its receiving side only sends them one by one here.
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>);
}

/// The receiving side of a [`BatchQueue`].
pub trait RetrieveMany<M>: Send + 'static {
    /// Waits until there is a message, and appends to `buffer` as many as are there, in their order: at most `limit`,
    /// unless this way can only take all.
    ///
    /// The buffer is empty when it comes, and may be exchanged for another.
    fn receive_many(&mut self, buffer: &mut Vec<M>, limit: usize);

    /// The same without waiting: appends nothing if nothing is there.
    fn try_receive_many(&mut self, buffer: &mut Vec<M>, limit: usize);
}
