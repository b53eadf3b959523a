//! The pages of promises: each has a proof, and each proof is a test that exists.

use crate::{file, page, without_comments};

/// The pages that promise something, and how many promises they have at least.
const PAGES: [(&str, usize); 2] = [("promises.md", 25), ("distances.md", 14)];

/// From this heading on nothing is promised.
const REST: &str = "## What is not promised";

/// A promise and the tests that prove it, by file and name.
struct Promise {
    line: usize,
    proofs: Vec<(String, String)>,
}

/// The promises of a page: each begins with `- **`, and below it stands `` - `file`: `name`, `name` ``.
fn promises(text: &str) -> Vec<Promise> {
    let mut promises: Vec<Promise> = Vec::new();
    let text = without_comments(text);
    let promised = text.lines().take_while(|line| *line != REST);
    for (number, line) in promised.enumerate() {
        if line.starts_with("- **") {
            promises.push(Promise {
                line: number + 1,
                proofs: Vec::new(),
            });
        } else if let Some(proof) = line.strip_prefix("  - ") {
            let (path, names) = proof
                .split_once("`: `")
                .unwrap_or_else(|| panic!("line {}: no file and names", number + 1));
            let path = path.trim_start_matches('`').to_owned();
            let names = names.trim_end_matches('`').split("`, `");
            let promise = promises
                .last_mut()
                .expect("a promise stands before its proof");
            promise
                .proofs
                .extend(names.map(|name| (path.clone(), name.to_owned())));
        }
    }
    promises
}

/// The first cells of the rows of a page's table, without what heads it.
fn rows(text: &str) -> Vec<String> {
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// What the promises of a page are called.
fn titles(text: &str) -> Vec<String> {
    let titles = text.lines().filter_map(|line| line.strip_prefix("- **"));
    let titles = titles.filter_map(|rest| rest.split_once(".**"));
    titles.map(|(title, _)| title.to_lowercase()).collect()
}

/// Whether a source has a test of this name: a function marked as one, or one that is run for every flavour
/// (the compiler sees to it that such a function is there).
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let beginning = format!("fn {name}(");
    let marked = lines
        .iter()
        .position(|line| line.starts_with(&beginning))
        .is_some_and(|at| {
            lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
                .any(|line| *line == "#[test]")
        });
    marked
        || source
            .split("for_every_flavour!(")
            .skip(1)
            .filter_map(|list| list.split_once(')'))
            .any(|(list, _)| list.split(',').any(|entry| entry.trim() == name))
        // Inside the macro that lists the tests of a program with a `main` of its own.
        || source
            .split("tests! {")
            .skip(1)
            .filter_map(|list| list.split_once('}'))
            .any(|(list, _)| list.split_whitespace().any(|entry| entry == name))
        // Inside the macro that runs its functions for every channel between processes.
        || source
            .split("for_each_channel! {")
            .skip(1)
            .filter_map(|list| list.split_once("\n}"))
            .any(|(list, _)| {
                let mut entries = list.split_whitespace();
                entries.any(|entry| entry.trim_end_matches(';') == name)
            })
        // In the list of a program with a `main` of its own, by the name of the function.
        || source
            .split("const TESTS: &[(&str, fn())] = &[")
            .skip(1)
            .filter_map(|list| list.split_once("];"))
            .any(|(list, _)| list.split([',', '(', ')']).any(|entry| entry.trim() == name))
        // Inside the macro that runs its functions for every kind of channel with one owner an end.
        || source
            .split("for_each_kind! {")
            .skip(1)
            .filter_map(|list| list.split_once("\n}"))
            .any(|(list, _)| {
                list.lines()
                    .any(|line| line.trim() == format!("fn {name}(open) {{"))
            })
}

#[test]
fn each_promise_has_a_proof() {
    assert!(
        page("promises.md").contains(REST),
        "the page says what is not promised"
    );
    for (name, fewest) in PAGES {
        let promises = promises(&page(name));
        assert!(
            promises.len() >= fewest,
            "{name}: {} promises",
            promises.len()
        );
        for promise in &promises {
            assert!(
                !promise.proofs.is_empty(),
                "{name}:{}: no test is named",
                promise.line
            );
        }
    }
}

#[test]
fn each_row_of_the_distances_has_its_tests() {
    let page = page("distances.md");
    let (rows, titles) = (rows(&page), titles(&page));
    assert!(rows.len() >= 14, "{rows:?}");
    let rows: Vec<_> = rows.iter().map(|row| row.to_lowercase()).collect();
    // In the order of the table, and behind them what is not in it.
    assert_eq!(titles[..rows.len()], rows);
}

#[test]
fn each_proof_is_a_test_that_exists() {
    let mut missing = Vec::new();
    for (page_name, _) in PAGES {
        for promise in promises(&page(page_name)) {
            for (path, name) in promise.proofs {
                if !has_test(&file(&path), &name) {
                    missing.push(format!(
                        "{page_name}:{}: {path} has no test {name}",
                        promise.line
                    ));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_missing_proof_is_noticed() {
    let source = "
        for_every_flavour!(
            on_all,
            on_all_too,
        );
        fn on_all(flavour: Flavour) {}
        #[test]
        #[cfg_attr(miri, ignore)]
        fn marked() {}
        fn helper() {}
        // fn commented_out() {}
    ";
    assert!(has_test(source, "on_all"));
    assert!(has_test(source, "marked"));
    for name in ["helper", "commented_out", "on", "mark"] {
        assert!(!has_test(source, name), "{name}");
    }

    let page = "
- **One.** With
  more words.
  - `a.rs`: `first`, `second`
  - `b.rs`: `third`
- **Two.**
<!-- - **Three.**
  - `c.rs`: `fourth`
-->
## What is not promised
- **Four.**
";
    let promises = promises(page);
    let found: Vec<_> = promises
        .iter()
        .map(|one| (one.line, one.proofs.len()))
        .collect();
    assert_eq!(found, [(2, 3), (6, 0)]);
}
