//! What was meant by a name that is not known: "did you mean handover?".

/// From this likeness on two names may be slips of each other; the bound that clap has for options.
const ALIKE: f64 = 0.7;

/// How many names are offered at most.
const MOST_OFFERED: usize = 3;

/// The known names that are most like `name`, the likeliest first.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut alike: Vec<(f64, &str)> = Vec::new();
    for other in known {
        let lower = other.to_lowercase();
        // Who leaves out a path or an end means the name as much as who swaps letters.
        let likeness = if !name.is_empty() && lower.contains(&name) {
            1.0
        } else if lower.len() > 2 && strsim::osa_distance(&name, &lower) == 1 {
            // One slip, which is much of a short name.
            0.95
        } else {
            strsim::jaro(&name, &lower)
        };
        if likeness > ALIKE && !alike.iter().any(|(_, known)| *known == other) {
            alike.push((likeness, other));
        }
    }
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    let best = alike.first().map_or(0.0, |(likeness, _)| *likeness);
    // What is much less alike than the best is not meant.
    alike.retain(|(likeness, _)| best - likeness < 0.1);
    alike
        .into_iter()
        .take(MOST_OFFERED)
        .map(|(_, name)| name)
        .collect()
}

/// What to say behind "there is no experiment handovr": "; did you mean handover?", or else `otherwise`.
#[must_use]
pub fn suggest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    match nearest(name, known).as_slice() {
        [] => otherwise.to_owned(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn a_slip_of_the_pen_is_understood() {
        let known = [
            "handover",
            "post",
            "ring",
            "rows",
            "std::sync::mpsc",
            "slot",
            "slot-spin",
        ];
        assert_eq!(suggest("handovr", known, ""), "; did you mean handover?");
        assert_eq!(suggest("psot", known, ""), "; did you mean post?");
        assert_eq!(suggest("Rign", known, ""), "; did you mean ring?");
        assert_eq!(
            suggest("mpsc", known, ""),
            "; did you mean std::sync::mpsc?"
        );
        assert_eq!(suggest("xyzzy", known, ": see the list"), ": see the list");
        assert_eq!(suggest("", known, ": none"), ": none");
        assert_eq!(
            suggest("slo", known, ""),
            "; did you mean slot or slot-spin?"
        );
    }
}
