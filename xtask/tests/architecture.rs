//! The map of the project names what is there.

use std::fs;
use std::path::Path;

/// The paths that a page names as code: with a slash, and no blank or sign that no file of ours has.
fn paths_of(page: &str) -> Vec<&str> {
    let is_path = |code: &&str| {
        code.contains('/')
            && !code.contains("NAME")
            && code
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || "/._-".contains(sign))
    };
    page.split('`').skip(1).step_by(2).filter(is_path).collect()
}

#[test]
fn paths_are_found_in_a_page() {
    let page = "See `crates/one/src/lib.rs`, `Sender::send`, `scripts/test --only x` and `docs`; also `peers/rust`.";
    assert_eq!(paths_of(page), ["crates/one/src/lib.rs", "peers/rust"]);
}

#[test]
fn each_file_that_the_map_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths = paths_of(&page);
    assert!(paths.len() > 40, "{} paths were found", paths.len());
    let missing: Vec<_> = paths
        .into_iter()
        .filter(|path| !root.join(path).exists())
        .collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names what is not there: {missing:?}"
    );
}
