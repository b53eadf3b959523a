//! A run: in rounds, each contender in a process of its own, beside neighbours, until it is over or ended.

use super::*;

#[test]
fn runs_are_interleaved_each_in_a_fresh_process() {
    let place = Place::with_peers();
    let ended = place.drum(
        &["steady", "quick"],
        &["--runs", "4", "--json", "out.json", "--csv", "out.csv"],
    );
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let log = place.log();
    assert_eq!(log.len(), 8);
    for round in log.chunks(2) {
        assert_ne!(
            round[0].0, round[1].0,
            "a round runs each contender once: {log:?}"
        );
    }
    assert_eq!(
        log.iter()
            .map(|(_, _, process, _)| process)
            .collect::<HashSet<_>>()
            .len(),
        8
    );
    assert!(log.iter().all(|(_, _, _, hogs)| *hogs == 0));

    let lines = place.json("out.json");
    let steady = lines
        .iter()
        .find(|line| line["contender"] == "steady")
        .unwrap();
    assert_eq!(
        [&steady["median"], &steady["min"], &steady["max"]],
        [1015.0, 1000.0, 1030.0]
    );
    assert_eq!(
        (&steady["runs"], &steady["version"], &steady["unit"]),
        (&4.into(), &"7.0".into(), &"ns".into())
    );
    let csv = fs::read_to_string(place.path("out.csv")).unwrap();
    assert_eq!(csv.lines().next().unwrap(), FIELDS.join(","));
    assert_eq!(csv.lines().count(), 3);
    assert!(ended.stdout.contains("[1.00..1.03 µs]"), "{}", ended.stdout);
    let (quick, steady) = (
        ended.stdout.find("  quick").unwrap(),
        ended.stdout.find("  steady").unwrap(),
    );
    assert!(quick < steady, "the fastest comes first");
}

#[test]
fn a_contender_that_fails_is_shown_and_the_run_goes_on() {
    let place = Place::with_peers();
    let names = ["steady", "broken", "unverified", "silent"];
    let ended = place.drum(&names, &["--runs", "2", "--json", "out.json"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    for words in [
        "broken failed: message 17 came twice",
        "unverified failed: its deliveries were not verified",
        "silent failed: it ended without printing a result",
        "3 contenders failed",
    ] {
        assert!(
            ended.stdout.contains(words),
            "{words} is missing in\n{}",
            ended.stdout
        );
    }
    assert!(
        place
            .json("out.json")
            .iter()
            .all(|line| line["contender"] == "steady")
    );
    let runs = |name: &str| {
        place
            .log()
            .iter()
            .filter(|(contender, ..)| contender == name)
            .count()
    };
    assert_eq!(
        (runs("steady"), runs("broken")),
        (2, 1),
        "who has failed is not run again"
    );
}

#[test]
fn busy_neighbours_run_beside_a_hog_variant_and_end_with_it() {
    let place = Place::with_peers();
    let words = [
        "lab",
        "run",
        "drumming/10/hog",
        "--peers",
        "peers",
        "--only",
        "quick",
        "--runs",
        "2",
    ];
    let ended = place.run(&words);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let cores = std::thread::available_parallelism().unwrap().get();
    let hogs: Vec<usize> = place.log().iter().map(|(_, _, _, hogs)| *hogs).collect();
    assert_eq!(hogs, [cores, cores]);
}

#[test]
fn a_hog_ends_when_its_parent_has_gone() {
    let mut hog = Place::with_peers()
        .command(&["hog"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(hog.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "busy\n");
    assert!(hog.try_wait().unwrap().is_none());
    drop(hog.stdin.take());
    assert!(hog.wait().unwrap().success());
}

/// Waits until `child` has told that it begins, so that its handler for signals is there, and a stuck stand-in runs.
fn wait_until_stuck(place: &Place, child: &mut Child) -> Pid {
    let mut first = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !first.contains("of 2 measurements") {
        first.clear();
        assert_ne!(
            stderr.read_line(&mut first).unwrap(),
            0,
            "it ended before it measured"
        );
    }
    // Only a file can tell: the stand-in's output belongs to the lab.
    loop {
        if let Some((_, _, process, _)) = place.log().iter().find(|(name, ..)| name == "stuck") {
            return Pid::from_raw(i32::try_from(*process).unwrap()).unwrap();
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it measured"
        );
        std::thread::yield_now();
    }
}

#[test]
fn ctrl_c_ends_the_children_and_shows_what_there_is() {
    a_signal_ends_the_children(&[Signal::INT]);
}

/// Only npm was ended, and what it had started went on: a shell, Node, the browser.
#[test]
fn ctrl_c_ends_the_browser_and_all_that_drives_it() {
    let place = Place::empty();
    fs::create_dir_all(place.path("clients/web/node_modules")).unwrap();
    fs::write(place.path("clients/web/package.json"), "{}").unwrap();
    fs::create_dir(place.path("programs")).unwrap();
    let npm = place.path("programs/npm");
    let told = place.path("browser");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = run ] || exit 0\nsleep 600 &\necho $! > {0}.part && mv {0}.part {0}\nwait\n",
        told.display()
    );
    fs::write(&npm, script).unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders = [place.path("programs")]
        .into_iter()
        .chain(std::env::split_paths(&path));
    let words = [
        "lab",
        "run",
        "rows/1000/random",
        "--browser",
        "--only",
        "packed",
        "--runs",
        "1",
        "--against",
        "none",
    ];
    let mut child = place
        .command(&words)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("TAMTAM_CHROMIUM", &npm)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !told.exists() {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        std::thread::yield_now();
    }
    let browser = fs::read_to_string(&told).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    // Killed, it may wait for ever for who should reap it.
    let ended = Instant::now();
    let stat = || fs::read_to_string(format!("/proc/{}/stat", browser.trim()));
    while stat().is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(
            ended.elapsed() < Duration::from_secs(60),
            "the browser is still there"
        );
        std::thread::yield_now();
    }
}

/// As by `timeout`, which asks its child to end, and then all of the child's group. Here they differ: of two alike the system may deliver one.
#[test]
fn a_request_to_end_that_comes_twice_shows_what_there_is() {
    a_signal_ends_the_children(&[Signal::TERM, Signal::INT]);
}

fn a_signal_ends_the_children(signals: &[Signal]) {
    let place = Place::with_peers();
    let words = [
        "lab",
        "run",
        "drumming/10/free",
        "--peers",
        "peers",
        "--only",
        "quick",
        "--only",
        "stuck",
        "--runs",
        "1",
    ];
    let mut child = place
        .command(&words)
        .args(["--json", "out.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stuck = wait_until_stuck(&place, &mut child);
    for signal in signals {
        kill_process(Pid::from_child(&child), *signal).unwrap();
    }
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stdout}");
    assert!(stdout.contains("Stopped early"), "{stdout}");
    assert!(
        test_kill_process(stuck).is_err(),
        "the contender is still there"
    );
    // Whether `quick` came first is the shuffle's affair; if so, its figure is kept.
    let ran = place.log().iter().any(|(name, ..)| name == "quick");
    assert_eq!(place.json("out.json").len(), usize::from(ran));
}
