//! Floors: a module uses those on lower floors only, by the table in its crate's root.
//!
//! The table stands above the modules, in plain comments, top to bottom:
//!
//! ```text
//! // | floor | modules | what |
//! // | 2 | select | waits for several channels |
//! // | 1 | sender, receiver (one circle) | the ends |
//! ```
//!
//! Modules of one row do not use each other, unless the row says that they are one circle; and then they are.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, bail, ensure};

use crate::{Graph, Sources};

/// The table of one crate.
#[derive(Debug, Default)]
pub struct Floors {
    /// Top to bottom.
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    floor: u32,
    modules: Vec<String>,
    is_circle: bool,
}

/// What breaks the rule.
#[derive(Debug, PartialEq, Eq)]
pub enum Breach {
    /// A module looks up, or at one beside it.
    Upward {
        /// Who looks.
        from: String,
        /// At what.
        to: String,
        /// Where: `FILE:LINE: PATH`.
        places: Vec<String>,
    },
    /// A module stands in no row.
    Homeless(String),
    /// A row names what is no module.
    Unknown(String),
    /// A row that is said to be one circle is more than one, or none.
    NoCircle {
        /// Of the row.
        modules: Vec<String>,
        /// Those of them that are not in the largest circle of the row.
        beside: Vec<String>,
    },
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::Upward { from, to, places } => {
                write!(f, "{from} is not above {to}, and uses it:")?;
                places
                    .iter()
                    .try_for_each(|place| write!(f, "\n    {place}"))
            }
            Breach::Homeless(module) => {
                write!(f, "the module {module} stands on no floor of the table")
            }
            Breach::Unknown(module) => write!(f, "the table has {module}, which is no module"),
            Breach::NoCircle { modules, beside } => {
                write!(
                    f,
                    "{} are said to be one circle; give these floors of their own: {}",
                    modules.join(", "),
                    beside.join(", ")
                )
            }
        }
    }
}

impl Floors {
    /// Reads the table of a crate; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If a row has no number, no module, or a number that is not below that of the row above.
    pub fn read(sources: &Sources) -> Result<Option<Self>> {
        let mut floors = Floors::default();
        for line in sources.root().text.lines() {
            let Some(cells) = line.strip_prefix("// |") else {
                continue;
            };
            let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
            let (Some(floor), Some(modules)) = (cells.first(), cells.get(1)) else {
                bail!("a row of floors has too few cells: {line}");
            };
            if *floor == "floor" || floor.starts_with("--") {
                continue;
            }
            let Ok(floor) = floor.parse() else {
                bail!("a row of floors begins with no number: {line}");
            };
            if let Some(above) = floors.rows.last() {
                ensure!(
                    floor < above.floor,
                    "floors are listed top to bottom; this one is not below the last: {line}"
                );
            }
            let (modules, is_circle) = match modules.strip_suffix("(one circle)") {
                Some(modules) => (modules, true),
                None => (*modules, false),
            };
            let modules: Vec<String> = modules
                .split(',')
                .map(|module| module.trim().trim_matches('`').to_owned())
                .collect();
            ensure!(
                modules.iter().all(|module| !module.is_empty()),
                "a row of floors names no module: {line}"
            );
            floors.rows.push(Row {
                floor,
                modules,
                is_circle,
            });
        }
        Ok((!floors.rows.is_empty()).then_some(floors))
    }

    /// All that breaks the rule.
    #[must_use]
    pub fn breaches(&self, graph: &Graph) -> Vec<Breach> {
        let mut rows = BTreeMap::new();
        for row in &self.rows {
            for module in &row.modules {
                rows.insert(module, row);
            }
        }
        let mut breaches: Vec<Breach> = graph
            .modules
            .iter()
            .filter(|module| !rows.contains_key(module))
            .map(|module| Breach::Homeless(module.clone()))
            .collect();
        breaches.extend(
            rows.keys()
                .filter(|module| !graph.modules.contains(**module))
                .map(|module| Breach::Unknown((*module).clone())),
        );
        let circles = graph.circles();
        for Row { modules, .. } in self.rows.iter().filter(|row| row.is_circle) {
            // The largest circle that has any of them.
            let circle = circles
                .iter()
                .find(|circle| modules.iter().any(|module| circle.contains(module)));
            let is_beside =
                |module: &&String| circle.is_none_or(|circle| !circle.contains(*module));
            let beside: Vec<String> = modules.iter().filter(is_beside).cloned().collect();
            if !beside.is_empty() {
                breaches.push(Breach::NoCircle {
                    modules: modules.clone(),
                    beside,
                });
            }
        }
        for ((from, to), places) in &graph.arrows {
            let (Some(above), Some(below)) = (rows.get(from), rows.get(to)) else {
                continue;
            };
            let is_allowed =
                above.floor > below.floor || above.floor == below.floor && above.is_circle;
            if !is_allowed {
                breaches.push(Breach::Upward {
                    from: from.clone(),
                    to: to.clone(),
                    places: places
                        .iter()
                        .map(|place| {
                            format!("{}:{}: {}", place.file.display(), place.line, place.path)
                        })
                        .collect(),
                });
            }
        }
        breaches
    }

    /// The modules that are said to be one circle, the largest first.
    #[must_use]
    pub fn largest_circle(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| row.is_circle)
            .map(|row| row.modules.len())
            .max()
            .unwrap_or(0)
    }
}
