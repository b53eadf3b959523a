//! Real processes from the image of this test program.

#[cfg(target_os = "linux")]
mod actors;
#[cfg(target_os = "linux")]
mod alone;
#[cfg(target_os = "linux")]
mod deaths;
#[cfg(target_os = "linux")]
mod flood;
#[cfg(target_os = "linux")]
mod garbled;
#[cfg(target_os = "linux")]
mod hangs;
#[cfg(target_os = "linux")]
mod idle;
#[cfg(target_os = "linux")]
mod inherited;
#[cfg(target_os = "linux")]
mod interrupted;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod lives;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod panics;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod restarts;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(target_os = "linux")]
mod supervision;
#[cfg(target_os = "linux")]
mod turns;

#[cfg(target_os = "linux")]
fn main() {
    garbled::be_if_asked();
    tamtam_process::start(actors::register);
    alone::be_if_asked();
    lives::replace_if_asked();
    lives::look_for_what_is_left();
    steps::walk_if_asked();
    memory::die_if_asked();
    idle::look_if_asked();
    flood::flood_if_asked();
    inherited::leak_if_asked();
    output::speak_if_asked();
    let tests = [
        alone::tests(),
        lives::tests(),
        deaths::tests(),
        flood::tests(),
        garbled::tests(),
        hangs::tests(),
        idle::tests(),
        inherited::tests(),
        interrupted::tests(),
        links::tests(),
        memory::tests(),
        output::tests(),
        panics::tests(),
        pool::tests(),
        restarts::tests(),
        steps::tests(),
        supervision::tests(),
        turns::tests(),
    ]
    .concat();
    tamtam_testing::run_tests(None, tests)
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// The tests of a module, with their names.
#[cfg(target_os = "linux")]
macro_rules! tests {
    ($module:literal: $($test:ident)*) => {
        /// Each test of this module.
        pub(crate) fn tests() -> Vec<(&'static str, fn())> {
            vec![$((concat!($module, "::", stringify!($test)), $test as fn())),*]
        }
    };
}
#[cfg(target_os = "linux")]
pub(crate) use tests;

/// What takes longer never comes; what a process has to do takes minutes on a machine that is busy with other things.
#[cfg(target_os = "linux")]
const LONG: std::time::Duration = std::time::Duration::from_secs(300);

/// Until it holds, which it does at once or soon.
#[cfg(target_os = "linux")]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::yield_now();
    }
}
