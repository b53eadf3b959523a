//! What is written comes back, and hostile changes to it are errors at worst.

use crate::arbitrary::{amf0_value, amf3_value, mutate, mutations};
use proptest::prelude::*;
use tamtam_amf::{Limits, amf0, amf3};

/// Small ones, so that they are met.
const LIMITS: Limits = Limits {
    bytes: 4_096,
    depth: 12,
    values: 500,
};

/// Whatever these bytes are: no panic; and what they mean, if anything, is written and read the same again.
fn read_amf0(bytes: &[u8]) {
    if let Ok(value) = amf0::decode(bytes, LIMITS) {
        let written = amf0::encode(&value).expect("what was decoded can be written");
        let again =
            amf0::decode(&written, Limits::default()).expect("what was written can be read");
        assert_eq!(amf0::encode(&again).expect("as before"), written);
    }
    if let Ok(value) = amf0::Decoder::new(bytes, LIMITS).value_with_references() {
        let written = amf0::encode(&value).expect("what was decoded can be written");
        let again = amf0::Decoder::new(&written, Limits::default()).value_with_references();
        assert_eq!(
            amf0::encode(&again.expect("what was written can be read")).expect("as before"),
            written
        );
    }
    let mut decoder = amf0::Decoder::new(bytes, LIMITS);
    while let Ok(Some(_)) = decoder.next_event() {}
}

fn read_amf3(bytes: &[u8]) {
    if let Ok(value) = amf3::decode(bytes, LIMITS) {
        let written = amf3::encode(&value).expect("what was decoded can be written");
        let again =
            amf3::decode(&written, Limits::default()).expect("what was written can be read");
        assert_eq!(amf3::encode(&again).expect("as before"), written);
    }
    if let Ok(value) = amf3::Decoder::new(bytes, LIMITS).value_with_references() {
        let written = amf3::encode(&value).expect("what was decoded can be written");
        let again = amf3::Decoder::new(&written, Limits::default()).value_with_references();
        assert_eq!(
            amf3::encode(&again.expect("what was written can be read")).expect("as before"),
            written
        );
    }
    let mut decoder = amf3::Decoder::new(bytes, LIMITS);
    while let Ok(Some(_)) = decoder.next_event() {}
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn amf0_values_come_back(value in amf0_value()) {
        let bytes = amf0::encode(&value)?;
        prop_assert_eq!(amf0::decode(&bytes, Limits::default())?, value.clone());
        prop_assert_eq!(amf0::Decoder::new(&bytes, Limits::default()).value_with_references()?, value);
    }

    #[test]
    fn amf3_values_come_back(value in amf3_value()) {
        let bytes = amf3::encode(&value)?;
        prop_assert_eq!(amf3::decode(&bytes, Limits::default())?, value.clone());
        prop_assert_eq!(amf3::Decoder::new(&bytes, Limits::default()).value_with_references()?, value);
    }

    #[test]
    fn every_end_of_amf0_that_comes_too_early_is_an_error(value in amf0_value(), cut in any::<usize>()) {
        let bytes = amf0::encode(&value)?;
        prop_assert!(amf0::decode(&bytes[..cut % bytes.len()], Limits::default()).is_err());
    }

    #[test]
    fn every_end_of_amf3_that_comes_too_early_is_an_error(value in amf3_value(), cut in any::<usize>()) {
        let bytes = amf3::encode(&value)?;
        prop_assert!(amf3::decode(&bytes[..cut % bytes.len()], Limits::default()).is_err());
    }

    #[test]
    fn mutated_amf0_does_no_harm(value in amf0_value(), mutations in mutations()) {
        read_amf0(&mutate(amf0::encode(&value)?, &mutations));
    }

    #[test]
    fn mutated_amf3_does_no_harm(value in amf3_value(), mutations in mutations()) {
        read_amf3(&mutate(amf3::encode(&value)?, &mutations));
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(prop_oneof![0_u8..0x14, any::<u8>()], 0..200)) {
        read_amf0(&bytes);
        read_amf3(&bytes);
    }
}
