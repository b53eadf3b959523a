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
    tamtam_testing::run_tests(None, [older::TESTS, newer::TESTS].concat())
}

#[cfg(not(unix))]
fn main() {}
