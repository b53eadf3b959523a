//! Which steps run, and for which crates.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use super::step::{Part, Step};
use super::workspace::{Package, Workspace};

/// A step of a run.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    /// The crates that it is about; all where there are none.
    pub(crate) scope: Vec<String>,
}

/// The parts of the project by which one can choose: what one types, and what that is.
pub(crate) fn parts(workspace: &Workspace) -> Vec<(String, Part<'_>)> {
    let packages = workspace.packages.iter();
    let crates = packages.map(|package| (short_name(package), Part::Crate(package)));
    crates.chain([("web".to_owned(), Part::Web)]).collect()
}

/// `channel` for `tamtam-channel`; the guide is called after its folder.
fn short_name(package: &Package) -> String {
    match package.name.as_str() {
        "tamtam-guide" => "docs".to_owned(),
        name => name.strip_prefix("tamtam-").unwrap_or(name).to_owned(),
    }
}

/// The steps named in `only`, or all, for the parts named in `chosen`, or for all; those that are extra where a crate, they or a long
/// run is asked for.
///
/// # Errors
///
/// If a name is not known, or nothing would run.
pub(crate) fn plan(
    steps: Vec<Step>,
    workspace: &Workspace,
    chosen: &[String],
    only: &[String],
    is_long: bool,
) -> Result<Vec<Planned>> {
    for name in only {
        ensure!(
            steps.iter().any(|step| step.name == *name),
            "there is no step '{name}'; --list names them"
        );
    }
    let parts = parts(workspace);
    let mut asked = Vec::new();
    for name in chosen {
        // The crate's whole name is as good.
        let name = name.strip_prefix("tamtam-").unwrap_or(name);
        let Some((_, part)) = parts.iter().find(|(part, _)| part == name) else {
            let known: Vec<_> = parts.iter().map(|(name, _)| name.as_str()).collect();
            bail!(
                "there is no '{name}' to test; there are {}",
                known.join(", ")
            );
        };
        asked.push(*part);
    }
    let has_extra = is_long || !only.is_empty() || !chosen.is_empty();
    let mut planned = Vec::new();
    for step in steps {
        if step.is_extra && !has_extra {
            continue;
        }
        if !only.is_empty() && !only.contains(&step.name) {
            continue;
        }
        if let Some(scope) = scope_of(&step, &asked) {
            planned.push(Planned { step, scope });
        }
    }
    ensure!(
        !planned.is_empty(),
        "none of these steps is about {}",
        chosen.join(", ")
    );
    Ok(planned)
}

