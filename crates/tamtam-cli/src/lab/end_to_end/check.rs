//! Whether a link is as fast as it should be: a plain client fetches a body over it, which costs it next to nothing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::throttle::piece;

/// A link may be this many times slower than it should be at the best of [`TRIES_OF_A_LINK`].
const SLOWEST: f64 = 1.25;
const TRIES_OF_A_LINK: usize = 30;

/// A body that is this much earlier than its bytes allow was not over the link.
const EARLIEST: f64 = 0.98;

/// What comes behind the first bytes may seem to take this much less than it should: the client may be halted before it looks at its
/// clock. Half of the tries are not.
const LEAST_MEDIAN: f64 = 0.9;

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
    let fetches = (0..TRIES_OF_A_LINK).map(|_| {
        fetch(link, count)
            .with_context(|| format!("the link of {bits_per_second} bits a second does not answer"))
    });
    best_ratio(fetches, bits_per_second)
}

/// How many times as long as computed the best of these took, of which no more are made than are needed.
fn best_ratio(fetches: impl Iterator<Item = Result<Fetched>>, bits_per_second: u64) -> Result<f64> {
    let computed = |bytes: usize| bytes as f64 * 8.0 / bits_per_second as f64;
    let mut ratios = Vec::new();
    for (place, fetched) in fetches.enumerate() {
        let fetched = fetched?;
        let in_all = fetched.in_all.as_secs_f64();
        ensure!(
            in_all >= computed(fetched.bytes) * EARLIEST,
            "the link of {bits_per_second} bits a second is too fast: {} bytes took {in_all} s",
            fetched.bytes
        );
        // A client that came late to the first piece finds others behind it, and says nothing about the link.
        let came_late = fetched.first_bytes > piece(bits_per_second);
        if !came_late {
            ratios.push(fetched.rest.as_secs_f64() / computed(fetched.rest_bytes()));
            ratios.sort_by(f64::total_cmp);
        }
        let least = least_of(&ratios);
        // One that seems early may be that, behind a slow beginning: further tries show it, by one whose whole is early.
        let enough = if least < LEAST_MEDIAN { 12 } else { 3 };
        if place + 1 >= enough && least <= SLOWEST && median_of(&ratios) >= LEAST_MEDIAN {
            return Ok(least);
        }
    }
    let (least, median) = (least_of(&ratios), median_of(&ratios));
    // The whole may have taken long enough where the gateway was slow to begin.
    ensure!(
        median >= LEAST_MEDIAN,
        "the link of {bits_per_second} bits a second is too fast: what came behind the first bytes took {median:.2} times as \
         long as computed"
    );
    ensure!(
        least.is_finite(),
        "the link of {bits_per_second} bits a second could not be measured: this machine let each of {TRIES_OF_A_LINK} tries wait \
         before it could read; is it busy with something else?"
    );
    ensure!(
        least <= SLOWEST,
        "the link of {bits_per_second} bits a second is too slow: a body took {least:.2} times as long as computed, at the \
         best of {TRIES_OF_A_LINK} tries; is this machine busy with something else?"
    );
    Ok(least)
}

/// The least of these, which are sorted; infinite if there are none.
fn least_of(sorted: &[f64]) -> f64 {
    sorted.first().copied().unwrap_or(f64::INFINITY)
}

/// The one in the middle of these, which are sorted; infinite if there are none.
fn median_of(sorted: &[f64]) -> f64 {
    let middle = sorted.get(sorted.len() / 2);
    middle.copied().unwrap_or(f64::INFINITY)
}

/// What came, with its headers, and how long it took.
struct Fetched {
    bytes: usize,
    in_all: Duration,
    /// How many of them came at once, first of all.
    first_bytes: usize,
    /// How long those behind the first took.
    rest: Duration,
}

impl Fetched {
    fn rest_bytes(&self) -> usize {
        self.bytes - self.first_bytes
    }
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
        first_bytes: first,
        rest: began_to_come.elapsed(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Fetched, best_ratio, check};
    use crate::lab::end_to_end::served::Served;
    use crate::lab::end_to_end::throttle::ThrottledLink;

    /// Over a link of 8 Mbit/s: a millisecond for each 1,000 bytes.
    const BITS: u64 = 8_000_000;

    /// 10,000 bytes, `first` of them at once, which came after `before` and took so many milliseconds in all.
    fn fetched(first: usize, before: u64, in_all: u64) -> Fetched {
        Fetched {
            bytes: 10_000,
            in_all: Duration::from_millis(in_all),
            first_bytes: first,
            rest: Duration::from_millis(in_all - before),
        }
    }

    fn ratio(fetches: Vec<Fetched>) -> Result<f64, String> {
        best_ratio(fetches.into_iter().map(Ok), BITS).map_err(|error| error.to_string())
    }

    #[test]
    fn the_best_of_some_bodies_says_how_fast_a_link_is() {
        let [slow, good, slower] = [14, 10, 20].map(|in_all| fetched(1_000, 1, in_all));
        assert!((ratio(vec![slow, good, slower]).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_body_whose_client_came_late_says_nothing_about_a_link() {
        let late = || fetched(9_000, 29, 30);
        let error = ratio((0..30).map(|_| late()).collect()).unwrap_err();
        assert!(error.contains("could not be measured"), "{error}");
        let twice = ratio(vec![late(), late(), late(), fetched(1_000, 1, 19)]).unwrap_err();
        assert!(twice.contains("took 2.00 times as long"), "{twice}");
    }

    /// On a busy machine the first three looked as they should, one of them early; the fourth shows the link as it is.
    #[test]
    fn a_link_that_is_seen_to_be_too_fast_late_is_refused() {
        let good = || fetched(1_000, 1, 10);
        let tries = vec![good(), fetched(1_000, 60, 64), good(), fetched(1_000, 1, 5)];
        let error = ratio(tries).unwrap_err();
        assert!(error.contains("too fast"), "{error}");
    }

    /// A gateway that was slow to begin made the whole long enough.
    #[test]
    fn a_link_that_is_too_fast_behind_a_slow_beginning_is_refused() {
        let early = || fetched(1_000, 60, 64);
        let error = ratio((0..30).map(|_| early()).collect()).unwrap_err();
        assert!(error.contains("too fast"), "{error}");
        // A client that was halted once before it looked at its clock says nothing.
        let good = || fetched(1_000, 1, 10);
        ratio(vec![good(), early(), good()]).unwrap();
    }

    #[test]
    fn a_link_is_measured_and_one_that_is_faster_than_it_should_be_is_refused() {
        let served = Served::start(1, false).unwrap();
        let link = ThrottledLink::open(served.address(), BITS).unwrap();
        match check(link.address(), BITS) {
            Ok(ratio) => assert!((0.9..=1.25).contains(&ratio), "{ratio}"),
            // The machine of a test may have other work all the time.
            Err(error) => assert!(error.to_string().contains("busy"), "{error}"),
        }
        let error = check(link.address(), BITS / 2).unwrap_err().to_string();
        assert!(error.contains("too fast"), "{error}");
    }
}
