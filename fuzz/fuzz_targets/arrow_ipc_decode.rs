//! Gives the bytes of the fuzzer to the target of this name.

#![no_main]

use std::sync::Once;

use libfuzzer_sys::fuzz_target;

static CATCHING: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    // The fuzzer's own hook aborts before a panic can be caught.
    CATCHING.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    tamtam_fuzzed::targets::arrow_ipc_decode::run(bytes);
});
