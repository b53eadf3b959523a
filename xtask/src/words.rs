//! The rule of words: each module says what it is for, and no more than one idea; comments and READMEs name the thing that they are
//! about; what stands beside unsafe code proves it by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{AttrStyle, Attribute, Item, UseTree};

use crate::sources::is_for_tests;
use crate::{Source, Sources};

/// What breaks the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The file, from the crate's folder on.
    pub file: PathBuf,
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong there.
    pub what: What,
}

/// In which way a place breaks the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The module does not say in its first line what it is for.
    NoFirstLine,
    /// The module has more code than one idea takes.
    TooLong,
    /// A note beside unsafe code leans on another one, or on a promise that it does not name.
    LeansOnAnother,
    /// A note beside unsafe code is too short to prove anything.
    TooShort,
    /// A comment or a README has a person for its subject, where it is a thread, an actor or a function.
    Person,
    /// A constant's name does not say what it bounds.
    VagueConstant,
    /// The module takes all that the one above it has (`use super::*`).
    TakesAllAbove,
    /// What synchronizes with something (`SYNC label`) is all that has its label.
    OneEnd,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::NoFirstLine => {
                "the module begins without a line (`//!`) that says what it is for"
            }
            What::TooLong => {
                "the module has more than 600 lines of code, without its tests: split it by what its parts do"
            }
            What::LeansOnAnother => {
                "the SAFETY note leans on another one, or on a promise that it does not name: say here what makes this block sound"
            }
            What::TooShort => "the SAFETY note is too short to prove anything",
            What::Person => {
                "this is about nobody, somebody or whoever: name the thread, the sender, the handler"
            }
            What::VagueConstant => {
                "the constant's name does not say what it bounds: FEWEST_ROWS, not LEAST"
            }
            What::TakesAllAbove => {
                "`use super::*` hides what the module needs, and of which one: name it"
            }
            What::OneEnd => {
                "nothing else in the crate has this label of SYNC: mark the other end, too"
            }
        };
        write!(f, "{}:{}: {what}", self.file.display(), self.line)
    }
}

/// How a note begins that is true only as long as nothing is put in before it.
const LEANING: [&str; 10] = [
    "as above",
    "as below",
    "as said",
    "as in ",
    "as for ",
    "as before",
    "see above",
    "the same",
    "promised",
    "by the caller's promise.",
];
/// Lines of code of a module, at most: neither comments nor its own tests count.
const MOST_LINES_OF_CODE: usize = 600;
/// A note of fewer words says no reason.
const FEWEST_WORDS: usize = 4;
/// Names of constants that tell a quantity of nothing.
const VAGUE: [&str; 14] = [
    "ENOUGH", "FEW", "LARGEST", "LEAST", "LITTLE", "LONG", "LONGEST", "MANY", "MOST", "MUCH",
    "PATIENCE", "SHORT", "TRIES", "WORTH",
];
const PERSONS: [&str; 8] = [
    "anybody",
    "anyone",
    "everybody",
    "everyone",
    "nobody",
    "somebody",
    "someone",
    "whoever",
];

/// What breaks the rule in this crate.
#[must_use]
pub fn breaches(sources: &Sources) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in &sources.files {
        let mut add = |line, what| {
            breaches.push(Breach {
                file: source.file.clone(),
                line,
                what,
            });
        };
        if !source.syntax.attrs.iter().any(is_first_line) {
            add(1, What::NoFirstLine);
        }
        if lines_of_code(source) > MOST_LINES_OF_CODE {
            add(1, What::TooLong);
        }
        for item in source.syntax.items.iter().filter(|item| is_all_above(item)) {
            add(item.span().start().line, What::TakesAllAbove);
        }
        for (line, note) in notes(source) {
            let note = note.to_lowercase();
            let leans = LEANING.iter().any(|begin| note.starts_with(begin));
            if leans || note == "by the caller's promise" {
                add(line, What::LeansOnAnother);
            } else if note.split_whitespace().count() < FEWEST_WORDS {
                add(line, What::TooShort);
            }
        }
        let mut vague = Vague(Vec::new());
        vague.visit_file(&source.syntax);
        for line in vague.0 {
            add(line, What::VagueConstant);
        }
        for (line, comment) in comments(source) {
            if names_a_person(comment) {
                add(line, What::Person);
            }
        }
    }
    breaches.extend(persons_in_readmes(sources));
    breaches.extend(one_ends(sources));
    breaches
}

/// Lines of READMEs with a person for their subject: all lines count, since tables and drawings tell of the mechanism, too.
fn persons_in_readmes(sources: &Sources) -> impl Iterator<Item = Breach> {
    sources.readmes.iter().flat_map(|readme| {
        let lines = readme.text.lines().enumerate();
        let persons = lines.filter(|(_, line)| names_a_person(line));
        persons.map(|(index, _)| Breach {
            file: readme.file.clone(),
            line: index + 1,
            what: What::Person,
        })
    })
}

