//! Which choices of a crate's features are compiled.

use super::workspace::Package;

/// With more features than this a choice without each is left out: it takes longest to compile.
const MOST_LEFT_OUT_IN_TURN: usize = 3;

/// The choices of a crate: those that its manifest names, and all features at once; or else [ways to choose](ways).
pub(crate) fn choices(package: &Package) -> Vec<String> {
    match &package.choices {
        None => ways(&package.features),
        Some(named) => {
            let mut choices = named.clone();
            choices.push(package.features.join(","));
            choices
        }
    }
}

/// Ways to choose from a crate's features: none, each alone, all but each, and all. What one feature needs of another shows
/// where it is alone, and what it takes for granted shows where the other is left out.
fn ways(features: &[String]) -> Vec<String> {
    let mut choices = vec![Vec::new()];
    for feature in features {
        choices.push(vec![feature]);
        if features.len() <= MOST_LEFT_OUT_IN_TURN {
            choices.push(features.iter().filter(|&other| other != feature).collect());
        }
    }
    choices.push(features.iter().collect());
    let mut seen = std::collections::BTreeSet::new();
    choices.retain(|choice| seen.insert(choice.clone()));
    let with_commas = |chosen: Vec<&String>| {
        let names: Vec<&str> = chosen.into_iter().map(String::as_str).collect();
        names.join(",")
    };
    choices.into_iter().map(with_commas).collect()
}

/// A choice as cargo takes it where more than one crate is compiled: each feature with its crate.
pub(crate) fn of(package: &str, choice: &str) -> String {
    let features = choice.split(',').filter(|feature| !feature.is_empty());
    let named: Vec<_> = features
        .map(|feature| format!("{package}/{feature}"))
        .collect();
    named.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("f{at}")).collect()
    }

    #[test]
    fn each_is_chosen_alone_and_left_out() {
        assert_eq!(ways(&[]), [""]);
        assert_eq!(ways(&features(1)), ["", "f0"]);
        assert_eq!(ways(&features(2)), ["", "f0", "f1", "f0,f1"]);
        assert_eq!(
            ways(&features(3)),
            ["", "f0", "f1,f2", "f1", "f0,f2", "f2", "f0,f1", "f0,f1,f2"]
        );
    }

    #[test]
    fn features_are_named_with_their_crate() {
        assert_eq!(of("rows", ""), "");
        assert_eq!(of("rows", "f0,f1"), "rows/f0,rows/f1");
    }

    #[test]
    fn many_are_chosen_alone_and_at_once() {
        let choices = ways(&features(11));
        assert_eq!(choices.len(), 1 + 11 + 1);
        assert_eq!(choices[0], "");
        assert_eq!(choices[3], "f2");
    }

    #[test]
    fn those_that_a_manifest_names_are_all_but_for_all_at_once() {
        let mut package = Package {
            features: features(4),
            ..Package::default()
        };
        assert_eq!(choices(&package), ways(&package.features));
        package.choices = Some(vec![String::new(), "f1,f2".to_owned()]);
        assert_eq!(choices(&package), ["", "f1,f2", "f0,f1,f2,f3"]);
    }
}
