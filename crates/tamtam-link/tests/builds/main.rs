//! A drawing program, of which there are an older and a newer build, and what becomes of messages that one of them does not know.
//!
//! Both are in this program, with types of messages of their own. It runs the tests of both; a test starts it again as the other
//! build, which draws for the program at the other end of its standard input.

#![forbid(unsafe_code)]

#[cfg(unix)]
#[macro_use]
mod program;
#[cfg(unix)]
mod newer;
#[cfg(unix)]
mod older;

#[cfg(unix)]
fn main() {
    match program::asked_for().as_deref() {
        Some("newer") => return newer::draw(),
        Some("older") => return older::draw(),
        Some(other) => panic!("there is no build called {other}"),
        None => {}
    }
    // What the standard library's tests take on nightly, or are told to, and these do not know.
    let arguments = std::env::args()
        .filter(|argument| !argument.starts_with("-Z") && argument != "--report-time");
    let arguments = libtest_mimic::Arguments::from_iter(arguments);
    let tests = older::TESTS.iter().chain(newer::TESTS);
    let trial = |&(name, test): &(&'static str, fn())| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.map(trial).collect()).exit();
}

#[cfg(not(unix))]
fn main() {}
