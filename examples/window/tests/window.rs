//! The whole program, in a real window: `scripts/test --only window` starts an X server for it that needs no screen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program has counted, and the gaps that it has shown.
struct Report {
    counts: HashMap<String, u64>,
    gaps: Vec<(u64, u64)>,
}

fn visit(picture: &Path) -> Report {
    let output = Command::new(env!("CARGO_BIN_EXE_tamtam-window"))
        .arg("--visit")
        .arg(picture)
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{text}\n{said}", output.status);
    println!("{text}");
    let mut report = Report {
        counts: HashMap::new(),
        gaps: Vec::new(),
    };
    let number = |word: &str| word.parse().expect("a number");
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["gap", after, length] => report.gaps.push((number(after), number(length))),
            [name, count] => drop(report.counts.insert(name.to_owned(), number(count))),
            _ => panic!("an unexpected line: {line}"),
        }
    }
    report
}

/// How many pixels have each colour.
fn colours(picture: &Path) -> HashMap<[u8; 3], usize> {
    let file = std::io::BufReader::new(std::fs::File::open(picture).expect("there is a picture"));
    let mut reader = png::Decoder::new(file)
        .read_info()
        .expect("it is a PNG file");
    let size = reader.output_buffer_size().expect("it fits into memory");
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes).expect("it is complete");
    assert_eq!((info.width, info.height), (640, 680));
    let mut colours = HashMap::new();
    for pixel in bytes.chunks_exact(3) {
        *colours.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
    }
    colours
}

#[test]
#[ignore = "needs a display: scripts/test --only window"]
fn a_worker_posts_to_a_window_that_sleeps() {
    let picture = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("window.png");
    let Report { counts, gaps } = visit(&picture);

    // All that the worker has posted was received, and it is right: https://oeis.org/A002386.
    assert_eq!(counts["posted"], counts["received"]);
    assert!(
        counts["received"] > 150,
        "a message for each segment and each gap"
    );
    assert_eq!(gaps.first(), Some(&(2, 1)));
    assert_eq!(gaps.last(), Some(&(4_652_353, 154)));
    assert_eq!(gaps.len(), 22);

    // Messages that come while the loop is awake are handled together; none is waited for in vain.
    assert!(counts["pumps"] <= counts["received"]);
    // Without mail nothing is drawn, and the loop sleeps, but for what the window system may say.
    assert!(counts["idle-drawings"] <= 3);
    assert!(counts["idle-rounds"] <= 20);

    // The picture comes from the X server: there is text on it, and the bars are.
    let colours = colours(&picture);
    let most = colours.values().max().expect("a pixel");
    assert!(*most < 640 * 680 * 97 / 100, "the picture is nearly blank");
    assert!(colours.len() > 20, "smooth text has many colours");
    let bars = colours.get(&[0x3d, 0x8b, 0xcd]).copied().unwrap_or(0);
    assert!(bars > 5_000, "there are {bars} pixels of bars");
}
