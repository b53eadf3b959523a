//! How a thread waits: [`Wait`], and how it is written in configuration.

use core::fmt;
use core::str::FromStr;

/// How an endpoint waits when there is nothing for it to do.
///
/// The default, [`Wait::Adaptive`], is meant to be right everywhere. The others are for those who
/// know their machine better, and for measuring.
///
/// | | latency when the peer answers at once | processor time while waiting |
/// |---|---|---|
/// | `Adaptive` | near `Spin` while answers come quickly | none soon after they stop |
/// | `Spin` | lowest if each waiter has a core of its own | a whole core |
/// | `Yield` | low, also on one core | a whole core that others may take |
/// | `Park` | a wake-up by the system: 2 µs on one core, tens of µs if a core must leave idle | none |
///
/// # Examples
///
/// ```
/// use tamtam_wait::Wait;
///
/// assert_eq!(Wait::default(), Wait::Adaptive);
/// assert_eq!("park".parse::<Wait>()?, Wait::Park);
/// assert_eq!(Wait::Yield.to_string(), "yield");
/// # Ok::<(), tamtam_wait::ParseWaitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// Looks again for as long as that has paid off lately, at most about the price of a wake-up;
    /// gives way at once where the peer shares the core; then sleeps.
    #[default]
    Adaptive,
    /// Looks again without end. Every 50 µs or so the core is offered to others once, so that two
    /// spinners on one core still get on.
    Spin,
    /// Offers the core to others between two looks, without end.
    Yield,
    /// Sleeps at once.
    Park,
}

impl Wait {
    /// All strategies, in the order of their declaration.
    pub const ALL: [Wait; 4] = [Wait::Adaptive, Wait::Spin, Wait::Yield, Wait::Park];

    /// The strategy's name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Wait::Adaptive => "adaptive",
            Wait::Spin => "spin",
            Wait::Yield => "yield",
            Wait::Park => "park",
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of parsing a [`Wait`]: holds the text that is none of its names.
///
/// # Examples
///
/// ```
/// use tamtam_wait::Wait;
///
/// assert_eq!("park".parse(), Ok(Wait::Park));
/// let error = "sleep".parse::<Wait>().unwrap_err();
/// assert_eq!(error.to_string(), r#""sleep" is no way to wait; use adaptive, spin, yield or park"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseWaitError(String);

impl fmt::Display for ParseWaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no way to wait; use adaptive, spin, yield or park",
            self.0
        )
    }
}

impl std::error::Error for ParseWaitError {}

impl FromStr for Wait {
    type Err = ParseWaitError;

    fn from_str(text: &str) -> Result<Self, ParseWaitError> {
        Wait::ALL
            .into_iter()
            .find(|wait| wait.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| ParseWaitError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for wait in Wait::ALL {
            assert_eq!(wait.name().parse(), Ok(wait));
            assert_eq!(wait.to_string().to_uppercase().parse(), Ok(wait));
        }
        let error = "nap".parse::<Wait>().unwrap_err();
        assert!(error.to_string().contains("\"nap\""));
    }
}
