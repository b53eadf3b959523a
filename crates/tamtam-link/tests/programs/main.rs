//! Programs that do not read, or die: in a program whose threads and descriptors are counted, and which is the other program as well.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod idle;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(all(target_os = "linux", feature = "tls"))]
mod tls;
#[cfg(target_os = "linux")]
mod unread;
#[cfg(target_os = "linux")]
mod victim;

#[cfg(target_os = "linux")]
fn main() {
    victim::be_it_if_asked();
    // What the standard library's tests take on nightly, or are told to, and these do not know.
    let arguments = std::env::args()
        .filter(|argument| !argument.starts_with("-Z") && argument != "--report-time");
    let mut arguments = libtest_mimic::Arguments::from_iter(arguments);
    // Each counts what this process has.
    arguments.test_threads = Some(1);
    let tests = [unread::TESTS, kills::TESTS, idle::TESTS].concat();
    let trial = |(name, test): (&str, fn())| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.into_iter().map(trial).collect()).exit();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
