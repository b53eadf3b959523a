//! `tamtam lab list`: the experiments, what each measures, and who takes part in what.

use super::catalog::Catalog;
use super::experiment::{self, Experiment};
use super::number;
use super::results::terminal::{bold, wrapped};

/// The text of the list.
#[must_use]
pub(super) fn render(catalog: &Catalog, colour: bool) -> String {
    let mut text = String::new();
    for name in catalog.experiments() {
        text.push_str(&bold(name, colour));
        match Experiment::find(name) {
            Some(experiment) => {
                text.push_str(&format!("  ({})\n", experiment.source));
                text.push_str(&wrapped(experiment.about, "  "));
            }
            None => text.push('\n'),
        }
        let entries = || {
            catalog
                .entries
                .iter()
                .map(|entry| &entry.listing)
                .filter(|listing| listing.experiment == name)
        };
        let main = Experiment::find(name).map_or(&[][..], |experiment| experiment.main_variants);

        let variants = catalog.variants(name);
        let width = variants
            .iter()
            .map(|variant| variant.chars().count())
            .max()
            .unwrap_or(0);
        text.push_str("\n  variants, the main ones marked\n");
        for variant in variants {
            let mark = if main.contains(&variant) { '•' } else { ' ' };
            let taking_part = entries()
                .filter(|listing| listing.variants.iter().any(|name| name == variant))
                .count();
            let taking_part = number::counted(taking_part, "contender");
            let words = format!("{} ({taking_part})", experiment::describe(variant));
            text.push_str(&beside(&format!("  {mark} {variant:width$}  "), &words));
        }

        let width = entries()
            .map(|listing| listing.contender.chars().count())
            .max()
            .unwrap_or(0);
        text.push_str("\n  contenders, ours marked\n");
        for listing in entries() {
            let mark = if listing.ours { '*' } else { ' ' };
            let name = format!("  {mark} {:width$}  ", listing.contender);
            text.push_str(&beside(
                &name,
                &format!("{} ({})", listing.about, listing.version),
            ));
        }
        text.push('\n');
    }
    text
}

/// `words` beside `name`, broken where the page ends.
fn beside(name: &str, words: &str) -> String {
    let indent = " ".repeat(name.chars().count());
    format!("{name}{}", wrapped(words, &indent).trim_start())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::render;
    use crate::lab::catalog::{Catalog, Entry};
    use tamtam_lab::Listing;

    #[test]
    fn a_list_looks_like_this() {
        let entry = |contender: &str, ours: bool, variants: &[&str]| Entry {
            listing: Listing {
                contender: contender.to_owned(),
                version: "1.2.3".to_owned(),
                ours,
                experiment: "latch".to_owned(),
                variants: variants.iter().map(|&variant| variant.to_owned()).collect(),
                about: format!("the words about {contender}"),
            },
            program: Arc::from(Path::new("program")),
        };
        let catalog = Catalog {
            entries: vec![
                entry("latch", true, &["4875250/2cores", "7/free/limit"]),
                entry("shared-atomic", false, &["4875250/2cores"]),
            ],
            notices: Vec::new(),
        };
        assert_eq!(
            render(&catalog, false),
            "\
latch  (article D, about 2010)
  two threads count one latch down, as article D's ring does for every message that it handles

  variants, the main ones marked
  • 4875250/2cores  on two cores (2 contenders)
    7/free/limit    on any core, the message over the limit is refused (1 contender)

  contenders, ours marked
  * latch          the words about latch (1.2.3)
    shared-atomic  the words about shared-atomic (1.2.3)

"
        );
    }
}
