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
    let arguments = std::env::args()
        .filter(|argument| !argument.starts_with("-Z") && argument != "--report-time");
    let mut arguments = libtest_mimic::Arguments::from_iter(arguments);
    // They change what the one subscriber wants.
    arguments.test_threads = Some(1);
    let trial = |(name, test): (&str, fn())| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let tests = told::TESTS.iter().copied().map(trial).collect();
    libtest_mimic::run(&arguments, tests).exit();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
