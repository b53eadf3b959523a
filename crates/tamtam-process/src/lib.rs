#![doc = include_str!("../README.md")]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 0 | limits | what a process may do |

#[forbid(unsafe_code)]
pub mod limits;
