//! The rule of floors, on crates that break it on purpose.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xtask::floors::{Breach, Floors};
use xtask::{Graph, Sources};

/// A crate of these files.
fn a_crate(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn breaches(folder: &Path) -> Vec<Breach> {
    let sources = Sources::read(folder).unwrap();
    let floors = Floors::read(&sources).unwrap().expect("a table of floors");
    floors.breaches(&Graph::of(&sources))
}

fn upward(from: &str, to: &str, place: &str) -> Breach {
    Breach::Upward {
        from: from.to_owned(),
        to: to.to_owned(),
        places: vec![place.to_owned()],
    }
}

const TWO_FLOORS: &str =
    "// | floor | modules |\n// |---|---|\n// | 1 | high |\n// | 0 | low |\nmod high;\nmod low;\n";

#[test]
fn a_module_may_look_down() {
    let folder = a_crate(&[
        ("src/lib.rs", TWO_FLOORS),
        ("src/high.rs", "use crate::low::Thing;"),
        ("src/low.rs", "pub struct Thing;"),
    ]);
    assert_eq!(breaches(folder.path()), []);
}

#[test]
fn what_is_said_to_be_a_circle_is_one() {
    let table = "// | 1 | high, other, low (one circle) |\nmod high;\nmod low;\nmod other;\n";
    let files = [
        ("src/lib.rs", table),
        ("src/high.rs", "use crate::low::Thing;"),
        ("src/low.rs", "pub struct Thing; use crate::high;"),
        ("src/other.rs", "use crate::low::Thing;"),
    ];
    let found = breaches(a_crate(&files).path());
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let expected = Breach::NoCircle {
        modules: words("high other low"),
        beside: words("other"),
    };
    assert_eq!(found, [expected]);
}

#[test]
fn a_module_that_looks_up_is_named_with_file_and_line() {
    let folder = a_crate(&[
        ("src/lib.rs", TWO_FLOORS),
        ("src/high.rs", "pub struct Thing;"),
        ("src/low.rs", "\nuse crate::high::Thing;"),
    ]);
    assert_eq!(
        breaches(folder.path()),
        [upward("low", "high", "src/low.rs:2: high::Thing")]
    );
}

#[test]
fn paths_count_in_expressions_in_macros_and_from_nested_modules() {
    for (file, text, place) in [
        (
            "src/low.rs",
            "fn f() { crate::high::g() }",
            "src/low.rs:1: high::g",
        ),
        (
            "src/low.rs",
            "fn f() { assert!(crate::high::g()) }",
            "src/low.rs:1: high::g",
        ),
        (
            "src/low.rs",
            "macro_rules! m { () => { $crate::high::g() } }",
            "src/low.rs:1: high::g",
        ),
        (
            "src/low.rs",
            "mod inner { use super::super::high::g; }",
            "src/low.rs:1: high::g",
        ),
        ("src/low/mod.rs", "use super::high::{f, g as h};", ""),
    ] {
        let folder = a_crate(&[
            ("src/lib.rs", TWO_FLOORS),
            ("src/high.rs", ""),
            (file, text),
        ]);
        let found = breaches(folder.path());
        if place.is_empty() {
            assert!(
                matches!(&found[..], [Breach::Upward { places, .. }] if places.len() == 2),
                "{found:?}"
            );
        } else {
            assert_eq!(found, [upward("low", "high", place)], "{text}");
        }
    }
}

#[test]
fn a_name_at_the_root_counts_as_its_module() {
    let root = format!("{TWO_FLOORS}pub use high::Thing;\n");
    let folder = a_crate(&[
        ("src/lib.rs", &root),
        (
            "src/high.rs",
            "pub struct Thing;\n#[macro_export]\nmacro_rules! say { () => {} }",
        ),
        ("src/low.rs", "use crate::Thing;\nfn f() { crate::say!() }"),
    ]);
    assert_eq!(
        breaches(folder.path()),
        [Breach::Upward {
            from: "low".to_owned(),
            to: "high".to_owned(),
            places: vec![
                "src/low.rs:1: Thing".to_owned(),
                "src/low.rs:2: say".to_owned()
            ],
        }]
    );
}

#[test]
fn tests_may_look_anywhere() {
    let root = format!("{TWO_FLOORS}#[cfg(test)]\nmod models;\n");
    let folder = a_crate(&[
        ("src/lib.rs", &root),
        ("src/high.rs", ""),
        (
            "src/low.rs",
            "#[cfg(test)]\nmod tests { use crate::high::f; }\n#[cfg(all(test, unix))]\nuse crate::high::g;",
        ),
    ]);
    assert_eq!(breaches(folder.path()), []);
    let root = format!("{TWO_FLOORS}#[cfg(not(test))]\nmod real;\n");
    let folder = a_crate(&[
        ("src/lib.rs", &root),
        ("src/high.rs", ""),
        ("src/low.rs", ""),
        ("src/real.rs", ""),
    ]);
    assert_eq!(
        breaches(folder.path()),
        [Breach::Homeless("real".to_owned())]
    );
}

#[test]
fn modules_of_one_row_use_each_other_only_as_one_circle() {
    let row = |words: &str| format!("// | 0 | one, two{words} |\nmod one;\nmod two;\n");
    let files = |root: &str| {
        a_crate(&[
            ("src/lib.rs", root),
            ("src/one.rs", "use crate::two::f;"),
            ("src/two.rs", "use crate::one::f;"),
        ])
    };
    assert_eq!(breaches(files(&row("")).path()).len(), 2);
    assert_eq!(breaches(files(&row(" (one circle)")).path()), []);
}

#[test]
fn a_table_that_does_not_fit_its_crate_says_so() {
    let folder = a_crate(&[
        ("src/lib.rs", "// | 0 | gone |\nmod here;\n"),
        ("src/here.rs", ""),
    ]);
    assert_eq!(
        breaches(folder.path()),
        [
            Breach::Homeless("here".to_owned()),
            Breach::Unknown("gone".to_owned())
        ]
    );
    for table in [
        "// | 0 | one |\n// | 1 | two |",
        "// | zero | one |",
        "// | 0 | |",
        "// | 0 |",
    ] {
        let folder = a_crate(&[("src/lib.rs", table)]);
        let read = Floors::read(&Sources::read(folder.path()).unwrap());
        assert!(read.is_err(), "{table}");
    }
}

#[test]
fn circles_are_found() {
    let folder = a_crate(&[
        ("src/lib.rs", "mod one;\nmod two;\nmod three;\nmod low;\n"),
        ("src/one.rs", "use crate::two::f;"),
        ("src/two.rs", "use crate::three::f; use crate::low::f;"),
        ("src/three.rs", "use crate::one::f;"),
        ("src/low.rs", ""),
    ]);
    let circles = Graph::of(&Sources::read(folder.path()).unwrap()).circles();
    assert_eq!(circles.len(), 1);
    assert_eq!(
        circles[0].iter().collect::<Vec<_>>(),
        ["one", "three", "two"]
    );
}
