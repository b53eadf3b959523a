//! Programs that do not read, or die: in a program whose threads and descriptors are counted, and which is the other program as well.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod idle;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(all(target_os = "linux", feature = "tls"))]
mod tls;
#[cfg(target_os = "linux")]
mod unread;
#[cfg(target_os = "linux")]
mod victim;

#[cfg(target_os = "linux")]
fn main() {
    victim::be_it_if_asked();
    // Each counts what this process has.
    let tests = [unread::TESTS, kills::TESTS, steps::TESTS, idle::TESTS];
    tamtam_testing::run_tests(Some(1), tests.concat())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
