//! The project's README shows the same lines of code as this crate's README, whose lines are
//! compiled and run as a doc test: so the front page cannot show code that does not work.

#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

/// The first block of Rust code in a Markdown text.
fn first_rust_block(markdown: &str) -> &str {
    let (_, after) = markdown
        .split_once("```rust\n")
        .expect("there is a block of Rust code");
    let (block, _) = after.split_once("```").expect("the block ends");
    block
}

#[test]
fn front_page_shows_the_tested_lines() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    if !root.join("scripts/test").exists() {
        // Out of its package this crate has no front page beside it.
        return;
    }
    let front_page = fs::read_to_string(root.join("README.md")).expect("the project has a README");
    let own_page = fs::read_to_string(here.join("README.md")).expect("the crate has a README");
    assert_eq!(first_rust_block(&front_page), first_rust_block(&own_page));
}
