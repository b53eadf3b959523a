/// What the packed encoding aims at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Small at the speed of memory: the least time from one program to another at most link speeds.
    #[default]
    Packed,
    /// Smaller by some hundredths, for two to three times the time: mixed radix, and an entropy coder wherever it
    /// saves something.
    Small,
    /// Every value at its full width, where it can be read in place.
    Plain,
}

/// Below this speed in bits a second, bytes are what counts.
const SMALL_BELOW: u64 = 100_000_000;
/// From this speed on, work is what counts.
const PLAIN_FROM: u64 = 5_000_000_000;

impl Mode {
    /// The mode in which a table is ready first behind a link of this speed, in bits a second: small below 100 Mbit/s,
    /// plain from 5 Gbit/s on, packed between.
    ///
    /// Each mode saves bytes of the next for more work, so that for each table there are two speeds at which they change
    /// places. On ten tables of the lab, encoded and decoded by Rust on one processor, these lay at 45 to 477 Mbit/s and at
    /// 4.2 to 42 Gbit/s; tables of many texts have the highest of the first and the lowest of the second. In a browser
    /// decoding takes longer, so that both lie lower there. Where it matters, try `tamtam rows` on the table.
    ///
    /// ```
    /// use tamtam_rows::packed::Mode;
    ///
    /// assert_eq!(Mode::for_link(8_000_000), Mode::Small);
    /// assert_eq!(Mode::for_link(1_000_000_000), Mode::Packed);
    /// assert_eq!(Mode::for_link(u64::MAX), Mode::Plain); // within a machine
    /// ```
    #[must_use]
    pub const fn for_link(bits_per_second: u64) -> Mode {
        match bits_per_second {
            0..SMALL_BELOW => Mode::Small,
            SMALL_BELOW..PLAIN_FROM => Mode::Packed,
            PLAIN_FROM.. => Mode::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn the_faster_the_link_the_less_the_work() {
        let modes = [0, 99_999_999, 100_000_000, 4_999_999_999, 5_000_000_000].map(Mode::for_link);
        assert_eq!(
            modes,
            [
                Mode::Small,
                Mode::Small,
                Mode::Packed,
                Mode::Packed,
                Mode::Plain
            ]
        );
    }
}
