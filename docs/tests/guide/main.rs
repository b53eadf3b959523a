//! What is asked of the guide beside that its code works: every page is in the table of contents, links lead
//! somewhere, promises name tests that exist, and figures agree with what they describe.

#![forbid(unsafe_code)]

mod book;
mod costs;
mod examples;
mod promises;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the guide.
fn guide() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The repository's root.
fn root() -> PathBuf {
    guide().join("..")
}

/// The text of a page, by its path in `src`.
fn page(path: &str) -> String {
    let file = guide().join("src").join(path);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The text of a file, by its path in the repository.
fn file(path: &str) -> String {
    let file = root().join(path);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A text without what stands in HTML comments, with as many lines.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        let (comment, after) = after.split_once("-->").unwrap_or((after, ""));
        kept.extend(comment.chars().filter(|character| *character == '\n'));
        rest = after;
    }
    kept + rest
}
