//! What is asked for and is not there: names, files, peers, runtimes.

use super::*;

#[test]
fn wrong_names_are_answered_with_the_known_ones() {
    let place = Place::with_peers();
    let ended = place.run(&["lab", "run", "handovr"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("there is no experiment handovr; did you mean handover?"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "run", "handover/1000/moon"]);
    assert!(
        ended
            .stderr
            .contains("handover has no variant 1000/moon; known are 1000/free"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "run", "--only", "nobody", "--against", "none"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains(
            "there is no contender or row nobody; `tamtam lab list` shows all that there are"
        ),
        "{}",
        ended.stderr
    );
    let ended = place.run(&[
        "lab",
        "run",
        "--only",
        "slot,crossbeam-chanel,flume",
        "--peers",
        "peers",
    ]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .contains("there is no contender or row crossbeam-chanel; "),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "run", "--only", "slot,mpcs", "--against", "none"]);
    assert!(
        ended.stderr.contains("did you mean mpsc"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lba"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(
        ended.stderr,
        "tamtam: there is no command lba; did you mean lab?\n"
    );
    for words in [
        &["lab", "run", "--runs", "0"][..],
        &["lab", "run", "--quick", "--full"],
        &["lab", "fly", "--high"],
    ] {
        let ended = place.run(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{words:?}"
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let place = Place::with_peers();
    for option in ["--json", "--csv"] {
        let ended = place.drum(&["quick"], &[option, "no/such/folder/out"]);
        assert_eq!(ended.code, Some(2));
        assert!(
            ended
                .stderr
                .contains("no/such/folder/out cannot be written"),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(place.log(), []);
}

/// One was written over the other.
#[test]
fn two_forms_are_not_written_into_one_file() {
    let place = Place::with_peers();
    let ended = place.drum(&["quick"], &["--json", "out", "--csv", "./out"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("--json and --csv name the same file"),
        "{}",
        ended.stderr
    );
    assert!(!place.path("out").exists());
    assert_eq!(place.log(), []);
}

/// A slip in a name left an empty one behind.
#[test]
fn a_file_is_made_when_there_is_a_plan() {
    let place = Place::with_peers();
    for words in [
        &["lab", "run", "drummin", "--peers", "peers"][..],
        &[
            "lab", "run", "drumming", "--only", "quik", "--peers", "peers",
        ],
    ] {
        let words = [words, &["--json", "out.json", "--keep"]].concat();
        let ended = place.run(&words);
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        assert!(!place.path("out.json").exists(), "{}", ended.stderr);
    }
}

#[test]
fn peers_that_are_not_built_are_left_out_with_a_word_how_to_build_them() {
    let place = Place::with_peers();
    fs::remove_dir_all(place.path("peers/rust/target")).unwrap();
    let ended = place.run(&["lab", "list", "--peers", "peers"]);
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("./scripts/lab --peers"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("* slot"), "{}", ended.stdout);
    let ended = place.run(&["lab", "list", "--peers", "nowhere"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("--peers: nowhere is not a folder"),
        "{}",
        ended.stderr
    );
    let ended = place.run(&["lab", "list", "--against", "none"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn peers_of_other_runtimes_take_part_where_those_of_rust_are_not_built() {
    let place = Place::with_peers();
    fs::remove_dir_all(place.path("peers/rust/target")).unwrap();
    fs::create_dir(place.path("peers/jvm")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in-peers.sh");
    symlink(script, place.path("peers/jvm/run")).unwrap();
    let ended = place.run(&[
        "lab",
        "run",
        "drumming/10/free",
        "--peers",
        "peers",
        "--only",
        "steady,quick",
        "--runs",
        "1",
        "--json",
        "out.json",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("The peers of Rust are left out: "),
        "{}",
        ended.stderr
    );
    // Both that the list names, and no other.
    let mut measured: Vec<String> = place
        .json("out.json")
        .iter()
        .map(|line| line["contender"].as_str().unwrap().to_owned())
        .collect();
    measured.sort();
    assert_eq!(measured, ["quick", "steady"]);
}

#[test]
fn the_standard_library_is_compared_with_by_the_program_alone() {
    let place = Place::empty();
    let ended = place.run(&[
        "lab",
        "run",
        "handover/1000/1core",
        "post/10000000/free/fanin-16B",
        "property/10000/1core/get",
        "--only",
        "slot,std::sync::mpsc,std::sync::mpsc-unbounded,mutex-condvar,std::thread::park,std::sync::Mutex",
        "--quick",
        "--runs",
        "1",
        "--against",
        "none",
        "--json",
        "out.json",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let lines = place.json("out.json");
    for (variant, contender) in [
        ("1000/1core", "std::sync::mpsc"),
        ("1000/1core", "std::sync::mpsc-unbounded"),
        ("1000/1core", "mutex-condvar"),
        ("1000/1core", "std::thread::park"),
        ("10000000/free/fanin-16B", "std::sync::mpsc"),
        ("10000/1core/get", "std::sync::Mutex"),
    ] {
        let line = lines
            .iter()
            .find(|line| line["variant"] == variant && line["contender"] == contender)
            .unwrap_or_else(|| panic!("{contender} in {variant} is missing"));
        assert_eq!(
            (&line["ours"], &line["verified"]),
            (&false.into(), &true.into())
        );
    }
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(
        text.contains("std::sync::mpsc here for ") && text.contains(" CPU time"),
        "{text}"
    );
    // The article's figure is there, and no ratio beside it: its machine is not this one.
    let article = ended
        .stdout
        .lines()
        .find(|line| line.contains("A: shared property  "))
        .unwrap();
    let words: Vec<&str> = article.split_whitespace().collect();
    assert_eq!(words, ["A:", "shared", "property", "62,000"]);
}

#[test]
fn a_runtime_that_is_not_there_is_named_with_what_to_install() {
    let place = Place::with_peers();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in-runtime.sh");
    for runtime in ["go", "jvm"] {
        fs::create_dir(place.path(format!("peers/{runtime}"))).unwrap();
        symlink(&script, place.path(format!("peers/{runtime}/run"))).unwrap();
    }
    let ended = place.run(&["lab", "list", "--peers", "peers"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for words in [
        "The peers of the JVM are left out: Java is missing. To install it: apt-get install some-jdk",
        "The peers of Go are left out: ",
        "does not work (exit status: 1: out of order)",
    ] {
        assert!(
            ended.stderr.contains(words),
            "{words} is missing in\n{}",
            ended.stderr
        );
    }
    assert!(!ended.stderr.contains("Erlang"), "{}", ended.stderr);
    assert!(ended.stdout.contains("steady"), "{}", ended.stdout);
    let ended = place.run(&["lab", "list", "--peers", "peers", "--against", "rust"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}
