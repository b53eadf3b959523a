//! What a gateway lets happen at most.

use std::time::Duration;

/// What a gateway lets happen at most. Each default suits a server of 1 GiB that strangers reach. A time of more than ten years is one of
/// ten years.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_gateway::{Gateway, Limits};
///
/// let limits = Limits { body_bytes: 64 << 20, time: Duration::from_secs(300), ..Limits::default() };
/// let gateway = Gateway::new().limits(limits);
/// # drop(gateway);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's body, also when it is decompressed; and apart from that of what references in it repeat, which AMF
    /// has. 4 MiB.
    pub body_bytes: usize,
    /// How deep values may lie in each other. 64. In JSON and XML-RPC it is never more than 128.
    pub depth: usize,
    /// How many values a request may hold. 200,000.
    pub values: usize,
    /// Calls in one request: a batch, a multicall, a packet. 100.
    pub batch: usize,
    /// Bytes of the answers to the calls of one request. Once they have so many, no further call of it is begun, and each that
    /// wants an answer gets a fault; so they have at most these, and what the last one has more. Over a WebSocket it is at most
    /// an eighth of `push_bytes`. 4 MiB.
    pub batch_bytes: usize,
    /// How long the calls of a request may take, all together. 30 s.
    ///
    /// Of a table that comes part by part that is the time until its first part, where its protocol sends the parts, and until the last one
    /// where they are gathered.
    pub time: Duration,
    /// How long a client may take to send a request, how long it may leave its connection idle, and how long it may read
    /// nothing of its answer. 30 s.
    ///
    /// - The handshake of TLS may take so long, and the head of the first request as long again; without TLS that time begins with
    ///   the connection, whether anything comes or not.
    /// - A connection of HTTP/2 that has no request for so long is told goodbye, though it answers pings, and has a second for that.
    /// - An answer by HTTP/2 of which the client lets nothing come for so long is given up, whatever else the connection carries: its stream is
    ///   reset, or the connection is closed where HTTP/2 has all of it already.
    /// - A WebSocket over which nothing is called or subscribed to is closed, if its client answers no ping for so long; and one that was opened for a
    ///   link, if its page has not said hello by then.
    pub patience: Duration,
    /// Requests that are worked on at the same time. The next one is told at once that the server is busy. 256.
    ///
    /// One whose answer has more than 4 KiB counts until the last byte of that was written, or the client has gone.
    pub requests: usize,
    /// Those of one client: of one IPv4 address, or of one network of 64 bits of IPv6. 64.
    pub requests_of_client: usize,
    /// Connections that are open at the same time. The next one is told so and closed. 1,024.
    pub connections: usize,
    /// Those of one client, whatever they carry, WebSockets too. The next one is told so and closed. A server that stands before this one and
    /// passes requests on is one client. 256.
    pub connections_of_client: usize,
    /// Subscriptions to topics and properties at the same time. 4,096.
    pub subscriptions: usize,
    /// Those of one client. 256.
    pub subscriptions_of_client: usize,
    /// Links of pages at the same time. 1,024.
    pub links: usize,
    /// Those of one client. 64.
    pub links_of_client: usize,
    /// Bytes held for one connection with subscriptions, or for one link, in each direction: what it has not read, or what it has sent and is
    /// not whole, or waits for an actor. A pushed value has at most half of them, and an answer over a WebSocket or a message of a link a
    /// quarter. 1 MiB.
    pub push_bytes: usize,
    /// How long a client with subscriptions, or one that calls over a WebSocket, may read nothing, before its connection is closed. 10 minutes.
    pub stalled: Duration,
    /// How long a stop waits for what was accepted. 30 s.
    pub stop: Duration,
}

impl Limits {
    /// The default.
    pub const USUAL: Limits = Limits {
        body_bytes: 4 << 20,
        depth: 64,
        values: 200_000,
        batch: 100,
        batch_bytes: 4 << 20,
        time: Duration::from_secs(30),
        patience: Duration::from_secs(30),
        requests: 256,
        requests_of_client: 64,
        connections: 1_024,
        connections_of_client: 256,
        subscriptions: 4_096,
        subscriptions_of_client: 256,
        links: 1_024,
        links_of_client: 64,
        push_bytes: 1 << 20,
        stalled: Duration::from_secs(600),
        stop: Duration::from_secs(30),
    };

    /// With times that can be added to any moment.
    pub(crate) fn within_reason(mut self) -> Limits {
        let times = [
            &mut self.time,
            &mut self.patience,
            &mut self.stalled,
            &mut self.stop,
        ];
        for time in times {
            *time = (*time).min(LONGEST_TIME);
        }
        self
    }
}

/// A longer time is this one: ten years. A clock has no moment that is [`Duration::MAX`] from now.
pub(crate) const LONGEST_TIME: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

impl Default for Limits {
    fn default() -> Limits {
        Limits::USUAL
    }
}
