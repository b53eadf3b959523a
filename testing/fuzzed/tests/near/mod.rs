//! Each target has its seeds, and what differs from them a little: cut, longer, some bytes changed, two seeds in one. A fuzzer goes on
//! from there by what its code then does; here the inputs are the same each time.

use std::fs;
use std::path::Path;

use tamtam_fuzzed::targets;

/// The longest input that is made up.
const MOST_BYTES: usize = 4_096;

/// A generator of the xorshift kind.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// What lies near a seed.
fn near(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    const OFTEN_AT_AN_EDGE: [u8; 8] = [0, 1, 0x7f, 0x80, 0xfe, 0xff, b'0', b'"'];
    let mut bytes = dice.of(seeds).clone();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, *dice.of(&OFTEN_AT_AN_EDGE)),
            2 => {
                let other = dice.of(seeds);
                let from = dice.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            3 => {
                let end = at + dice.below(bytes.len() - at + 1).min(16);
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            4 if at < bytes.len() => {
                let end = at + dice.below(bytes.len() - at + 1).min(16);
                bytes.drain(at..end);
            }
            5 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            _ if at < bytes.len() => bytes[at] = *dice.of(&OFTEN_AT_AN_EDGE),
            _ => bytes.push(dice.below(256) as u8),
        }
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

/// Says what a target was given when it failed.
struct Given<'a>(&'a str, &'a [u8]);

impl Drop for Given<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Given(target, bytes) = self;
            eprintln!("the target {target} was given {}", bytes.escape_ascii());
        }
    }
}

/// Gives a target its seeds, and so many inputs that are made up.
pub(crate) fn check(name: &str, made_up: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = fs::read_dir(folder.join(name)).expect("a target has seeds");
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    let (_, run) = targets::ALL.iter().find(|target| target.0 == name).unwrap();
    // A number of its own for each target, the same each time.
    let seed = name.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let mut dice = Dice(seed);
    let made_up: Vec<_> = (0..made_up).map(|_| near(&seeds, &mut dice)).collect();
    for bytes in seeds.iter().chain(&made_up) {
        let _given = Given(name, bytes);
        run(bytes);
    }
}
