//! Our select, over channels.

use tamtam_channel::{Receiver, Select, Sender, bounded};

use crate::grid::{LookAtAll, ReceiveAny, SelectFrom, Selecting};
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

impl Receivers {
    fn select(&self) -> Select<'_> {
        let mut select = Select::new();
        for receiver in &self.0 {
            select.recv(receiver);
        }
        select
    }
}

impl LookAtAll for Receivers {
    fn look(&mut self) -> Option<Packet8> {
        let operation = self.select().try_select().ok()?;
        let receiver = &self.0[operation.index()];
        Some(operation.recv(receiver).expect("the sender is there"))
    }
}

impl ReceiveAny for Receivers {
    fn receive_any(
        &mut self,
        selecting: Selecting,
        mut accept: impl FnMut(Packet8) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let mut select = self.select();
        loop {
            if selecting == Selecting::Fresh {
                select = self.select();
            }
            let operation = select.select();
            let receiver = &self.0[operation.index()];
            let packet = operation.recv(receiver).expect("the sender is there");
            if !accept(packet)? {
                return Ok(());
            }
        }
    }
}
