//! Tells the program which standard library it is compiled with: its ways of passing messages are measured beside ours.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=VERSION_OF_RUST={}", rust_version());
}

/// The compiler's version, which is the standard library's, too.
fn rust_version() -> String {
    let compiler = env::var_os("RUSTC").expect("cargo names the compiler");
    let output = Command::new(compiler)
        .arg("--version")
        .output()
        .expect("the compiler runs");
    let text = String::from_utf8(output.stdout).expect("the compiler prints text");
    // `rustc 1.95.0 (59807616e 2026-04-14)`
    text.split_whitespace()
        .nth(1)
        .expect("a version follows the name")
        .to_owned()
}
