//! Hands the versions of the peers to the program, which prints them beside every figure.

use std::process::Command;
use std::{env, fs};

/// The peers that are crates.
const CRATES: &[&str] = &[
    "actix",
    "arc-swap",
    "async-channel",
    "bitcode",
    "capnp-rpc",
    "concurrent-queue",
    "crossbeam-channel",
    "crossfire",
    "flume",
    "iceoryx2",
    "ipc-channel",
    "jsonrpsee",
    "kameo",
    "kanal",
    "may",
    "pco",
    "ractor",
    "rtrb",
    "stakker",
    "tarpc",
    "thingbuf",
    "tokio",
    "tokio-util",
    "tonic",
    "xtra",
];

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is there once cargo builds");
    for name in CRATES {
        let version =
            locked_version(&lock, name).unwrap_or_else(|| panic!("{name} is in Cargo.lock"));
        println!(
            "cargo::rustc-env=VERSION_OF_{}={version}",
            name.replace('-', "_").to_uppercase()
        );
    }
    println!("cargo::rustc-env=VERSION_OF_RUST={}", rust_version());
    service_of_tonic();
}

/// Writes the code of tonic's service, as its compiler of protocol buffers would.
fn service_of_tonic() {
    let page = tonic_build::manual::Method::builder()
        .name("page")
        .route_name("Page")
        .input_type("crate::tonic::Json")
        .output_type("crate::tonic::Json")
        .codec_path("tonic_prost::ProstCodec")
        .build();
    let pages = tonic_build::manual::Service::builder()
        .name("Pages")
        .package("lab")
        .method(page)
        .build();
    tonic_build::manual::Builder::new().compile(&[pages]);
}

/// The version of the package `name` in the text of a Cargo.lock.
fn locked_version<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = lock.lines();
    lines.find(|line| *line == format!("name = \"{name}\""))?;
    lines
        .next()?
        .strip_prefix("version = \"")?
        .strip_suffix('"')
}

/// The compiler's version, which is the standard library's too.
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
