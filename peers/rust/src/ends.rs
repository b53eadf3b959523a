//! The ends of a channel that has one type of sender and one type of receiver, bounded or not.

/// Implements `Queue` for a contender that is made of a [`Kind`](crate::offer::Kind), and makes its two ends.
///
/// The library has the functions `bounded` and `unbounded`, and the types `Sender` (which can be cloned) and `Receiver`.
/// What differs from library to library is how they are told to send and to receive.
macro_rules! ends {
    (
        $contender:ident: $library:ident,
        send: |$sender:ident, $message:ident| $send:expr,
        try_send: |$try_sender:ident, $tried:ident| $try_send:expr,
        receive: |$receiver:ident| $receive:expr,
        try_receive: |$try_receiver:ident| $try_receive:expr $(,)?
    ) => {
        impl<M: Send + 'static> ::tamtam_lab::Queue<M> for $contender {
            type Sender = Sending<M>;
            type Receiver = Receiving<M>;

            fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
                let (sender, receiver) = match self.0 {
                    ::tamtam_lab::offer::Kind::Bounded => ::$library::bounded(capacity),
                    ::tamtam_lab::offer::Kind::Unbounded => ::$library::unbounded(),
                };
                (Sending(sender), Receiving(receiver))
            }
        }

        #[derive(Debug)]
        pub(crate) struct Sending<M>(::$library::Sender<M>);

        impl<M> Sending<M> {
            /// The sending side of a channel that is made elsewhere.
            #[allow(dead_code)]
            pub(crate) fn of(sender: ::$library::Sender<M>) -> Self {
                Sending(sender)
            }
        }

        impl<M> Clone for Sending<M> {
            fn clone(&self) -> Self {
                Sending(self.0.clone())
            }
        }

        impl<M: Send + 'static> ::tamtam_lab::Post<M> for Sending<M> {
            fn send(&mut self, $message: M) {
                let $sender = &self.0;
                assert!($send.is_ok(), "the receiver is gone");
            }

            fn try_send(&mut self, $tried: M) -> Result<(), M> {
                let $try_sender = &self.0;
                $try_send
            }
        }

        #[derive(Debug)]
        pub(crate) struct Receiving<M>(::$library::Receiver<M>);

        impl<M> Clone for Receiving<M> {
            fn clone(&self) -> Self {
                Receiving(self.0.clone())
            }
        }

        impl<M: Send + 'static> ::tamtam_lab::Retrieve<M> for Receiving<M> {
            fn receive(&mut self) -> M {
                let $receiver = &self.0;
                $receive.expect("the sender is there")
            }

            fn try_receive(&mut self) -> Option<M> {
                let $try_receiver = &self.0;
                $try_receive
            }
        }
    };
}

/// Lets tasks use the ends that [`ends!`] has made, too: each argument is an expression that is awaited.
macro_rules! ends_for_tasks {
    (
        $contender:ident,
        send: |$sender:ident, $message:ident| $send:expr,
        receive: |$receiver:ident| $receive:expr $(,)?
    ) => {
        ::tamtam_lab::for_tasks!($contender);

        impl<M: Send + 'static> ::tamtam_lab::AsyncPost<M> for Sending<M> {
            async fn send_async(&mut self, $message: M) {
                let $sender = &self.0;
                let sent = $send.await;
                assert!(sent.is_ok(), "the receiver is gone");
            }
        }

        impl<M: Send + 'static> ::tamtam_lab::AsyncRetrieve<M> for Receiving<M> {
            async fn receive_async(&mut self) -> M {
                let $receiver = &self.0;
                $receive.await.expect("the sender is there")
            }
        }
    };
}

pub(crate) use {ends, ends_for_tasks};
