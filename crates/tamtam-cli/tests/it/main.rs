//! The program as its users and their scripts see it.

#[cfg(all(
    target_os = "linux",
    feature = "lab",
    feature = "tables",
    feature = "databases",
    feature = "top"
))]
mod errors;
#[cfg(all(
    target_os = "linux",
    feature = "lab",
    feature = "tables",
    feature = "databases"
))]
mod lab;
#[cfg(all(unix, any(feature = "lab", feature = "gateway", feature = "top")))]
mod program;
mod readme;
#[cfg(all(unix, feature = "gateway"))]
mod record;
#[cfg(all(target_os = "linux", feature = "lab"))]
mod report;
#[cfg(feature = "tables")]
mod rows;
#[cfg(all(feature = "tables", feature = "databases", unix))]
mod rows_files;
#[cfg(all(unix, feature = "gateway"))]
mod serve;
#[cfg(all(unix, feature = "gateway"))]
mod steering;
#[cfg(all(unix, feature = "gateway"))]
mod tables;
#[cfg(all(unix, feature = "gateway"))]
mod token;
#[cfg(all(unix, feature = "top"))]
mod top;
