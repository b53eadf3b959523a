/// A link to a client, of which only the speed counts: no latency, no headers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Its speed in bits a microsecond, which is megabits a second.
    pub megabits_per_second: f64,
    /// The metric that says when a table is ready behind it: encoded, sent and decoded, in microseconds.
    pub metric: &'static str,
}

/// The links for which totals are computed.
pub const LINKS: [Link; 4] = [
    Link {
        megabits_per_second: 1.0,
        metric: "total_us_1mbit",
    },
    Link {
        megabits_per_second: 8.0,
        metric: "total_us_8mbit",
    },
    Link {
        megabits_per_second: 100.0,
        metric: "total_us_100mbit",
    },
    Link {
        megabits_per_second: 1000.0,
        metric: "total_us_1000mbit",
    },
];

impl Link {
    /// Its speed in bits a second.
    #[must_use]
    pub fn bits_per_second(self) -> u64 {
        (self.megabits_per_second * 1e6) as u64
    }

    /// How many microseconds so many bytes take.
    #[must_use]
    pub fn microseconds(self, bytes: f64) -> f64 {
        bytes * 8.0 / self.megabits_per_second
    }
}

#[cfg(test)]
mod tests {
    use super::LINKS;

    #[test]
    fn the_articles_string_takes_20_ms_at_8_megabits() {
        assert_eq!(LINKS[1].microseconds(20_581.0), 20_581.0);
        assert_eq!(LINKS[2].microseconds(100.0), 8.0);
        assert_eq!(LINKS[2].bits_per_second(), 100_000_000);
        for link in LINKS {
            assert_eq!(
                link.metric,
                format!("total_us_{}mbit", link.megabits_per_second)
            );
        }
    }
}
