//! The rows about channels, as measures: which packet, which ends, threads or tasks.

use super::rows::{Payload, Row, Shape, Style, rows};
#[cfg(feature = "tokio")]
use super::tasks::run as run_tasks;
use super::{EXPERIMENT, threads};
#[cfg(feature = "tokio")]
use crate::AsyncQueue;
use crate::experiments::post::flow::{Flow, InBatches, OneByOne};
use crate::offer::Kind;
use crate::{
    BatchQueue, Conditions, Failure, Measure, Measurement, Packet, Packet1K, Packet8, Packet16K,
    Packet64, Queue,
};

/// A queue for each payload between one sender and one receiver.
pub trait OneToOne:
    Queue<Packet8>
    + Queue<Packet64>
    + Queue<Packet1K>
    + Queue<Packet16K>
    + Queue<String>
    + Queue<Box<Packet64>>
{
}

impl<Q> OneToOne for Q where
    Q: Queue<Packet8>
        + Queue<Packet64>
        + Queue<Packet1K>
        + Queue<Packet16K>
        + Queue<String>
        + Queue<Box<Packet64>>
{
}

/// The measure of a row with this packet, if `$row` has one of those named.
macro_rules! by_payload {
    ($row:expr, $measure:ident($flow:expr), [$($payload:ident: $packet:ty),+]) => {
        match $row.payload {
            $(Payload::$payload => Some($measure::<$packet, _>($flow, $row)),)+
            #[allow(unreachable_patterns)]
            _ => None,
        }
    };
}

/// One sender and one receiver, threads both, with every payload: `1000000/2cores/1to1-8B-cap16`.
pub fn one_to_one<Q: OneToOne>(queue: Q, kind: Kind) -> Vec<Measure> {
    let flow = OneByOne(queue);
    rows(Shape::OneToOne, kind, |style| style == Style::Blocking)
        .filter_map(|row| {
            by_payload!(row, one(flow), [
                Bytes8: Packet8,
                Bytes64: Packet64,
                KiB1: Packet1K,
                KiB16: Packet16K,
                Text: String,
                Boxed: Box<Packet64>
            ])
        })
        .collect()
}

/// Four senders and one receiver: `1000000/free/4to1-8B-cap1000`.
pub fn fan_in<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: Queue<Packet8, Sender: Clone>
        + Queue<Packet1K, Sender: Clone>
        + Queue<String, Sender: Clone>,
{
    let flow = OneByOne(queue);
    rows(Shape::FanIn, kind, |style| style == Style::Blocking)
        .filter_map(
            |row| by_payload!(row, merged(flow), [Bytes8: Packet8, KiB1: Packet1K, Text: String]),
        )
        .collect()
}

/// Many receivers: `1000000/free/1to4-8B-cap1000`, `4to4`, `16to16`.
pub fn many_to_many<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: Queue<Packet8, Sender: Clone, Receiver: Clone>
        + Queue<String, Sender: Clone, Receiver: Clone>,
{
    let flow = OneByOne(queue);
    rows(Shape::Many, kind, |style| style == Style::Blocking)
        .filter_map(|row| by_payload!(row, spread(flow), [Bytes8: Packet8, Text: String]))
        .collect()
}

/// Everything that a channel takes part in whose two ends can be cloned, between threads.
pub fn channel<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: OneToOne,
    Q: Queue<Packet8, Sender: Clone, Receiver: Clone>
        + Queue<Packet1K, Sender: Clone>
        + Queue<String, Sender: Clone, Receiver: Clone>,
{
    let mut measures = one_to_one(queue, kind);
    measures.extend(fan_in(queue, kind));
    measures.extend(many_to_many(queue, kind));
    measures
}

/// One sender and one receiver, in batches of up to 256 at each end that has them:
/// `1000000/2cores/1to1-batches-8B-cap1000`.
pub fn batches<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: BatchQueue<Packet8> + BatchQueue<Packet1K> + BatchQueue<String>,
{
    let flow = InBatches(queue);
    let mut measures = batches_by_value(queue, kind);
    measures.extend(
        rows(Shape::OneToOne, kind, |style| style == Style::Batches)
            .filter_map(|row| by_payload!(row, one(flow), [Text: String])),
    );
    measures
}

/// The same without what is allocated.
pub fn batches_by_value<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: BatchQueue<Packet8> + BatchQueue<Packet1K>,
{
    let flow = InBatches(queue);
    rows(Shape::OneToOne, kind, |style| style == Style::Batches)
        .filter_map(|row| by_payload!(row, one(flow), [Bytes8: Packet8, KiB1: Packet1K]))
        .collect()
}

/// Four senders and one receiver that takes batches: `1000000/free/4to1-batches-8B-cap1000`.
pub fn batched_fan_in<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: BatchQueue<Packet8, Sender: Clone> + BatchQueue<String, Sender: Clone>,
{
    let flow = InBatches(queue);
    rows(Shape::FanIn, kind, |style| style == Style::Batches)
        .filter_map(|row| by_payload!(row, merged(flow), [Bytes8: Packet8, Text: String]))
        .collect()
}

fn one<P: Packet, F: Flow<P>>(flow: F, row: Row) -> Measure {
    between_threads(row, move |conditions| {
        let (sender, receiver) = flow.open(row.capacity.messages());
        threads::run::<P, _, _>(vec![sender], vec![receiver], conditions)
    })
}

