//! What `tamtam rows` reads: texts for nulls, types that are told, standard input, compressed files, wide tables; and what it
//! leaves behind when it is stopped.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tamtam_rows::{Compression, CompressionKind};

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamtam"));
    command.arg("rows").args(arguments).current_dir(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn works(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run(folder, arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {error}");
    (String::from_utf8(output.stdout).unwrap(), error)
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn na_is_null_among_numbers_and_what_keeps_text_from_being_numbers_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "mass,sex,age\n3750,MALE,1\nNA,NA,2\n3800,FEMALE,old\n";
    std::fs::write(folder.join("in.csv"), text).unwrap();
    let (said, notes) = works(folder, &["convert", "in.csv", "out.jsonl"]);
    assert_eq!(said, "3 rows written to out.jsonl\n");
    let second = "{\"mass\":null,\"sex\":\"NA\",\"age\":\"2\"}";
    assert_eq!(read(folder, "out.jsonl").lines().nth(1), Some(second));
    assert_eq!(
        notes,
        "note: NA read as null in column \"mass\"; --null says which texts are\n\
         note: column \"sex\" is text, and so is \"NA\" in line 3; --null would make them null\n\
         note: column \"age\" is text, and would be u8 but for \"old\" in line 4; --null would make them null\n"
    );
    let (_, notes) = works(
        folder,
        &["convert", "in.csv", "out.jsonl", "--null", "NA,old"],
    );
    assert_eq!(notes, "");
    let last = "{\"mass\":3800,\"sex\":\"FEMALE\",\"age\":null}";
    assert_eq!(read(folder, "out.jsonl").lines().nth(2), Some(last));
    works(
        folder,
        &["convert", "in.csv", "out.jsonl", "--type", "mass=f64"],
    );
    assert!(read(folder, "out.jsonl").starts_with("{\"mass\":3750.0,"));
    let said = fails(
        folder,
        &["convert", "in.csv", "out.jsonl", "--type", "age=u8"],
    );
    assert!(
        said.contains("(line 4)") && said.contains("\"age\""),
        "{said}"
    );
    let said = fails(folder, &["show", "in.csv", "--type", "agee=u8"]);
    assert!(said.contains("no column \"agee\""), "{said}");
    let said = fails(folder, &["show", "in.csv", "--type", "age=number"]);
    assert!(said.contains("\"number\" is no type"), "{said}");
}

#[test]
fn standard_input_and_compressed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "n,name\n1,one\n2,two\n";
    for (kind, name) in [
        (CompressionKind::Gzip, "in.csv.gz"),
        (CompressionKind::Zstd, "in.csv.zst"),
    ] {
        let compression = Compression {
            threshold_bytes: 0,
            ..Compression::new(kind)
        };
        let bytes = compression
            .compress(text.as_bytes().to_vec())
            .unwrap()
            .bytes;
        std::fs::write(folder.join(name), bytes).unwrap();
        works(folder, &["convert", name, "out.csv"]);
        assert_eq!(read(folder, "out.csv"), text);
    }
    let piped = |arguments: &[&str], bytes: &[u8]| {
        let mut child = command(folder, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        assert!(child.wait().unwrap().success());
        read(folder, "out.csv")
    };
    assert_eq!(piped(&["convert", "-", "out.csv"], text.as_bytes()), text);
    let json = b"[{\"n\":1,\"name\":\"one\"},{\"n\":2,\"name\":\"two\"}]";
    assert_eq!(piped(&["convert", "-", "out.csv"], json), text);
    for name in ["in.rows", "in.parquet"] {
        works(folder, &["convert", "in.csv.gz", name]);
        let bytes = std::fs::read(folder.join(name)).unwrap();
        assert_eq!(piped(&["convert", "-", "out.csv"], &bytes), text);
    }
    let tabs = "n\tname\n1\tone\n2\ttwo\n";
    assert_eq!(
        piped(
            &["convert", "-", "out.csv", "--from", "tsv"],
            tabs.as_bytes()
        ),
        text
    );
}

#[test]
fn what_it_writes_it_reads_also_10_001_columns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line =
        |cell: &dyn Fn(usize) -> String| (0..10_001).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let text = line(&|column| format!("c{column}")) + &line(&|column| (column % 7).to_string());
    std::fs::write(folder.join("in.csv"), &text).unwrap();
    for (from, to) in [
        ("in.csv", "a.rows"),
        ("a.rows", "b.parquet"),
        ("b.parquet", "c.jsonl"),
        ("c.jsonl", "d.csv"),
    ] {
        works(folder, &["convert", from, to]);
    }
    assert!(read(folder, "d.csv") == text);
}

/// What begins with a point, as what is not complete does.
fn parts(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".part"))
        .count()
}

