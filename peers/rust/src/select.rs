//! Receiving from many channels at once, as those crates do that can.

use tamtam_lab::grid::{LookAtAll, ReceiveAny, SelectFrom, Selecting};
use tamtam_lab::{Failure, Packet8};

use crate::{crossbeam, flume};

/// The channels of the crate `crossbeam-channel`, with its `Select`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfCrossbeam;

impl SelectFrom for OfCrossbeam {
    type Sender = crossbeam::Sending<Packet8>;
    type Receivers = CrossbeamReceivers;

    fn open(&self, channels: usize, capacity: usize) -> (Vec<Self::Sender>, CrossbeamReceivers) {
        let ends = (0..channels).map(|_| {
            let (sender, receiver) = ::crossbeam_channel::bounded(capacity);
            (crossbeam::Sending::of(sender), receiver)
        });
        let (senders, receivers) = ends.unzip();
        (senders, CrossbeamReceivers(receivers))
    }
}

#[derive(Debug)]
pub(crate) struct CrossbeamReceivers(Vec<::crossbeam_channel::Receiver<Packet8>>);

impl CrossbeamReceivers {
    fn select(&self) -> ::crossbeam_channel::Select<'_> {
        let mut select = ::crossbeam_channel::Select::new();
        for receiver in &self.0 {
            select.recv(receiver);
        }
        select
    }
}

impl LookAtAll for CrossbeamReceivers {
    fn look(&mut self) -> Option<Packet8> {
        let operation = self.select().try_select().ok()?;
        let receiver = &self.0[operation.index()];
        Some(operation.recv(receiver).expect("the sender is there"))
    }
}

impl ReceiveAny for CrossbeamReceivers {
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

/// The channels of the crate `flume`, with its `Selector`, which is made for each message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfFlume;

impl SelectFrom for OfFlume {
    type Sender = flume::Sending<Packet8>;
    type Receivers = FlumeReceivers;

    fn open(&self, channels: usize, capacity: usize) -> (Vec<Self::Sender>, FlumeReceivers) {
        let ends = (0..channels).map(|_| {
            let (sender, receiver) = ::flume::bounded(capacity);
            (flume::Sending::of(sender), receiver)
        });
        let (senders, receivers) = ends.unzip();
        (senders, FlumeReceivers(receivers))
    }
}

#[derive(Debug)]
pub(crate) struct FlumeReceivers(Vec<::flume::Receiver<Packet8>>);

impl ReceiveAny for FlumeReceivers {
    fn receive_any(
        &mut self,
        _selecting: Selecting,
        mut accept: impl FnMut(Packet8) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let FlumeReceivers(receivers) = self;
        loop {
            let selector = receivers
                .iter()
                .fold(::flume::Selector::new(), |selector, receiver| {
                    selector.recv(receiver, |received| received)
                });
            if !accept(selector.wait().expect("the sender is there"))? {
                return Ok(());
            }
        }
    }
}