fn merged<P: Packet, F: Flow<P, Feed: Clone>>(flow: F, row: Row) -> Measure {
    between_threads(row, move |conditions| {
        let (sender, receiver) = flow.open(row.capacity.messages());
        let senders = copies(sender, row.ends.senders);
        threads::run::<P, _, _>(senders, vec![receiver], conditions)
    })
}

fn spread<P: Packet, F: Flow<P, Feed: Clone, Draw: Clone>>(flow: F, row: Row) -> Measure {
    between_threads(row, move |conditions| {
        let (sender, receiver) = flow.open(row.capacity.messages());
        let senders = copies(sender, row.ends.senders);
        let receivers = copies(receiver, row.ends.receivers);
        threads::run::<P, _, _>(senders, receivers, conditions)
    })
}

fn between_threads(
    row: Row,
    body: impl Fn(&Conditions) -> Result<Measurement, Failure> + 'static,
) -> Measure {
    Measure::new(EXPERIMENT, row.variant(), body)
}

/// `end` and as many copies of it as make `count`.
fn copies<E: Clone>(end: E, count: usize) -> Vec<E> {
    let mut ends = vec![end; 1];
    while ends.len() < count {
        ends.push(ends[0].clone());
    }
    ends
}

/// One sender and one receiver, tasks both, on a runtime with one thread and on one with two:
/// `1000000/1core/1to1-async1-8B-cap16`.
#[cfg(feature = "tokio")]
pub fn tasks<Q: AsyncQueue<Packet8> + AsyncQueue<String>>(queue: Q, kind: Kind) -> Vec<Measure> {
    rows(Shape::OneToOne, kind, is_of_tasks)
        .filter_map(|row| by_payload!(row, one_task(queue), [Bytes8: Packet8, Text: String]))
        .collect()
}

/// Four senders and one receiver, all tasks: `1000000/2cores/4to1-async2-8B-cap16`.
#[cfg(feature = "tokio")]
pub fn tasks_fan_in<Q: AsyncQueue<Packet8, AsyncSender: Clone>>(
    queue: Q,
    kind: Kind,
) -> Vec<Measure> {
    rows(Shape::FanIn, kind, is_of_tasks)
        .filter_map(|row| by_payload!(row, merged_tasks(queue), [Bytes8: Packet8]))
        .collect()
}

/// Many receivers, all tasks: `1000000/2cores/4to4-async2-8B-cap16`.
#[cfg(feature = "tokio")]
pub fn tasks_many<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: AsyncQueue<Packet8, AsyncSender: Clone, AsyncReceiver: Clone>,
{
    rows(Shape::Many, kind, is_of_tasks)
        .filter_map(|row| by_payload!(row, spread_tasks(queue), [Bytes8: Packet8]))
        .collect()
}

/// Everything that a channel takes part in whose two ends can be cloned, between tasks.
#[cfg(feature = "tokio")]
pub fn channel_of_tasks<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: AsyncQueue<Packet8, AsyncSender: Clone, AsyncReceiver: Clone> + AsyncQueue<String>,
{
    let mut measures = tasks(queue, kind);
    measures.extend(tasks_fan_in(queue, kind));
    measures.extend(tasks_many(queue, kind));
    measures
}

#[cfg(feature = "tokio")]
fn is_of_tasks(style: Style) -> bool {
    matches!(style, Style::Tasks(_))
}

/// On how many threads the tasks of `row` run.
#[cfg(feature = "tokio")]
fn threads_of(row: Row) -> usize {
    match row.style {
        Style::Tasks(threads) => threads,
        Style::Blocking | Style::Batches => 1,
    }
}

#[cfg(feature = "tokio")]
fn one_task<P: Packet, Q: AsyncQueue<P>>(queue: Q, row: Row) -> Measure {
    Measure::new(EXPERIMENT, row.variant(), move |conditions| {
        let (sender, receiver) = queue.open_async(row.capacity.messages());
        run_tasks::<P, _, _>(vec![sender], vec![receiver], threads_of(row), conditions)
    })
}

#[cfg(feature = "tokio")]
fn merged_tasks<P: Packet, Q: AsyncQueue<P, AsyncSender: Clone>>(queue: Q, row: Row) -> Measure {
    Measure::new(EXPERIMENT, row.variant(), move |conditions| {
        let (sender, receiver) = queue.open_async(row.capacity.messages());
        let senders = copies(sender, row.ends.senders);
        run_tasks::<P, _, _>(senders, vec![receiver], threads_of(row), conditions)
    })
}

#[cfg(feature = "tokio")]
fn spread_tasks<P: Packet, Q>(queue: Q, row: Row) -> Measure
where
    Q: AsyncQueue<P, AsyncSender: Clone, AsyncReceiver: Clone>,
{
    Measure::new(EXPERIMENT, row.variant(), move |conditions| {
        let (sender, receiver) = queue.open_async(row.capacity.messages());
        let senders = copies(sender, row.ends.senders);
        let receivers = copies(receiver, row.ends.receivers);
        run_tasks::<P, _, _>(senders, receivers, threads_of(row), conditions)
    })
}
