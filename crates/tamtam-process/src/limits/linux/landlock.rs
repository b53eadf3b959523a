//! Landlock: files held to paths, and a second wall for ports, signals and the memory of other processes.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::limits::{Limits, LimitsError};

/// The newest version that was tested; of what a kernel lacks of it, nothing is promised.
const TESTED: ABI = ABI::V7;
/// The first that knows of paths as [`Limits::read`] promises them, apart from truncation.
const FIRST: ABI = ABI::V1;
/// The first that refuses to truncate.
const TRUNCATION: ABI = ABI::V3;

/// What of the promises about paths the kernel can hold.
pub(super) enum Support {
    Whole,
    WithoutTruncation,
    Absent,
}

pub(super) fn support() -> Support {
    let has = |version| {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(version))
            .is_ok()
    };
    if has(TRUNCATION) {
        Support::Whole
    } else if has(FIRST) {
        Support::WithoutTruncation
    } else {
        Support::Absent
    }
}

/// Paths that stay open to the worker, with what may be done below them.
pub(super) struct Paths(Vec<PathBeneath<PathFd>>);

impl Paths {
    pub(super) fn open(limits: &Limits) -> Result<Self, LimitsError> {
        let reading = limits.read.iter().map(|path| (path, to_read()));
        let writing = limits
            .read_write
            .iter()
            .map(|path| (path, to_read() | to_write()));
        reading
            .chain(writing)
            .map(|(path, access)| rule(path, access))
            .collect::<Result<_, _>>()
            .map(Paths)
    }
}

fn to_read() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir
}

/// No devices, sockets and pipes are made, and no symbolic links, which a reader with more rights would follow.
fn to_write() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}

fn rule(path: &Path, access: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, LimitsError> {
    let wrong = |cause: String| LimitsError::Path {
        path: path.to_owned(),
        cause,
    };
    let opened = PathFd::new(path).map_err(|error| {
        let cause = std::error::Error::source(&error);
        wrong(cause.map_or_else(|| error.to_string(), ToString::to_string))
    })?;
    let folder = path
        .metadata()
        .map_err(|error| wrong(error.to_string()))?
        .is_dir();
    let access = if folder {
        access
    } else {
        access & AccessFs::from_file(TESTED)
    };
    Ok(PathBeneath::new(opened, access))
}

/// Restricts this thread, and those that it will start; whether the kernel has Landlock.
pub(super) fn restrict(limits: &Limits, paths: Paths) -> Result<bool, LimitsError> {
    let rules = || -> Result<_, landlock::RulesetError> {
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        if limits.no_files {
            ruleset = ruleset.handle_access(AccessFs::from_all(TESTED))?;
        }
        if limits.no_network {
            ruleset = ruleset
                .handle_access(AccessNet::from_all(TESTED))?
                .scope(Scope::AbstractUnixSocket)?;
        }
        if limits.no_processes {
            ruleset = ruleset.scope(Scope::Signal)?;
        }
        let created = ruleset
            .create()?
            .add_rules(paths.0.into_iter().map(Ok::<_, landlock::RulesetError>))?;
        created.restrict_self()
    };
    let status = rules().map_err(|error| {
        LimitsError::system(
            "restricting files, ports and signals by Landlock",
            std::io::Error::other(error),
        )
    })?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
