//! The rule of words, on crates that break it on purpose.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xtask::Sources;
use xtask::words::{self, What};

/// A crate of this one file.
fn a_crate(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), text).unwrap();
    folder
}

fn found(text: &str) -> Vec<(usize, What)> {
    let folder = a_crate(text);
    words::breaches(&Sources::read(folder.path()).unwrap())
        .into_iter()
        .map(|breach| (breach.line, breach.what))
        .collect()
}

#[test]
fn a_module_without_a_first_line_is_found() {
    assert_eq!(
        found("/// Documented.\nfn work() {}\n"),
        [(1, What::NoFirstLine)]
    );
    assert_eq!(found("//! For work.\nfn work() {}\n"), []);
}

#[test]
fn a_module_with_more_code_than_one_idea_takes_is_found() {
    let code = |lines| "const NUMBER: u8 = 1;\n".repeat(lines);
    let of = |lines| format!("//! .\n{}", code(lines));
    assert_eq!(found(&of(601)), [(1, What::TooLong)]);
    assert_eq!(found(&of(600)), []);
    // What explains it does not count, nor what tests it.
    let comments = "/// A comment.\n\n".repeat(300);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", code(300));
    assert_eq!(found(&format!("{}{comments}{tests}", of(599))), []);
}

#[test]
fn a_note_that_leans_on_another_one_is_found() {
    let leaning = "//! .\nfn work() {\n    // SAFETY: as above.\n    unsafe { work() }\n    // SAFETY: by the caller's promise.\n    unsafe { work() }\n}\n";
    assert_eq!(
        found(leaning),
        [(3, What::LeansOnAnother), (5, What::LeansOnAnother)]
    );
    let whole = "//! .\nfn work() {\n    // SAFETY: by the caller's promise the block is alive,\n    // as above.\n    unsafe { work() }\n}\n";
    assert_eq!(found(whole), []);
}

#[test]
fn a_module_that_takes_all_of_the_one_above_is_found() {
    let tests = "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
    let named = format!("//! .\nuse std::fmt::{{self, *}};\nuse super::one;\n{tests}");
    assert_eq!(found(&named), []);
    assert_eq!(
        found(&format!("//! .\nuse super::*;\n{tests}")),
        [(2, What::TakesAllAbove)]
    );
}

#[test]
fn a_label_of_synchronization_with_one_end_is_found() {
    let one = "//! .\n// SYNC left, SYNC right: the value.\n// SYNC right\n";
    assert_eq!(found(one), [(2, What::OneEnd)]);
    let both = "//! .\n// SYNC left\n// SYNC left: it is there.\n";
    assert_eq!(found(both), []);
}

#[test]
fn a_note_that_proves_nothing_is_found() {
    let short = "//! .\nfn work() {\n    // SAFETY: it is.\n    unsafe { work() }\n}\n";
    assert_eq!(found(short), [(3, What::TooShort)]);
}

#[test]
fn a_person_in_a_comment_is_found() {
    assert_eq!(
        found("//! .\n/// Nobody's.\nfn work() {}\n"),
        [(2, What::Person)]
    );
    assert_eq!(found("//! .\nconst NAME: &str = \"nobody\";\n"), []);
}

#[test]
fn a_person_in_a_readme_is_found() {
    let folder = a_crate("//! .\n");
    for (within, text) in [
        ("", "# A crate\n\nWhoever sends wakes the receiver.\n"),
        (
            "src/queue/blocks",
            "| free | nothing lies there |\n| left | nobody appends |\n",
        ),
        ("src/queue", "The sender wakes the receiver.\n"),
        ("tests/golden", "Somebody else's bytes.\n"),
    ] {
        let within = folder.path().join(within);
        fs::create_dir_all(&within).unwrap();
        fs::write(within.join("README.md"), text).unwrap();
    }
    let breaches = words::breaches(&Sources::read(folder.path()).unwrap());
    let found: Vec<_> = breaches
        .iter()
        .map(|breach| (breach.file.as_path(), breach.line, breach.what))
        .collect();
    assert_eq!(
        found,
        [
            (Path::new("README.md"), 3, What::Person),
            (Path::new("src/queue/blocks/README.md"), 2, What::Person),
        ]
    );
}

#[test]
fn a_constant_that_does_not_say_what_it_bounds_is_found() {
    let text = "//! .\nconst MOST: u8 = 1;\nconst MOST_NAMES: u8 = 1;\nfn work() {\n    const LONG: u8 = 2;\n}\n#[cfg(test)]\nmod tests { const LONG: u8 = 3; }\n";
    assert_eq!(
        found(text),
        [(2, What::VagueConstant), (5, What::VagueConstant)]
    );
}

#[test]
fn a_name_of_two_types_is_found() {
    let folder = a_crate("//! .\nmod one;\nmod two;\n#[cfg(test)]\nmod tests { struct Three; }\n");
    fs::write(
        folder.path().join("src/one.rs"),
        "struct One;\nenum Both {}\nstruct Three;\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("src/two.rs"),
        "struct Two;\nmod inner { trait Both {} }\n",
    )
    .unwrap();
    let doubled = words::doubled_names(&Sources::read(folder.path()).unwrap());
    assert_eq!(doubled.keys().collect::<Vec<_>>(), ["Both"]);
}
