//! Why something failed, in one line.

/// The error with its causes, joined by colons, each said once.
///
/// Libraries do not agree on who says what: some print their cause and hand it out as well, so that the plain chain says
/// it twice ("the query failed: no such table: no such table").
#[must_use]
pub fn reason(error: &anyhow::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if said.iter().any(|before| before.contains(&text)) {
            continue;
        }
        // A cause that begins with what was said goes on from there.
        while said.pop_if(|before| text.starts_with(&**before)).is_some() {}
        said.push(text);
    }
    said.join(": ")
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use anyhow::{Context, Error};

    use super::reason;

    /// Prints its cause and hands it out, too.
    #[derive(Debug)]
    struct Talkative(std::io::Error);

    impl fmt::Display for Talkative {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "the query failed: {}", self.0)
        }
    }

    impl std::error::Error for Talkative {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_cause_is_said_once() {
        let failed = || Error::new(Talkative(std::io::Error::other("no such table")));
        assert_eq!(
            format!("{:#}", failed()),
            "the query failed: no such table: no such table"
        );
        assert_eq!(reason(&failed()), "the query failed: no such table");
        let within = failed().context("cannot read a.db");
        assert_eq!(
            reason(&within),
            "cannot read a.db: the query failed: no such table"
        );
    }

    #[test]
    fn a_context_that_two_gave_is_said_once() {
        let twice = Err::<(), _>(Error::msg("it is empty"))
            .context("cannot read a.csv")
            .context("cannot read a.csv")
            .unwrap_err();
        assert_eq!(reason(&twice), "cannot read a.csv: it is empty");
        let more = Error::msg("cannot read a.csv (line 3)").context("cannot read a.csv");
        assert_eq!(reason(&more), "cannot read a.csv (line 3)");
    }

    #[test]
    fn an_error_alone_is_itself() {
        assert_eq!(reason(&Error::msg("no room")), "no room");
    }
}
