//! Whether a link is as fast as it should be: a plain client fetches a body over it, which costs it next to nothing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// A link may be this many times slower than it should be at the best of [`TRIES`].
const SLOWEST: f64 = 1.25;
const TRIES: usize = 30;

/// A body that is this much earlier than its bytes allow was not over the link.
const EARLIEST: f64 = 0.98;

/// How many times as long as computed the answer of `server` takes over the link at `link`, which is to be so fast.
///
/// # Errors
/// If it is faster or slower than it should be, or there is no answer.
pub(super) fn check(link: SocketAddr, bits_per_second: u64) -> Result<f64> {
    // A tenth of a second. On the fastest link it is short, so that a busy machine lets some be undisturbed.
    let seconds = if bits_per_second >= 1_000_000_000 {
        0.02
    } else {
        0.1
    };
    let count = (bits_per_second as f64 / 8.0 * seconds) as usize;
    let mut least = f64::INFINITY;
    for place in 0..TRIES {
        let fetched = fetch(link, count).with_context(|| {
            format!("the link of {bits_per_second} bits a second does not answer")
        })?;
        let computed = |bytes: usize| bytes as f64 * 8.0 / bits_per_second as f64;
        let in_all = fetched.in_all.as_secs_f64();
        ensure!(
            in_all >= computed(fetched.bytes) * EARLIEST,
            "the link of {bits_per_second} bits a second is too fast: {} bytes took {in_all} s",
            fetched.bytes
        );
        least = least.min(fetched.rest.as_secs_f64() / computed(fetched.rest_bytes));
        if place >= 2 && least <= SLOWEST {
            return Ok(least);
        }
    }
    ensure!(
        least <= SLOWEST,
        "the link of {bits_per_second} bits a second is too slow: a body took {least:.2} times as long as computed, at the \
         best of {TRIES} tries; is this machine busy with something else?"
    );
    Ok(least)
}

/// What came, with its headers, and how long it took.
struct Fetched {
    bytes: usize,
    in_all: Duration,
    /// What came behind the first piece.
    rest_bytes: usize,
    rest: Duration,
}

fn fetch(link: SocketAddr, count: usize) -> Result<Fetched> {
    let mut connection = TcpStream::connect(link)?;
    connection.set_read_timeout(Some(Duration::from_secs(60)))?;
    let begun = Instant::now();
    write!(
        connection,
        "GET /rest/Link/bytes?count={count} HTTP/1.1\r\nHost: {link}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    )?;
    let mut piece = vec![0; 64 << 10];
    let first = connection.read(&mut piece)?;
    let began_to_come = Instant::now();
    let starts_well = piece[..first].starts_with(b"HTTP/1.1 200 ");
    ensure!(starts_well, "the gateway has no letters");
    let mut rest_bytes = 0;
    loop {
        match connection.read(&mut piece)? {
            0 => break,
            more => rest_bytes += more,
        }
    }
    ensure!(first + rest_bytes > count, "the answer ended early");
    Ok(Fetched {
        bytes: first + rest_bytes,
        in_all: begun.elapsed(),
        rest_bytes,
        rest: began_to_come.elapsed(),
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::lab::end_to_end::served::Served;
    use crate::lab::end_to_end::throttle::ThrottledLink;

    #[test]
    fn a_link_is_measured_and_one_of_another_speed_is_refused() {
        let served = Served::start(1, false).unwrap();
        let link = ThrottledLink::open(served.address(), 8_000_000).unwrap();
        let ratio = check(link.address(), 8_000_000).unwrap();
        assert!((0.8..=1.25).contains(&ratio), "{ratio}");
        let error = check(link.address(), 4_000_000).unwrap_err().to_string();
        assert!(error.contains("too fast"), "{error}");
        let error = check(link.address(), 16_000_000).unwrap_err().to_string();
        assert!(error.contains("too slow: a body took "), "{error}");
    }
}
