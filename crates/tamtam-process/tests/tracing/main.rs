//! Events of `tracing` in workers, as the subscriber of their parent gets them. A program of its own: the subscriber is the process's.

#[cfg(target_os = "linux")]
mod actors;
#[cfg(target_os = "linux")]
mod subscriber;
#[cfg(target_os = "linux")]
mod told;

#[cfg(target_os = "linux")]
fn main() {
    tamtam_process::start(actors::register);
    subscriber::begin();
    // They change what the one subscriber wants.
    tamtam_testing::run_tests(Some(1), told::TESTS.iter().copied())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
