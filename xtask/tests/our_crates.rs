//! All rules of the source, on our own crates.

use std::path::Path;

use xtask::rules;

const CRATES: [&str; 12] = [
    "tamtam",
    "tamtam-wait",
    "tamtam-channel",
    "tamtam-actor",
    "tamtam-rows",
    "tamtam-amf",
    "tamtam-link",
    "tamtam-process",
    "tamtam-ipc",
    "tamtam-gateway",
    "tamtam-lab",
    "tamtam-cli",
];

#[test]
fn our_crates_keep_to_the_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut count = 0;
    let mut all = Vec::new();
    for name in CRATES {
        let (breaches, files) = rules::breaches(name, &root.join("crates").join(name)).unwrap();
        count += files;
        all.extend(breaches);
    }
    assert!(count > 400, "{count} files were read");
    assert!(all.is_empty(), "{}", all.join("\n"));
}
