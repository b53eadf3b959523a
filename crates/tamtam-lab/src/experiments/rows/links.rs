//! The links to clients, of which only the speed counts.

/// A link to a client, of which only the speed counts: no latency, no headers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Its speed in bits a microsecond, which is megabits a second.
    pub megabits_per_second: f64,
    /// The metric that says when a table is ready behind it: encoded, sent and decoded, in microseconds.
    pub metric: &'static str,
    /// The end of the names of metrics that are of this link alone.
    pub name: &'static str,
}

/// The links for which totals are computed.
pub const LINKS: [Link; 4] = [
    Link {
        megabits_per_second: 1.0,
        metric: "total_us_1mbit",
        name: "1mbit",
    },
    Link {
        megabits_per_second: 8.0,
        metric: "total_us_8mbit",
        name: "8mbit",
    },
    Link {
        megabits_per_second: 100.0,
        metric: "total_us_100mbit",
        name: "100mbit",
    },
    Link {
        megabits_per_second: 1000.0,
        metric: "total_us_1000mbit",
        name: "1000mbit",
    },
];

impl Link {
    /// Its speed in bits a second.
    #[must_use]
    pub fn bits_per_second(self) -> u64 {
        (self.megabits_per_second * 1e6) as u64
    }

    /// What a metric is called where it is of this link alone, as with a form that is another one on each.
    #[must_use]
    pub fn alone(self, metric: &str) -> String {
        format!("{metric}_{}", self.name)
    }

    /// How many microseconds so many bytes take.
    #[must_use]
    pub fn microseconds(self, bytes: f64) -> f64 {
        bytes * 8.0 / self.megabits_per_second
    }

    /// After how many microseconds a table is ready to use behind it, which takes so many to encode and to decode.
    #[must_use]
    pub fn ready(self, encode: f64, bytes: f64, decode: f64) -> f64 {
        encode + self.microseconds(bytes) + decode
    }
}

#[cfg(test)]
mod tests {
    use super::LINKS;

    #[test]
    fn the_articles_string_takes_20_ms_at_8_megabits() {
        assert_eq!(LINKS[1].microseconds(20_581.0), 20_581.0);
        assert_eq!(LINKS[2].microseconds(100.0), 8.0);
        assert_eq!(LINKS[2].ready(3.0, 100.0, 2.0), 13.0);
        assert_eq!(LINKS[2].bits_per_second(), 100_000_000);
        for link in LINKS {
            assert_eq!(link.name, format!("{}mbit", link.megabits_per_second));
            assert_eq!(link.metric, link.alone("total_us"));
        }
    }
}
