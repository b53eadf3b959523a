//! What programs see of processes.

#[cfg(target_os = "linux")]
mod limits;
mod stepped;
