//! The map of the project names what is there, and its floors are those on which the crates stand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap().to_owned()
}

fn map() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

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

/// The names of files of code that a page has without their folders.
fn bare_names_of(page: &str) -> Vec<&str> {
    let is_name = |code: &&str| {
        [".rs", ".ts"].iter().any(|end| code.ends_with(end))
            && code
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || "._-".contains(sign))
    };
    page.split('`').skip(1).step_by(2).filter(is_name).collect()
}

fn collect_names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if !["target", "node_modules"].contains(&name.as_str()) {
                collect_names(&path, names);
            }
        } else {
            names.insert(name);
        }
    }
}

#[test]
fn each_file_that_the_map_names_without_its_folder_exists() {
    let (root, page) = (root(), map());
    let mut there = BTreeSet::new();
    for folder in ["crates", "clients", "testing", "xtask", "docs"] {
        collect_names(&root.join(folder), &mut there);
    }
    let names = bare_names_of(&page);
    assert!(names.contains(&"lib.rs"), "{names:?}");
    let missing: Vec<_> = names
        .into_iter()
        .filter(|name| !there.contains(*name))
        .collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names what is not there: {missing:?}"
    );
}

/// The crates of ours that a manifest names as what users of the crate compile, too.
fn dependencies_of(manifest: &str) -> Vec<&str> {
    let mut is_in = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            is_in = section.ends_with("dependencies]") && !section.contains("dev-dependencies");
        } else if is_in && line.starts_with("tamtam-") {
            found.extend(line.split([' ', '=', '.']).next());
        }
    }
    found
}

#[test]
fn a_crate_depends_on_lower_floors_only() {
    let (root, page) = (root(), map());
    let floors: BTreeMap<&str, u32> = page
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let floor = cells.next()?.parse().ok()?;
            let name = cells.next()?.strip_prefix("`crates/")?.strip_suffix('`')?;
            Some((name, floor))
        })
        .collect();
    let mut arrows = 0;
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let floor = floors
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{name} is not on the map"));
        for lower in dependencies_of(&manifest) {
            arrows += 1;
            assert!(floors[lower] < *floor, "{name} uses {lower}");
        }
    }
    assert!(arrows > 20, "{arrows} were read");
}

#[test]
fn each_file_that_the_map_names_exists() {
    let (root, page) = (root(), map());
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
