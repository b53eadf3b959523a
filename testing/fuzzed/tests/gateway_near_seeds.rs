//! The targets of the gateway with what is near their seeds, one after the other: they look at how much memory the process has, and share
//! one gateway.

#![cfg(feature = "gateway")]

mod near;

use tamtam_fuzzed::targets;

#[test]
fn the_gateway_holds() {
    let names = targets::ALL.iter().map(|(name, _)| *name);
    let names: Vec<_> = names.filter(|name| name.starts_with("gateway_")).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    for name in names {
        near::check(name, 400);
    }
}