fn names_a_person(text: &str) -> bool {
    let mut words = text.split(|sign: char| !sign.is_alphanumeric());
    words.any(|word| PERSONS.contains(&word.to_lowercase().as_str()))
}

/// Whether it is `use super::*`.
fn is_all_above(item: &Item) -> bool {
    let Item::Use(item) = item else { return false };
    let UseTree::Path(path) = &item.tree else {
        return false;
    };
    path.ident == "super" && matches!(*path.tree, UseTree::Glob(_))
}

/// Labels of synchronization that only one place of the crate has.
fn one_ends(sources: &Sources) -> Vec<Breach> {
    let mut places: BTreeMap<&str, Vec<(&Path, usize)>> = BTreeMap::new();
    for source in &sources.files {
        for (line, text) in source.text.lines().enumerate() {
            for behind in text.split("SYNC ").skip(1) {
                let is_of_label = |sign: char| sign.is_ascii_lowercase() || sign == '-';
                let end = behind.find(|sign| !is_of_label(sign));
                let label = &behind[..end.unwrap_or(behind.len())];
                let places = places.entry(label).or_default();
                places.push((&source.file, line + 1));
            }
        }
    }
    let alone = places
        .into_values()
        .filter_map(|places| <[_; 1]>::try_from(places).ok());
    alone
        .map(|[(file, line)]| Breach {
            file: file.to_owned(),
            line,
            what: What::OneEnd,
        })
        .collect()
}

/// How many lines have code on them, before the module's own tests.
fn lines_of_code(source: &Source) -> usize {
    let is_test = |item: &&Item| matches!(item, Item::Mod(module) if is_for_tests(&module.attrs));
    let tests = source.syntax.items.iter().find(is_test);
    let end = tests.map_or(usize::MAX, |item| item.span().start().line);
    let lines = source.text.lines().take(end.saturating_sub(1));
    let has_code = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("//")
    };
    lines.filter(has_code).count()
}

/// The lines of constants with vague names; what only tests have does not count.
struct Vague(Vec<usize>);

impl Vague {
    fn look(&mut self, name: &syn::Ident) {
        if VAGUE.iter().any(|vague| name == vague) {
            self.0.push(name.span().start().line);
        }
    }
}

impl<'ast> Visit<'ast> for Vague {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.look(&item.ident);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.look(&item.ident);
    }
}

fn is_first_line(attribute: &Attribute) -> bool {
    matches!(attribute.style, AttrStyle::Inner(_)) && attribute.path().is_ident("doc")
}

/// Each line's comment, if all of the line is one, with the line's number.
fn comments(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source.text.lines().enumerate().filter_map(|(index, line)| {
        let comment = line.trim_start().strip_prefix("//")?;
        Some((index + 1, comment))
    })
}

/// Each note beside unsafe code, as one line, with the number of its first one.
fn notes(source: &Source) -> Vec<(usize, String)> {
    let mut notes: Vec<(usize, String)> = Vec::new();
    let mut last = 0;
    for (line, comment) in comments(source) {
        if let Some(note) = comment.trim_start().strip_prefix("SAFETY:") {
            notes.push((line, note.trim().to_owned()));
            last = line;
        } else if let Some((_, note)) = notes.last_mut()
            && last + 1 == line
            && !comment.starts_with(['/', '!'])
        {
            note.push(' ');
            note.push_str(comment.trim());
            last = line;
        }
    }
    notes
}

/// The types, traits and aliases of the crate whose names are given in more than one file, and these files. What only tests
/// or models have does not count.
#[must_use]
pub fn doubled_names(sources: &Sources) -> BTreeMap<String, BTreeSet<PathBuf>> {
    let mut names = BTreeMap::new();
    for source in &sources.files {
        collect(&source.syntax.items, &source.file, &mut names);
    }
    names.retain(|_, files: &mut BTreeSet<PathBuf>| files.len() > 1);
    names
}

fn collect(items: &[Item], file: &Path, names: &mut BTreeMap<String, BTreeSet<PathBuf>>) {
    for item in items {
        let (name, attributes) = match item {
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            Item::Union(item) => (&item.ident, &item.attrs),
            Item::Trait(item) => (&item.ident, &item.attrs),
            Item::Type(item) => (&item.ident, &item.attrs),
            Item::Mod(module) => {
                if let (Some((_, items)), false) = (&module.content, is_for_tests(&module.attrs)) {
                    collect(items, file, names);
                }
                continue;
            }
            _ => continue,
        };
        if !is_for_tests(attributes) {
            let files = names.entry(name.to_string()).or_default();
            files.insert(file.to_owned());
        }
    }
}
