//! Which top-level module of a crate names which other one, and where.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, UseTree};

use crate::sources::{Sources, is_for_tests};

/// The arrows between the top-level modules of a crate.
#[derive(Debug, Default)]
pub struct Graph {
    /// All top-level modules, also those without an arrow.
    pub modules: BTreeSet<String>,
    /// From whom to whom, and each place where.
    pub arrows: BTreeMap<(String, String), Vec<Place>>,
}

/// Where a module names something of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// From the crate's folder on.
    pub file: PathBuf,
    /// The first line is 1.
    pub line: usize,
    /// The path that stands there, from the crate's root on.
    pub path: String,
}

impl Graph {
    /// Finds the arrows of a crate.
    ///
    /// A path counts wherever it stands, also in a macro. One through a name that the root exports counts as one to the module out
    /// of which it comes. What only tests compile does not count: a test may use all that its crate has.
    #[must_use]
    pub fn of(sources: &Sources) -> Self {
        let mut graph = Graph::default();
        for item in &sources.root().syntax.items {
            if let Item::Mod(module) = item
                && !is_for_tests(&module.attrs)
            {
                graph.modules.insert(module.ident.to_string());
            }
        }
        let exported = exported(sources, &graph.modules);
        for source in &sources.files[1..] {
            let mut paths = Paths {
                module: source.module.clone(),
                found: Vec::new(),
            };
            paths.visit_file(&source.syntax);
            for (path, span) in paths.found {
                let Some(first) = path.first() else { continue };
                let target = if graph.modules.contains(first) {
                    first
                } else if let Some(module) = exported.get(first) {
                    module
                } else {
                    continue;
                };
                if *target == source.module[0] {
                    continue;
                }
                graph
                    .arrows
                    .entry((source.module[0].clone(), target.clone()))
                    .or_default()
                    .push(Place {
                        file: source.file.clone(),
                        line: span.start().line,
                        path: path.join("::"),
                    });
            }
        }
        graph
    }

    /// The groups of modules of which each one reaches each other one, the largest first; a module by itself is no group.
    #[must_use]
    pub fn circles(&self) -> Vec<BTreeSet<String>> {
        let reached: BTreeMap<&String, BTreeSet<&String>> = self
            .modules
            .iter()
            .map(|module| (module, self.reached(module)))
            .collect();
        let mut circles: Vec<BTreeSet<String>> = Vec::new();
        for module in &self.modules {
            if circles.iter().any(|circle| circle.contains(module)) {
                continue;
            }
            let circle: BTreeSet<String> = reached[module]
                .iter()
                .filter(|other| reached[*other].contains(module))
                .map(|other| (*other).clone())
                .collect();
            if circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    fn reached(&self, from: &String) -> BTreeSet<&String> {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(module) = next.pop() {
            for (from, to) in self.arrows.keys() {
                if from == module && reached.insert(to) {
                    next.push(to);
                }
            }
        }
        reached
    }
}

/// The names that are found at the crate's root without being modules, and the module of each.
fn exported(sources: &Sources, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for item in &sources.root().syntax.items {
        if let Item::Use(used) = item {
            let mut leaves = Vec::new();
            leaves_of(&used.tree, &mut Vec::new(), &mut leaves);
            for (path, name, _) in leaves {
                let path: Vec<_> = path
                    .into_iter()
                    .filter(|part| part != "self" && part != "crate")
                    .collect();
                if let Some(module) = path.first().filter(|first| modules.contains(*first)) {
                    exported.insert(name, module.clone());
                }
            }
        }
    }
    for source in &sources.files[1..] {
        for item in &source.syntax.items {
            if let Item::Macro(made) = item
                && made
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("macro_export"))
                && let Some(name) = &made.ident
            {
                exported.insert(name.to_string(), source.module[0].clone());
            }
        }
    }
    exported
}

/// Each path that a `use` names, the name that it gets, and where it stands.
fn leaves_of(
    tree: &UseTree,
    before: &mut Vec<String>,
    leaves: &mut Vec<(Vec<String>, String, Span)>,
) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves_of(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| leaves_of(tree, before, leaves)),
        UseTree::Name(name) => leaves.push(leaf(before, &name.ident, &name.ident)),
        UseTree::Rename(rename) => leaves.push(leaf(before, &rename.ident, &rename.rename)),
        UseTree::Glob(glob) => {
            leaves.push((before.clone(), "*".to_owned(), glob.star_token.spans[0]))
        }
    }
}

fn leaf(before: &[String], ident: &syn::Ident, name: &syn::Ident) -> (Vec<String>, String, Span) {
    let mut path = before.to_vec();
    path.push(ident.to_string());
    (path, name.to_string(), ident.span())
}

/// Gathers the paths of a file that begin with `crate`, `self` or `super`, from the crate's root on.
struct Paths {
    module: Vec<String>,
    found: Vec<(Vec<String>, Span)>,
}

impl Paths {
    fn add(&mut self, path: Vec<String>, span: Span) {
        let mut rest = path.into_iter().peekable();
        let mut absolute = match rest.peek().map(String::as_str) {
            Some("crate") => {
                rest.next();
                Vec::new()
            }
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        while let Some(part) = rest.peek() {
            match part.as_str() {
                "self" => {}
                "super" => drop(absolute.pop()),
                _ => break,
            }
            rest.next();
        }
        absolute.extend(rest);
        self.found.push((absolute, span));
    }

    /// Paths in what is handed to a macro, or in what a macro becomes.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(ident)
                    if ["crate", "super", "self"].iter().any(|word| ident == word) =>
                {
                    let mut path = vec![ident.to_string()];
                    while let [
                        TokenTree::Punct(one),
                        TokenTree::Punct(two),
                        TokenTree::Ident(next),
                        ..,
                    ] = &tokens[at + 1..]
                        && (one.as_char(), two.as_char()) == (':', ':')
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    if path.len() > 1 {
                        self.add(path, ident.span());
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, used: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        leaves_of(&used.tree, &mut Vec::new(), &mut leaves);
        for (path, _, span) in leaves {
            self.add(path, span);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            let span = first.ident.span();
            self.add(
                path.segments
                    .iter()
                    .map(|segment| segment.ident.to_string())
                    .collect(),
                span,
            );
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.add_tokens(called.tokens.clone());
    }
}

fn attributes_of(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
