//! Gives the bytes of the fuzzer to the target of this name.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tamtam_fuzzed::targets::message_pack_decode::run(bytes));
