//! The source files of one crate, parsed, in the order in which its modules name each other, and the READMEs beside them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use syn::{Attribute, Item, ItemMod};

/// All that a crate compiles for its users: files that only its tests need are left out.
#[expect(
    missing_debug_implementations,
    reason = "a syntax tree as text helps no reader"
)]
pub struct Sources {
    /// The crate's folder.
    pub folder: PathBuf,
    /// The first one is the crate's root.
    pub files: Vec<Source>,
    /// What stands beside them: README.md in the crate's folder, in `src` and below.
    pub readmes: Vec<Readme>,
}

/// One file.
#[expect(
    missing_debug_implementations,
    reason = "a syntax tree as text helps no reader"
)]
pub struct Source {
    /// Where it is, from the crate's folder on.
    pub file: PathBuf,
    /// Its module, without `crate`.
    pub module: Vec<String>,
    /// Its text.
    pub text: String,
    /// What the text says.
    pub syntax: syn::File,
}

/// A README.md: what a folder is for, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readme {
    /// Where it is, from the crate's folder on.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
}

impl Sources {
    /// Reads the library in `folder`, or the program where there is no library.
    ///
    /// # Errors
    ///
    /// If a file is missing, cannot be read or is no Rust.
    pub fn read(folder: &Path) -> Result<Self> {
        let root = ["src/lib.rs", "src/main.rs"]
            .into_iter()
            .find(|root| folder.join(root).is_file())
            .with_context(|| {
                format!(
                    "{} has neither src/lib.rs nor src/main.rs",
                    folder.display()
                )
            })?;
        let mut sources = Sources {
            folder: folder.to_path_buf(),
            files: Vec::new(),
            readmes: Vec::new(),
        };
        sources.add(Path::new(root), Vec::new(), Path::new("src"))?;
        sources.add_readme(Path::new(""))?;
        sources.add_readmes(Path::new("src"))?;
        Ok(sources)
    }

    /// The crate's root.
    #[must_use]
    pub fn root(&self) -> &Source {
        &self.files[0]
    }

    /// Adds the README.md of this folder and of all below.
    fn add_readmes(&mut self, within: &Path) -> Result<()> {
        self.add_readme(within)?;
        let path = self.folder.join(within);
        let mut folders = Vec::new();
        for entry in fs::read_dir(&path).with_context(|| path.display().to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(within.join(entry.file_name()));
            }
        }
        folders.sort();
        folders
            .iter()
            .try_for_each(|folder| self.add_readmes(folder))
    }

    /// Adds the README.md of this folder, if it has one.
    fn add_readme(&mut self, within: &Path) -> Result<()> {
        let file = within.join("README.md");
        let path = self.folder.join(&file);
        if path.is_file() {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            self.readmes.push(Readme { file, text });
        }
        Ok(())
    }

    /// Adds a file, and then those of its modules, which are in `children`.
    fn add(&mut self, file: &Path, module: Vec<String>, children: &Path) -> Result<()> {
        let path = self.folder.join(file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let syntax = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        let mut modules = Vec::new();
        modules_of(&syntax.items, &mut Vec::new(), &mut modules);
        self.files.push(Source {
            file: file.to_path_buf(),
            module: module.clone(),
            text,
            syntax,
        });
        for (within, name, path) in modules {
            let mut module = module.clone();
            module.extend(within.iter().cloned());
            module.push(name.clone());
            let mut folder = children.to_path_buf();
            folder.extend(&within);
            if let Some(path) = path {
                let beside = file.parent().unwrap_or(Path::new("")).join(path);
                self.add(&beside, module, &folder.join(&name))?;
                continue;
            }
            let flat = folder.join(format!("{name}.rs"));
            let nested = folder.join(&name).join("mod.rs");
            let found = [flat, nested]
                .into_iter()
                .find(|file| self.folder.join(file).is_file());
            let Some(found) = found else {
                bail!(
                    "the module {} of {} has no file",
                    module.join("::"),
                    self.folder.display()
                );
            };
            self.add(&found, module, &folder.join(&name))?;
        }
        Ok(())
    }
}

/// A module in a file of its own: the inline modules around its declaration, its name, and the path that it is given.
type Declared = (Vec<String>, String, Option<String>);

fn modules_of(items: &[Item], within: &mut Vec<String>, found: &mut Vec<Declared>) {
    for item in items {
        let Item::Mod(ItemMod {
            attrs,
            ident,
            content,
            ..
        }) = item
        else {
            continue;
        };
        if is_for_tests(attrs) {
            continue;
        }
        match content {
            Some((_, items)) => {
                within.push(ident.to_string());
                modules_of(items, within, found);
                within.pop();
            }
            None => found.push((within.clone(), ident.to_string(), path_of(attrs))),
        }
    }
}

/// What `#[path = ".."]` says.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let named = attribute.meta.require_name_value().ok()?;
        if !named.path.is_ident("path") {
            return None;
        }
        match &named.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        }
    })
}

/// Whether an item is compiled for tests alone: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, ..))]`.
#[must_use]
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute
                    .meta
                    .require_list()
                    .is_ok_and(|list| asks_for_test(list.tokens.clone()))
    })
}

/// Whether a condition holds in tests alone, by the word `test` outside of `not(..)` and `any(..)`.
fn asks_for_test(condition: proc_macro2::TokenStream) -> bool {
    use proc_macro2::TokenTree;
    let mut function = String::new();
    condition.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => {
            function = ident.to_string();
            function == "test"
        }
        TokenTree::Group(group) => function == "all" && asks_for_test(group.stream()),
        _ => false,
    })
}
