//! What test programs print, read back: how many tests passed, how long each took, what the failed ones said.

use std::time::Duration;

/// How many tests ran.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Sums {
    /// Those that passed and those that failed.
    pub(crate) fn all(self) -> u64 {
        self.passed + self.failed
    }
}

/// Adds up the closing lines of test programs. Where there is none, the last line `N passed, N failed` counts, by which other
/// languages' runners close.
pub(crate) fn sums(log: &str) -> Sums {
    let mut sums = Sums::default();
    let (mut seen, mut plain) = (false, Sums::default());
    for line in log.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            seen = true;
            sums.passed += count(result, "passed");
            sums.failed += count(result, "failed");
        } else if let Some(found) = plain_sums(line) {
            plain = found;
        }
    }
    if seen { sums } else { plain }
}

/// How the line begins that names a part of a step, whose programs follow.
pub(crate) const PART: &str = "=== ";

/// How many tests ran in the last part of a log, or in all of one without parts.
pub(crate) fn sums_of_last_part(log: &str) -> Sums {
    sections(log, PART)
        .last()
        .map_or_else(|| sums(log), |(_, part)| sums(part))
}

/// The programs of these crates of which no test ran, and the crates that have no program in the log.
pub(crate) fn idle<'a>(log: &'a str, packages: &[&'a str]) -> Vec<&'a str> {
    let programs = sections(log, HEADING);
    let package = |name: &'a str| name.split(' ').next().unwrap_or_default();
    let without_tests = programs
        .iter()
        .filter(|(name, output)| packages.contains(&package(name)) && sums(output).all() == 0)
        .map(|(name, _)| *name);
    let without_programs = packages
        .iter()
        .copied()
        .filter(|wanted| programs.iter().all(|(name, _)| package(name) != *wanted));
    without_tests.chain(without_programs).collect()
}

/// What stands behind `mark` in lines that begin with it, each with the lines up to the next one.
fn sections<'a>(log: &'a str, mark: &str) -> Vec<(&'a str, &'a str)> {
    let mut begins: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    for line in log.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix(mark) {
            begins.push((name.trim_end(), at));
        }
        at += line.len();
    }
    let ends = begins.iter().skip(1).map(|(_, at)| *at).chain([log.len()]);
    let sections = begins.iter().zip(ends);
    sections
        .map(|((name, begin), end)| (*name, &log[*begin..end]))
        .collect()
}

/// The number before `word` in `ok. 5 passed; 0 failed; ..`.
fn count(result: &str, word: &str) -> u64 {
    let words: Vec<_> = result
        .split([' ', ';'])
        .filter(|part| !part.is_empty())
        .collect();
    words
        .windows(2)
        .find(|pair| pair[1] == word)
        .and_then(|pair| pair[0].parse().ok())
        .unwrap_or(0)
}

fn plain_sums(line: &str) -> Option<Sums> {
    let (passed, rest) = line.split_once(" passed, ")?;
    let failed = rest.split_once(" failed")?.0;
    Some(Sums {
        passed: passed.parse().ok()?,
        failed: failed.parse().ok()?,
    })
}

/// One test and the time that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timed {
    /// The program, as [`HEADING`] names it, and the test.
    pub(crate) name: String,
    pub(crate) took: Duration,
}

/// How the line begins that names a program before its output.
pub(crate) const HEADING: &str = "--- ";

/// The tests of which the log says how long they took: `test NAME ... ok <1.234s>`.
pub(crate) fn times(log: &str) -> Vec<Timed> {
    let mut program = "";
    let mut times = Vec::new();
    for line in log.lines() {
        if let Some(heading) = line.strip_prefix(HEADING) {
            program = heading;
        }
        let Some((name, rest)) = line
            .strip_prefix("test ")
            .and_then(|test| test.rsplit_once(" ... "))
        else {
            continue;
        };
        // A test may run its program again for another one, whose name then stands before its own.
        let name = name.rsplit_once(" ... test ").map_or(name, |(_, own)| own);
        let took = rest
            .strip_suffix("s>")
            .and_then(|rest| rest.rsplit_once('<'))
            .and_then(|(_, seconds)| seconds.parse().ok())
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if let Some(took) = took {
            let name = format!("{program}: {name}");
            times.push(Timed { name, took });
        }
    }
    times
}