/// The crates that a step is about, of the parts asked for; `None` where it is about none of them.
fn scope_of(step: &Step, asked: &[Part<'_>]) -> Option<Vec<String>> {
    if asked.is_empty() {
        return Some(Vec::new());
    }
    let concerned: Vec<_> = asked.iter().filter(|part| (step.concerns)(part)).collect();
    let crates: BTreeSet<_> = concerned
        .iter()
        .filter_map(|part| match part {
            Part::Crate(package) => Some(package.name.clone()),
            Part::Web => None,
        })
        .collect();
    (!concerned.is_empty()).then(|| crates.into_iter().collect())
}

/// What `scripts/setup` is to see to, each once. Rust comes first: the others rely on it.
pub(crate) fn needs(planned: &[Planned]) -> Vec<String> {
    let mut needs = vec!["rust".to_owned()];
    for need in planned.iter().flat_map(|planned| &planned.step.needs) {
        if !needs.contains(need) {
            needs.push(need.clone());
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::step;

    fn workspace() -> Workspace {
        let package = |name: &str, loom: bool, tests: &[&str], is_published| Package {
            name: name.to_owned(),
            dependencies: if loom {
                vec!["loom".to_owned()]
            } else {
                Vec::new()
            },
            tests: tests.iter().map(ToString::to_string).collect(),
            features: vec!["extra".to_owned()],
            is_published,
            ..Package::default()
        };
        Workspace {
            root: "/".into(),
            packages: vec![
                package("tamtam", false, &[], true),
                package("tamtam-amf", false, &["it"], true),
                package("tamtam-channel", true, &["it", "stress"], true),
                package("tamtam-gateway", false, &["it"], true),
                package("tamtam-guide", false, &["guide"], false),
                package("tamtam-rows", false, &["it"], true),
                package("tamtam-wait", true, &[], true),
                package("xtask", false, &["floors"], false),
            ],
        }
    }

    fn names(chosen: &[&str], only: &[&str]) -> Vec<String> {
        planned(chosen, only)
            .unwrap()
            .into_iter()
            .map(|planned| planned.step.name)
            .collect()
    }

    fn planned(chosen: &[&str], only: &[&str]) -> Result<Vec<Planned>> {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (chosen, only) = (owned(chosen), owned(only));
        plan(step::all(), &workspace(), &chosen, &only, false)
    }

    #[test]
    fn without_a_choice_everything_runs_for_all_and_what_is_extra_in_long_runs() {
        let all = planned(&[], &[]).unwrap();
        let is_usual = |step: &&Step| !step.is_extra;
        assert_eq!(all.len(), step::all().iter().filter(is_usual).count());
        assert!(all.iter().all(|planned| planned.scope.is_empty()));
        let long = plan(step::all(), &workspace(), &[], &[], true).unwrap();
        assert_eq!(long.len(), step::all().len());
        assert!(step::all().iter().any(|step| step.is_extra));
    }

    #[test]
    fn a_crate_with_protocols_has_models_stress_and_sanitizers() {
        let steps = names(&["channel"], &[]);
        for step in [
            "rules", "format", "clippy", "tests", "guide", "drop-in", "docs", "features", "loom",
            "stress", "asan", "miri",
        ] {
            assert!(steps.contains(&step.to_owned()), "{step} of {steps:?}");
        }
        for step in [
            "database", "fuzz", "lab", "web", "newcomer", "targets", "scripts",
        ] {
            assert!(!steps.contains(&step.to_owned()), "{step} of {steps:?}");
        }
        let all = planned(&["channel"], &[]).unwrap();
        assert!(
            all.iter()
                .all(|planned| planned.scope == ["tamtam-channel"])
        );
    }

    #[test]
    fn a_crate_has_the_steps_that_it_gives_work_to() {
        let has = |part: &str, step: &str| names(&[part], &[]).contains(&step.to_owned());
        assert!(has("wait", "loom") && !has("wait", "stress") && !has("wait", "drop-in"));
        assert!(
            has("rows", "asan")
                && has("rows", "database")
                && has("rows", "fuzz")
                && !has("rows", "miri")
        );
        assert!(has("amf", "fuzz") && !has("amf", "asan"));
        assert!(has("gateway", "fuzz") && has("gateway", "clients"));
        assert!(has("xtask", "scripts") && has("xtask", "tests") && !has("xtask", "guide"));
        assert!(has("tamtam", "newcomer") && has("tamtam", "examples"));
        assert_eq!(
            names(&["docs"], &[]),
            ["rules", "format", "clippy", "guide", "book", "features"]
        );
    }

    #[test]
    fn the_web_is_about_no_crate() {
        assert_eq!(names(&["web"], &[]), ["web", "browser"]);
    }

    #[test]
    fn two_crates_share_their_steps() {
        let both = planned(&["amf", "tamtam-wait", "web"], &[]).unwrap();
        let scope = |name: &str| {
            let found = both.iter().find(|planned| planned.step.name == name);
            found.map(|planned| planned.scope.join(" "))
        };
        assert_eq!(scope("clippy").unwrap(), "tamtam-amf tamtam-wait");
        assert_eq!(scope("loom").unwrap(), "tamtam-wait");
        assert_eq!(scope("web").unwrap(), "");
        assert_eq!(scope("drop-in"), None);
    }

    #[test]
    fn one_step_alone_runs_for_all_or_for_a_crate() {
        assert_eq!(names(&[], &["miri", "loom"]), ["loom", "miri"]);
        let of_one = planned(&["channel"], &["miri"]).unwrap();
        assert_eq!(of_one.len(), 1);
        assert_eq!(of_one[0].scope, ["tamtam-channel"]);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let error = |chosen, only| planned(chosen, only).unwrap_err().to_string();
        assert!(error(&[], &["tset"]).contains("there is no step 'tset'"));
        assert!(error(&["chanel"], &[]).contains("there are tamtam, amf, channel, gateway, docs"));
        assert!(error(&["amf"], &["miri"]).contains("about amf"));
    }

    #[test]
    fn each_need_is_named_once_and_rust_first() {
        assert_eq!(
            needs(&planned(&["web"], &[]).unwrap()),
            ["rust", "web", "browser"]
        );
        assert_eq!(
            needs(&planned(&[], &["clippy", "format"]).unwrap()),
            ["rust", "lint"]
        );
    }

    #[test]
    fn steps_have_names_of_their_own_and_say_what_they_prove() {
        let steps = step::all();
        let names: BTreeSet<_> = steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names.len(), steps.len());
        assert!(
            steps
                .iter()
                .all(|step| !step.about.is_empty() && step.limit >= 60)
        );
    }
}
