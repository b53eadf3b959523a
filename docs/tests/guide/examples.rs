//! Every public type shows how it is used where one looks first: in its own documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::root;

const CRATES: [&str; 9] = [
    "tamtam-actor",
    "tamtam-amf",
    "tamtam-channel",
    "tamtam-gateway",
    "tamtam-ipc",
    "tamtam-link",
    "tamtam-process",
    "tamtam-rows",
    "tamtam-wait",
];

/// The texts of all source files below a folder.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(&path).expect("a source file"));
        }
    }
}

/// The name of the type that a line defines for everyone.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let rest = ["struct ", "enum ", "trait ", "union "]
        .iter()
        .find_map(|kind| rest.strip_prefix(kind))?;
    rest.split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()
}

/// The names in all `pub use`.
fn exported(text: &str) -> impl Iterator<Item = &str> {
    text.split("pub use ").skip(1).flat_map(|after| {
        let names = after.split(';').next().unwrap_or_default();
        names.split(|character: char| !character.is_alphanumeric() && character != '_')
    })
}

/// The types of a text whose documentation has no example.
fn without_example(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(name) = defined(line) else { continue };
        // What belongs to an item stands above it without an empty line between.
        let above = lines[..number]
            .iter()
            .rev()
            .take_while(|line| !line.is_empty());
        let mut above = above.copied();
        if !above.any(|line| line.contains("/// ```") || line.contains("#[doc(hidden)]")) {
            found.push(name);
        }
    }
    found
}

#[test]
fn each_public_type_has_an_example() {
    let mut missing = BTreeSet::new();
    for name in CRATES {
        let mut texts = Vec::new();
        sources(&root().join("crates").join(name).join("src"), &mut texts);
        let public: BTreeSet<_> = texts.iter().flat_map(|text| exported(text)).collect();
        let bare = texts.iter().flat_map(|text| without_example(text));
        missing.extend(
            bare.filter(|bare| public.contains(bare))
                .map(|bare| format!("{name} {bare}")),
        );
    }
    assert!(
        missing.is_empty(),
        "give these an example in their documentation: {missing:#?}"
    );
}

#[test]
fn a_type_without_an_example_is_noticed() {
    let text = "/// One.\n///\n/// ```\n/// one();\n/// ```\n#[derive(Debug)]\npub struct One(u8);\n\n/// Two.\npub enum Two<T> {}\n";
    assert_eq!(without_example(text), ["Two"]);
    assert!(
        exported("pub use one::{One, Two as Second};\nuse three::Three;").any(|name| name == "One")
    );
    assert!(!exported("use three::Three;").any(|name| name == "Three"));
}
