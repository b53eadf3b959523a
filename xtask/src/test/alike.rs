//! Has libraries of others compiled alike in whatever choice of our crates and features: what one step has compiled is there for the next.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::features;
use super::stage::{Stage, output_of, packages_as_arguments};
use super::workspace::Package;

/// The crate that gives libraries the features which all of the workspace gives them.
const ALIKE: &str = "tamtam-alike";

/// Arguments with which the libraries of this selection, tests' too, have the features that all of the workspace gives them: for steps
/// that prove nothing about features.
pub(crate) fn all(stage: &Stage, selection: &[String]) -> Result<Vec<String>> {
    arguments(stage, selection, "all", &[])
}

/// The same for what users of a crate compile, but for the libraries that it names itself: which features it has to ask for is what the
/// step finds out.
pub(crate) fn but_for_its_own(stage: &Stage, package: &Package) -> Result<Vec<String>> {
    let mut selection = packages_as_arguments([package]);
    // Named one by one: all features of all packages would be those of the crate beside it, too.
    let features = features::of(&package.name, &package.features.join(","));
    selection.push(format!("--features={features}"));
    arguments(stage, &selection, "normal,build", &package.libraries)
}

fn arguments(
    stage: &Stage,
    selection: &[String],
    kinds: &str,
    but_for: &[String],
) -> Result<Vec<String>> {
    let alike = stage.workspace.package(ALIKE).context(ALIKE)?;
    let mut arguments = Vec::new();
    loop {
        // Those of every platform and switch: the models have some of their own.
        let mut tree = stage.cargo("tree --target all --prefix none --format {p} --edges");
        let tree = output_of(tree.arg(kinds).args(selection).args(&arguments))?;
        let chosen = chosen(&alike.features, &tree, but_for);
        if chosen.is_empty() {
            return Ok(arguments);
        }
        let features: Vec<_> = chosen
            .iter()
            .map(|library| format!("{ALIKE}/{library}"))
            .collect();
        let features = format!("--features={}", features.join(","));
        if arguments.contains(&features) {
            return Ok(arguments);
        }
        // With more features they have more libraries.
        arguments = vec![format!("--package={ALIKE}"), features];
    }
}

/// The features, each of which is called after its library, of the libraries that are in the tree, but for some.
fn chosen(features: &[String], tree: &str, but_for: &[String]) -> Vec<String> {
    let there: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let is_chosen = |feature: &&String| {
        // Where there are two versions of a library, the version follows.
        let library = feature
            .split_once("--")
            .map_or(feature.as_str(), |(library, _)| library);
        there.contains(library) && !but_for.iter().any(|own| own == library)
    };
    features.iter().filter(is_chosen).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::workspace::Workspace;
    use super::*;

    /// Each library with its features; more than once, where programs that run while others are compiled have it with others.
    fn libraries(stage: &Stage, arguments: &[String]) -> BTreeSet<String> {
        let mut tree =
            stage.cargo("tree --locked --prefix none --format {p}|{f} --edges normal,build,dev");
        let tree = output_of(tree.args(arguments)).unwrap();
        let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
        // Those of ours have a folder.
        lines
            .filter(|line| line.contains('|') && !line.contains("(/"))
            .map(str::to_owned)
            .collect()
    }

    /// What the steps of models, of stress and of the sanitizer compile of others is there after the step of all tests.
    #[test]
    fn what_a_step_needs_of_others_is_what_all_of_the_workspace_has() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let stage = Stage {
            workspace: Workspace::read(root).unwrap(),
            target: root.join("target"),
            logs: root.join("target"),
            step: "tests".to_owned(),
            scope: Vec::new(),
        };
        let whole = libraries(&stage, &stage.selection());
        assert!(whole.len() > 100, "{whole:?}");
        let packages = |is_chosen: fn(&Package) -> bool| {
            let packages = stage.packages().filter(|package| is_chosen(package));
            packages_as_arguments(packages)
        };
        let mut models = packages(Package::has_models);
        models.push("--features=tamtam-actor/serde".to_owned());
        let sanitized = packages(|package| package.is_core() || package.name == "tamtam-rows");
        let stressed = packages(|package| package.has_test("stress"));
        for selection in [models, sanitized, stressed] {
            let mut arguments = all(&stage, &selection).unwrap();
            arguments.extend(selection.clone());
            let other: Vec<_> = libraries(&stage, &arguments)
                .into_iter()
                .filter(|library| !whole.contains(library))
                .collect();
            assert!(
                other.is_empty(),
                "with {selection:?} these are compiled once more; give `testing/alike` their features in the whole workspace: {other:#?}"
            );
        }
    }

    #[test]
    fn what_is_in_the_tree_is_alike_but_for_what_a_crate_names_itself() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let features = words("hashbrown--0-14 hashbrown--0-15 rustix serde tokio");
        let tree =
            "tamtam-sea v0.1.0 (/home/sea)\nhashbrown v0.14.5\nserde v1.0.229\ntokio v1.54.1 (*)\n";
        assert_eq!(
            chosen(&features, tree, &words("tokio rustix")),
            words("hashbrown--0-14 hashbrown--0-15 serde")
        );
        assert_eq!(
            chosen(&features, tree, &[]),
            words("hashbrown--0-14 hashbrown--0-15 serde tokio")
        );
        assert!(chosen(&features, "", &[]).is_empty());
    }
}
