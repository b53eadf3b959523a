//! What holds over every carrier of links holds over that of processes, too: shared memory, and the socket where there is none.

mod carriers;
#[path = "../../tamtam-link/tests/suite/mod.rs"]
mod suite;