#[test]
fn a_signal_leaves_no_part_of_a_file() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        rusqlite::Connection::open(folder.join("a.db"))
            .unwrap()
            .execute_batch("create table t (a int)")
            .unwrap();
        let endless =
            "with recursive c(n) as (select 1 union all select n + 1 from c) select n from c";
        let write = ["--db", "a.db", "--query", endless, "--write", "out.csv"];
        let mut child = command(folder, &write).spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while parts(folder) == 0 {
            assert!(Instant::now() < end, "no file was begun");
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(2));
        }
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                child.kill().unwrap();
                panic!("{signal} did not end it");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(parts(folder), 0, "{signal}");
        assert!(!folder.join("out.csv").exists());
    }
}

/// What was for its owner alone became readable to all, and a link a file.
#[test]
fn a_file_that_is_written_anew_stays_what_it_was() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mode = |name: &str| {
        std::fs::metadata(folder.join(name))
            .unwrap()
            .permissions()
            .mode()
    };
    let allow = |name: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.join(name), permissions).unwrap();
    };
    let text = "n,name\n1,one\n";
    std::fs::write(folder.join("in.csv"), text).unwrap();
    let as_any_new_file = mode("in.csv");
    works(folder, &["convert", "in.csv", "new.csv"]);
    assert_eq!(mode("new.csv"), as_any_new_file);
    for wanted in [0o600, 0o666, 0o640] {
        allow("in.csv", wanted);
        works(folder, &["convert", "in.csv", "in.csv"]);
        assert_eq!(mode("in.csv") & 0o777, wanted);
        assert_eq!(read(folder, "in.csv"), text);
    }
    std::fs::create_dir(folder.join("elsewhere")).unwrap();
    for (name, meant) in [
        ("link.csv", "elsewhere/there.csv"),
        ("to-be.csv", "elsewhere/not-yet.csv"),
    ] {
        symlink(meant, folder.join(name)).unwrap();
        if name == "link.csv" {
            std::fs::write(folder.join(meant), "").unwrap();
            allow(meant, 0o600);
        }
        works(folder, &["convert", "in.csv", name]);
        assert!(folder.join(name).is_symlink(), "{name}");
        assert_eq!(read(folder, meant), text);
    }
    assert_eq!(mode("elsewhere/there.csv") & 0o777, 0o600);
    assert_eq!(parts(folder) + parts(&folder.join("elsewhere")), 0);
}

#[test]
fn names_in_a_file_cannot_steer_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "n\u{1b}[2J,\u{9b}31mname\n1,one\u{1b}[0m\n2,two\n";
    std::fs::write(folder.join("in.csv"), text).unwrap();
    for words in [&["show", "in.csv"][..], &["in.csv", "--each", "1"]] {
        let (shown, _) = works(folder, words);
        let steers = |letter: char| letter.is_control() && letter != '\n';
        assert!(!shown.contains(steers), "{words:?}: {shown:?}");
        assert!(
            shown.contains("n·[2J") && shown.contains("·31mname"),
            "{shown}"
        );
    }
    let said = fails(folder, &["show", "in.csv", "--type", "\u{1b}c=u8"]);
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn a_trial_looks_at_the_rows_that_it_tries() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Behind the first two megabytes stands what is no table any more. Long texts are soon so many bytes.
    let long = "1234567 ".repeat(32);
    let text = "n\n".to_owned() + &format!("{long}\n").repeat(10_000) + "\"";
    std::fs::write(folder.join("in.csv"), &text).unwrap();
    let json = format!("{{\"n\":\"{long}\"}}\n").repeat(10_000) + "{";
    std::fs::write(folder.join("in.jsonl"), json).unwrap();
    for name in ["in.csv", "in.jsonl"] {
        assert!(
            works(folder, &["show", name])
                .0
                .contains("20 rows, and more")
        );
        assert!(
            works(folder, &[name, "--rows", "1000", "--each", "1"])
                .0
                .contains("the first 1,000 rows, 1 column\n")
        );
        fails(folder, &["convert", name, "out.rows"]);
    }
}

#[test]
fn a_slip_in_a_name_is_guessed_and_nothing_is_said_twice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("in.csv"), "a\n1\n").unwrap();
    assert!(fails(folder, &["convert", "in.csv", "out.cvs"]).contains("did you mean .csv?"));
    assert!(fails(folder, &["conver"]).contains("did you mean `tamtam rows convert`?"));
    let said =
        String::from_utf8(run(folder, &["show", "in.csv", "--from", "jsno"]).stderr).unwrap();
    assert!(said.contains("did you mean json or jsonl?"), "{said}");
    // What fails when it is written has nothing to do with what is read.
    std::fs::write(folder.join("nan.csv"), "a\n1.5\nNaN\n").unwrap();
    let said = fails(folder, &["convert", "nan.csv", "out.json"]);
    assert!(
        said.starts_with("tamtam: cannot write out.json: json-objects cannot carry the value"),
        "{said}"
    );
    let said = fails(folder, &["show", "none.csv"]);
    assert_eq!(
        said,
        "tamtam: cannot read none.csv: No such file or directory (os error 2)\n"
    );
    let (help, _) = works(folder, &["convert", "--help"]);
    assert!(help.contains("Examples:"), "{help}");
}