/// What one wants to see of the log of a failed step: all of a short one; of a long one what the failed tests said, and the
/// end.
pub(crate) fn excerpt(log: &str) -> String {
    const WHOLE_LINES: usize = 200;
    const END_LINES: usize = 60;
    let lines: Vec<_> = log.lines().collect();
    if lines.len() <= WHOLE_LINES {
        return lines.join("\n");
    }
    let mut inside = false;
    let mut shown: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| {
            inside = (inside || *line == "failures:") && !line.starts_with("test result:");
            inside
        })
        .take(WHOLE_LINES)
        .collect();
    shown.push("---------- the end of it");
    shown.extend(&lines[lines.len() - END_LINES..]);
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "
   Compiling tamtam-wait v0.1.0
--- tamtam-wait: its own
running 3 tests
test habit::tests::table ... ok <0.250s>
test list::tests::order ... FAILED <1.500s>
test slow has been running for over 60 seconds
test list::tests::skipped ... ignored
failures:

---- list::tests::order stdout ----
it is out of order

failures:
    list::tests::order

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 4 filtered out; finished in 1.50s
--- tamtam-wait: it
test a ... ok <0.001s>
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn closing_lines_are_added_up() {
        let expected = Sums {
            passed: 13,
            failed: 1,
        };
        assert_eq!(sums(LOG), expected);
    }

    #[test]
    fn a_plain_closing_line_counts_where_there_is_no_other() {
        let log = "1 passed, 9 failed\nsomething\n466 passed, 2 failed\ndone\n";
        let expected = Sums {
            passed: 466,
            failed: 2,
        };
        assert_eq!(sums(log), expected);
        assert_eq!(sums(&format!("{LOG}{log}")).passed, 13);
        assert_eq!(sums("many passed, few failed\n"), Sums::default());
        assert_eq!(sums(""), Sums::default());
    }

    /// The sums of the whole log hid that nothing asked the second one.
    #[test]
    fn what_ran_in_one_part_does_not_count_for_the_next() {
        let one = format!("=== MariaDB\n{LOG}");
        assert_eq!(sums_of_last_part(&one), sums(LOG));
        let none = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out";
        let both = format!("{one}=== PostgreSQL\n--- tamtam-rows servers\n{none}\n");
        assert_eq!(sums_of_last_part(&both), Sums::default());
        assert_eq!(sums_of_last_part(LOG), sums(LOG));
        assert_eq!(sums_of_last_part(""), Sums::default());
    }

    /// One sum of all crates hid it.
    #[test]
    fn a_program_without_tests_is_named_whatever_others_ran() {
        let ran = |count| format!("test result: ok. {count} passed; 0 failed; 9 filtered out\n");
        let log = [
            ("alike (unit tests of tamtam_alike)", 0),
            ("tamtam-wait (unit tests of tamtam_wait)", 26),
            ("tamtam-wait it", 3),
            ("tamtam-ipc under Miri", 0),
        ]
        .map(|(program, count)| format!("{HEADING}{program}\n{}", ran(count)))
        .concat();
        assert!(idle(&log, &["tamtam-wait"]).is_empty());
        assert_eq!(
            idle(&log, &["tamtam-wait", "tamtam-ipc", "tamtam-link"]),
            ["tamtam-ipc under Miri", "tamtam-link"]
        );
        assert_eq!(idle("", &["tamtam-wait"]), ["tamtam-wait"]);
    }

    #[test]
    fn each_test_is_named_with_its_program() {
        let times = times(LOG);
        let found: Vec<_> = times
            .iter()
            .map(|timed| (timed.name.as_str(), timed.took.as_millis()))
            .collect();
        assert_eq!(
            found,
            [
                ("tamtam-wait: its own: habit::tests::table", 250),
                ("tamtam-wait: its own: list::tests::order", 1500),
                ("tamtam-wait: it: a", 1),
            ]
        );
    }

    #[test]
    fn a_test_that_another_one_runs_does_not_give_it_its_name() {
        let found = times("test a::serves ... test a::delivers ... ok <1.000s>\n");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, ": a::delivers");
    }

    #[test]
    fn times_that_are_none_are_left_out() {
        for line in ["ok <s>", "ok <-1.0s>", "ok <1e999s>", "ok 1.0s>", "ok"] {
            assert_eq!(times(&format!("test a ... {line}")), [], "{line}");
        }
    }

    #[test]
    fn a_long_log_is_cut_to_failures_and_its_end() {
        assert_eq!(excerpt(LOG), LOG.lines().collect::<Vec<_>>().join("\n"));
        let long = format!("{}{LOG}{}", "early\n".repeat(300), "late\n".repeat(100));
        let shown = excerpt(&long);
        assert!(shown.contains("it is out of order"), "{shown}");
        assert!(shown.ends_with("late\nlate"), "{shown}");
        assert!(!shown.contains("early"), "{shown}");
        assert!(shown.lines().count() < 100, "{shown}");
    }
}
