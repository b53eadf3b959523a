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
