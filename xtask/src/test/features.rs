//! Which choices of a crate's features are compiled.

/// Ways to choose from a library's features: none; all ways up to five features, from then on each alone and each pair, and of
/// more than eight each alone; and all at once.
pub(crate) fn of_library(features: &[String]) -> Vec<String> {
    let count = features.len();
    let fits = |chosen: &[&str]| {
        let size = chosen.len();
        count <= 5 || size <= 1 || size == count || size == 2 && count <= 8
    };
    let mut choices = vec![Vec::new()];
    for feature in features {
        for at in 0..choices.len() {
            let mut more: Vec<&str> = choices[at].clone();
            more.push(feature);
            // What is left out here because of its size is in no larger choice either, but for the one of all.
            if fits(&more) {
                choices.push(more);
            }
        }
    }
    let all: Vec<_> = features.iter().map(String::as_str).collect();
    if !choices.contains(&all) {
        choices.push(all);
    }
    choices.iter().map(|chosen| chosen.join(",")).collect()
}

/// Those of a program, whose features are commands that know nothing of each other: none, each alone, all but each, all.
pub(crate) fn of_program(features: &[String]) -> Vec<String> {
    let mut choices = vec![String::new()];
    for each in features {
        choices.push(each.clone());
        let others: Vec<_> = features
            .iter()
            .filter(|other| *other != each)
            .cloned()
            .collect();
        choices.push(others.join(","));
    }
    choices.push(features.join(","));
    let mut seen = std::collections::BTreeSet::new();
    choices.retain(|choice| seen.insert(choice.clone()));
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("f{at}")).collect()
    }

    #[test]
    fn few_features_are_chosen_in_every_way() {
        assert_eq!(of_library(&[]), [""]);
        assert_eq!(of_library(&features(2)), ["", "f0", "f1", "f0,f1"]);
        for count in 0..=5 {
            let choices = of_library(&features(count));
            assert_eq!(choices.len(), 1 << count);
        }
    }

    #[test]
    fn more_are_chosen_alone_in_pairs_and_at_once() {
        let choices = of_library(&features(7));
        assert_eq!(choices.len(), 1 + 7 + 7 * 6 / 2 + 1);
        assert!(choices.contains(&"f2,f5".to_owned()));
        assert_eq!(choices.last().unwrap(), "f0,f1,f2,f3,f4,f5,f6");
    }

    #[test]
    fn many_are_chosen_alone_and_at_once() {
        let choices = of_library(&features(11));
        assert_eq!(choices.len(), 1 + 11 + 1);
        assert_eq!(choices[0], "");
        assert_eq!(choices[3], "f2");
    }

    #[test]
    fn a_program_is_compiled_with_all_but_each() {
        let choices = of_program(&features(3));
        assert_eq!(
            choices,
            ["", "f0", "f1,f2", "f1", "f0,f2", "f2", "f0,f1", "f0,f1,f2"]
        );
        assert_eq!(of_program(&features(1)), ["", "f0"]);
        assert_eq!(of_program(&[]), [""]);
    }
}
