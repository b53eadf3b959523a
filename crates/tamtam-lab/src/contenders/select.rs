//! Our select, over channels.

use tamtam_channel::{Receiver, Select, Sender, bounded};

use crate::grid::{ReceiveAny, SelectFrom, Selecting};
use crate::{Failure, Packet8};

/// `Select` over bounded channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct SelectOfChannels;

impl SelectFrom for SelectOfChannels {
    type Sender = Sender<Packet8>;
    type Receivers = Receivers;

    fn open(&self, channels: usize, capacity: usize) -> (Vec<Sender<Packet8>>, Receivers) {
        let (senders, receivers) = (0..channels).map(|_| bounded(capacity)).unzip();
        (senders, Receivers(receivers))
    }
}

#[derive(Debug)]
pub(super) struct Receivers(Vec<Receiver<Packet8>>);

impl ReceiveAny for Receivers {
    fn receive_any(
        &mut self,
        selecting: Selecting,
        mut accept: impl FnMut(Packet8) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let Receivers(receivers) = self;
        let of_all = || {
            let mut select = Select::new();
            for receiver in &*receivers {
                select.recv(receiver);
            }
            select
        };
        let mut select = of_all();
        loop {
            if selecting == Selecting::Fresh {
                select = of_all();
            }
            let operation = select.select();
            let receiver = &receivers[operation.index()];
            let packet = operation.recv(receiver).expect("the sender is there");
            if !accept(packet)? {
                return Ok(());
            }
        }
    }
}
