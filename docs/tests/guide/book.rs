//! The book as a whole: its table of contents, its links, and the labels of its code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::{file, guide, page, root};

/// Where the repository's files are to be seen; links to it are checked against the files here.
const REPOSITORY: &str = "https://github.com/tamtam-rs/tamtam/blob/main/";

fn parse(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

/// Every Markdown file of the book but its table of contents, by its path in `src`.
fn files() -> BTreeSet<String> {
    fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("the folder of the pages") {
            let entry = entry.expect("an entry of the folder");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                collect(&entry.path(), &format!("{name}/"), found);
            } else if name.ends_with(".md") && name != "SUMMARY.md" {
                found.insert(name);
            }
        }
    }
    let mut found = BTreeSet::new();
    collect(&guide().join("src"), "", &mut found);
    found
}

/// Where the links of a text lead to.
fn links(text: &str) -> Vec<String> {
    parse(text)
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        })
        .collect()
}

/// The anchors of a page's headings, made as mdBook makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in parse(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading.take().expect("a heading has begun");
                let anchor = heading
                    .trim()
                    .chars()
                    .filter_map(|character| match character {
                        _ if character.is_alphanumeric() || "_-".contains(character) => {
                            Some(character.to_ascii_lowercase())
                        }
                        _ if character.is_whitespace() => Some('-'),
                        _ => None,
                    })
                    .collect::<String>();
                assert!(
                    found.insert(anchor),
                    "two headings of one page are the same: {heading}"
                );
            }
            _ => {}
        }
    }
    found
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// What is wrong with a link from the page at `from`, if anything is.
fn fault(from: &str, link: &str) -> Option<String> {
    if let Some(path) = link.strip_prefix(REPOSITORY) {
        return (!root().join(path).exists()).then(|| format!("the repository has no {path}"));
    }
    if link.starts_with("https://") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() {
        PathBuf::from(from)
    } else {
        plain(&Path::new(from).with_file_name("").join(path))
    };
    let target = target.to_str().expect("paths are text");
    if !files().contains(target) {
        return Some(format!("there is no page {target}"));
    }
    (!anchor.is_empty() && !anchors(&page(target)).contains(anchor))
        .then(|| format!("{target} has no heading #{anchor}"))
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let listed: Vec<_> = links(&page("SUMMARY.md"));
    let set: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "a page is listed twice");
    assert_eq!(set, files());
}

#[test]
fn the_code_of_every_page_is_tested() {
    let tested: BTreeSet<_> = tamtam_guide::PAGES
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(tested, files(), "pages.rs lists other pages than there are");
}

#[test]
fn the_contents_name_each_page_by_its_title() {
    for line in page("SUMMARY.md").lines() {
        let Some((title, path)) = line.split_once("](") else {
            continue;
        };
        let title = title.split_once('[').expect("a link has a text").1;
        let path = path.trim_end_matches(')');
        let text = page(path);
        let first = text.lines().next().unwrap_or_default();
        // The introduction is the book's front page and has the book's name.
        if path != "introduction.md" {
            assert_eq!(first, format!("# {title}"), "{path}");
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut faults = Vec::new();
    for from in files() {
        for link in links(&page(&from)) {
            if let Some(fault) = fault(&from, &link) {
                faults.push(format!("{from}: {link}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_wrong_link_is_noticed() {
    assert_eq!(fault("which.md", "slot.md"), None);
    assert_eq!(fault("channel/full.md", "../slot.md#the-verbs"), None);
    assert_eq!(fault("slot.md", "#the-verbs"), None);
    assert!(fault("channel/full.md", "slot.md").is_some());
    assert!(fault("which.md", "slot.md#the-adverbs").is_some());
    assert!(fault("which.md", &format!("{REPOSITORY}crates/nothing.rs")).is_some());
}

#[test]
fn every_inclusion_finds_its_part() {
    let mut included = 0;
    for from in files() {
        for part in page(&from).split("{{#include ").skip(1) {
            let (what, _) = part.split_once("}}").expect("an inclusion ends");
            let (path, anchor) = what.split_once(':').expect("a part is included");
            let text = page(
                plain(&Path::new(&from).with_file_name(path))
                    .to_str()
                    .expect("paths are text"),
            );
            for mark in ["ANCHOR", "ANCHOR_END"] {
                assert!(
                    text.contains(&format!("<!-- {mark}: {anchor} -->")),
                    "{from} includes {what}, which is not there"
                );
            }
            included += 1;
        }
    }
    assert!(included > 0, "the decision page includes the costs");
}

/// Code without a label would be taken for Rust. Code that is not tested says why, in a comment before it.
#[test]
fn code_is_labelled_and_tested() {
    let mut left_out = 0;
    for path in files() {
        let text = page(&path);
        for event in parse(&text) {
            if let Event::Start(Tag::CodeBlock(kind)) = event {
                let CodeBlockKind::Fenced(label) = kind else {
                    panic!("{path}: code is fenced, not indented");
                };
                // JavaScript is run by tests of clients/web/test, of these pages.
                const RUN_ELSEWHERE: [&str; 2] = ["gateway/pages.md", "rows/browser.md"];
                let is_run_elsewhere = &*label == "js" && RUN_ELSEWHERE.contains(&&*path);
                // Other languages are shown to compare.
                let is_compared = &*label == "erlang" && path == "moving/erlang.md";
                const LABELS: [&str; 6] = [
                    "rust",
                    "rust,ignore",
                    "rust,standalone_crate", // one that needs a process of its own
                    "text",
                    "toml",
                    "console",
                ];
                assert!(
                    is_run_elsewhere || is_compared || LABELS.contains(&&*label),
                    "{path}: {label:?} is no label for code"
                );
            }
        }
        let lines: Vec<_> = text.lines().collect();
        for (number, pair) in lines.windows(2).enumerate() {
            if pair[1] == "```rust,ignore" {
                let said = pair[0].starts_with("<!-- ") && pair[0].ends_with(" -->");
                assert!(said, "{path}:{}: why is this not tested?", number + 2);
                left_out += 1;
            }
        }
    }
    println!("{left_out} blocks of code are shown and not tested");
}

#[test]
fn the_front_pages_show_the_same_lines() {
    fn first_rust_block(markdown: &str) -> String {
        let (_, after) = markdown
            .split_once("```rust\n")
            .expect("there is Rust code");
        after
            .split_once("```")
            .expect("the block ends")
            .0
            .to_owned()
    }
    assert_eq!(
        first_rust_block(&page("introduction.md")),
        first_rust_block(&file("README.md"))
    );
}
