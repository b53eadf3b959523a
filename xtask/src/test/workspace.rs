//! The crates of the workspace, as cargo knows them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// All crates of ours, by name.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// One crate.
#[derive(Debug, Default, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// From the root on.
    pub(crate) folder: PathBuf,
    /// All but `default` and those that only others switch on, which begin with an underscore.
    pub(crate) features: Vec<String>,
    /// The choices of features that it is built with, where its manifest names them: each with commas between.
    pub(crate) choices: Option<Vec<String>>,
    /// The crates that it depends on, whatever for.
    pub(crate) dependencies: Vec<String>,
    /// Those of them that its users compile, too.
    pub(crate) libraries: Vec<String>,
    /// The names of its integration tests.
    pub(crate) tests: Vec<String>,
    /// It says that it has no unsafe code.
    pub(crate) forbids_unsafe: bool,
    pub(crate) is_library: bool,
    pub(crate) is_program: bool,
    pub(crate) is_published: bool,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let output = Command::new("cargo")
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(root)
            .output()
            .context("cargo metadata")?;
        ensure!(
            output.status.success(),
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut workspace = Self::parse(root, &output.stdout)?;
        for package in &mut workspace.packages {
            let library = fs::read_to_string(root.join(&package.folder).join("src/lib.rs"));
            package.forbids_unsafe =
                library.is_ok_and(|text| text.contains("#![forbid(unsafe_code)]"));
        }
        Ok(workspace)
    }

    fn parse(root: &Path, metadata: &[u8]) -> Result<Self> {
        let metadata: Value = serde_json::from_slice(metadata).context("cargo metadata")?;
        let mut packages: Vec<_> = each(&metadata["packages"])
            .map(|package| Package::parse(root, package))
            .collect::<Option<_>>()
            .context("cargo metadata says less than expected")?;
        packages.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Workspace {
            root: root.to_path_buf(),
            packages,
        })
    }

    /// The crate of this name.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    fn parse(root: &Path, package: &Value) -> Option<Self> {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let folder = manifest.parent()?;
        let mut parsed = Package {
            name: package["name"].as_str()?.to_owned(),
            folder: folder.strip_prefix(root).unwrap_or(folder).to_path_buf(),
            // A list of registries; an empty one forbids all.
            is_published: package["publish"]
                .as_array()
                .is_none_or(|list| !list.is_empty()),
            ..Package::default()
        };
        let features = package["features"].as_object()?.keys();
        parsed.features = features
            .filter(|feature| *feature != "default" && !feature.starts_with('_'))
            .cloned()
            .collect();
        let choices = package["metadata"]["tamtam"]["feature-choices"].as_array();
        parsed.choices = choices.map(|choices| {
            let choices = choices.iter().filter_map(Value::as_str);
            choices.map(str::to_owned).collect()
        });
        parsed.dependencies = each(&package["dependencies"])
            .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
            .collect();
        // Only those of tests and of build scripts have a kind.
        parsed.libraries = each(&package["dependencies"])
            .filter(|dependency| dependency["kind"].is_null())
            .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
            .collect();
        for target in each(&package["targets"]) {
            for kind in each(&target["kind"]).filter_map(Value::as_str) {
                match kind {
                    "lib" => parsed.is_library = true,
                    "bin" => parsed.is_program = true,
                    "test" => parsed.tests.push(target["name"].as_str()?.to_owned()),
                    _ => {}
                }
            }
        }
        Some(parsed)
    }

    /// Whether its protocols have models, which loom runs.
    pub(crate) fn has_models(&self) -> bool {
        self.depends_on("loom")
    }

    /// Whether it is of the core: it has such protocols in unsafe code, which threads share.
    pub(crate) fn is_core(&self) -> bool {
        self.has_models() && !self.forbids_unsafe
    }

    /// Whether it has an integration test of this name.
    pub(crate) fn has_test(&self, name: &str) -> bool {
        self.tests.iter().any(|test| test == name)
    }

    pub(crate) fn depends_on(&self, name: &str) -> bool {
        self.dependencies
            .iter()
            .any(|dependency| dependency == name)
    }
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{"packages": [
        {"name": "tamtam-wait", "manifest_path": "/home/crates/tamtam-wait/Cargo.toml", "publish": null,
         "features": {}, "dependencies": [{"name": "libc"}, {"name": "loom", "target": "cfg(tamtam_loom)"}],
         "targets": [{"name": "tamtam_wait", "kind": ["lib"]}]},
        {"name": "tamtam-cli", "manifest_path": "/home/crates/tamtam-cli/Cargo.toml", "publish": [],
         "metadata": {"tamtam": {"feature-choices": ["", "lab"]}},
         "features": {"default": ["lab"], "lab": ["dep:csv"], "_hidden": []}, "dependencies": [{"name": "csv"}, {"name": "tempfile", "kind": "dev"}],
         "targets": [{"name": "tamtam", "kind": ["bin"]}, {"name": "it", "kind": ["test"]}, {"name": "stress", "kind": ["test"]}]}
    ]}"#;

    #[test]
    fn crates_are_read_from_what_cargo_says() {
        let workspace = Workspace::parse(Path::new("/home"), METADATA.as_bytes()).unwrap();
        let names: Vec<_> = workspace.packages.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["tamtam-cli", "tamtam-wait"]);

        let program = workspace.package("tamtam-cli").unwrap();
        assert_eq!(program.folder, Path::new("crates/tamtam-cli"));
        assert_eq!(program.features, ["lab"]);
        assert_eq!(program.choices.as_deref().unwrap(), ["", "lab"]);
        assert_eq!(program.tests, ["it", "stress"]);
        assert_eq!(program.libraries, ["csv"]);
        assert!(program.depends_on("tempfile"));
        assert!(program.is_program && !program.is_library && !program.is_published);
        assert!(!program.has_models());

        let library = workspace.package("tamtam-wait").unwrap();
        assert_eq!(library.choices, None);
        assert!(library.is_library && library.is_published && library.has_models());
        assert!(workspace.package("tamtam-sea").is_none());
    }

    #[test]
    fn our_own_workspace_is_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let workspace = Workspace::read(root).unwrap();
        let models: Vec<_> = workspace
            .packages
            .iter()
            .filter(|package| package.has_models())
            .collect();
        assert!(models.len() >= 3, "{models:?}");
        let [actor, link] =
            ["tamtam-actor", "tamtam-link"].map(|name| workspace.package(name).unwrap());
        assert!(actor.is_core() && link.has_models() && !link.is_core());
        assert!(
            workspace
                .package("tamtam-actor")
                .unwrap()
                .features
                .contains(&"top".to_owned())
        );
        assert!(!workspace.package("xtask").unwrap().is_published);
    }

    #[test]
    fn what_cargo_does_not_say_is_an_error() {
        assert!(Workspace::parse(Path::new("/"), b"{").is_err());
        assert!(Workspace::parse(Path::new("/"), br#"{"packages": [{}]}"#).is_err());
    }
}
