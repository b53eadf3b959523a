//! Which choices of a crate's features are compiled.

/// With more features than this a choice without each is left out: it takes longest to compile.
const MOST_LEFT_OUT_IN_TURN: usize = 3;

/// Ways to choose from a crate's features: none, each alone, all but each, and all. What one feature needs of another shows
/// where it is alone, and what it takes for granted shows where the other is left out.
pub(crate) fn choices(features: &[String]) -> Vec<String> {
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
        assert_eq!(choices(&[]), [""]);
        assert_eq!(choices(&features(1)), ["", "f0"]);
        assert_eq!(choices(&features(2)), ["", "f0", "f1", "f0,f1"]);
        assert_eq!(
            choices(&features(3)),
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
        let choices = choices(&features(11));
        assert_eq!(choices.len(), 1 + 11 + 1);
        assert_eq!(choices[0], "");
        assert_eq!(choices[3], "f2");
    }
}
