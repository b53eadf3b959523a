//! The targets of decoders, of links and of shared memory with what is near their seeds.

mod near;

use std::fs;
use std::path::Path;

use tamtam_fuzzed::targets;

/// A test for each target named.
macro_rules! near_seeds {
    ($($target:ident)*) => {
        pub(crate) const TESTED: &[&str] = &[$(stringify!($target)),*];

        $(#[test]
        fn $target() {
            crate::near::check(stringify!($target), 4_000);
        })*
    };
}

near_seeds! {
    amf0_decode
    amf3_decode
    amf_packet_decode
    amf_rows_decode
    decompress
    json_arrays_decode
    json_columns_decode
    json_infer
    json_objects_decode
    link_receive
    message_pack_decode
    packed_decode
    packed_view
    text_decode
    text_infer
    xml_rpc_decode
}

/// Memory that processes share is there on Linux alone.
#[cfg(target_os = "linux")]
mod shared {
    near_seeds! {
        shared_memory
    }
}

#[cfg(feature = "arrow")]
mod arrow {
    near_seeds! {
        arrow_ipc_decode
        parquet_decode
    }
}

#[test]
fn none_is_left_out() {
    let tested = [
        TESTED,
        #[cfg(target_os = "linux")]
        shared::TESTED,
        #[cfg(feature = "arrow")]
        arrow::TESTED,
    ];
    for (name, _) in targets::ALL {
        let is_tested = tested.iter().any(|names| names.contains(name));
        assert!(is_tested || name.starts_with("gateway_"), "{name}");
    }
}

/// What cargo-fuzz is given, and what is tested here, are the same.
#[test]
fn each_target_is_one_of_cargo_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    for (name, _) in targets::ALL {
        let file = folder.join(format!("{name}.rs"));
        let text = fs::read_to_string(&file).expect("a target of cargo-fuzz");
        assert!(
            text.contains(&format!("targets::{name}::run(bytes)")),
            "{name}"
        );
    }
    if cfg!(all(
        feature = "arrow",
        feature = "gateway",
        target_os = "linux"
    )) {
        assert_eq!(fs::read_dir(folder).unwrap().count(), targets::ALL.len());
    }
}
