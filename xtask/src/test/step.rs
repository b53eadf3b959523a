//! The steps: what each one proves, what it needs, whom it concerns.

use anyhow::Result;

use super::schedule::Load;
use super::stage::Stage;
use super::steps;
use super::workspace::Package;

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) name: String,
    /// What `scripts/setup` is asked for.
    pub(crate) needs: Vec<String>,
    /// Seconds after which it is ended: three times or more what it takes on a machine that is busy with other builds.
    pub(crate) limit: u64,
    /// What it proves.
    pub(crate) about: String,
    pub(crate) load: Load,
    /// Whether a change in this part of the project needs it.
    pub(crate) concerns: fn(&Part<'_>) -> bool,
    /// Whether a run without a choice leaves it out, since another step does the same, or begins it.
    pub(crate) is_extra: bool,
    /// The folders in the target folder in which it alone compiles.
    pub(crate) folders: &'static [&'static str],
    pub(crate) work: Work,
}

/// What a step does.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Ours(fn(&Stage) -> Result<()>),
    /// A line for the shell, out of a table of steps.
    Shell(String),
}

/// A part of the project that changes by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Crate(&'a Package),
    /// The TypeScript package.
    Web,
}

impl Part<'_> {
    fn is_crate(&self) -> bool {
        matches!(self, Part::Crate(_))
    }

    fn is(&self, name: &str) -> bool {
        matches!(self, Part::Crate(package) if package.name == name)
    }

    fn is_web(&self) -> bool {
        matches!(self, Part::Web)
    }

    /// Whether its protocols have models.
    fn has_models(&self) -> bool {
        matches!(self, Part::Crate(package) if package.has_models())
    }

    fn is_core(&self) -> bool {
        matches!(self, Part::Crate(package) if package.is_core())
    }

    fn is_published(&self) -> bool {
        matches!(self, Part::Crate(package) if package.is_published)
    }

    fn has_test(&self, name: &str) -> bool {
        matches!(self, Part::Crate(package) if package.has_test(name))
    }

    fn has_features(&self) -> bool {
        matches!(self, Part::Crate(package) if !package.features.is_empty())
    }
}

const GUIDE: &str = "tamtam-guide";

/// All of them, in order. What mostly waits comes before others that compile, so that the last steps have something to do beside each other.
pub(crate) fn all() -> Vec<Step> {
    use Load::{Alone, Half};
    vec![
        step("rules", steps::source::rules)
            .about("the lock files are current, unsafe code is only where it may be, each crate has its README")
            .limit(600)
            .concerns(|part| part.is_crate()),
        step("scripts", steps::source::scripts)
            .about("shellcheck finds nothing in the scripts")
            .needs(&["rust", "shell"])
            .limit(120)
            .concerns(|part| part.is("xtask")),
        step("format", steps::source::format)
            .about("the code is formatted")
            .needs(&["rust", "lint"])
            .limit(120)
            .concerns(|part| part.is_crate()),
        step("clippy", steps::source::clippy)
            .about("clippy finds nothing, with every feature, in tests and examples too (in a run of everything while the tests are compiled)")
            .extra()
            .needs(&["rust", "lint"])
            .limit(2400)
            .concerns(|part| part.is_crate()),
        step("tests", steps::tests::tests)
            .about("all tests and doc tests (in a run of everything clippy looks at what is compiled for them)")
            .needs(&["rust", "lint"])
            .limit(3600)
            .concerns(|part| part.is_crate() && !part.is(GUIDE)),
        step("guide", steps::tests::guide)
            .about("the code of the guide runs, its links lead somewhere, its promises name tests that exist (in a run of everything among all tests)")
            .extra()
            .concerns(|part| part.is_published() || part.is(GUIDE)),
        step("book", steps::tests::book)
            .about("mdBook makes a book of the guide, and complains of nothing")
            .limit(120)
            .concerns(|part| part.is(GUIDE)),
        step("examples", steps::tests::examples)
            .about("every example of tamtam and tamtam-ipc runs to its end, and those with a file beside them print what is there")
            .limit(900)
            .concerns(|part| part.is("tamtam") || part.is("tamtam-ipc")),
        step("drop-in", steps::elsewhere::drop_in)
            .about("the tests that crossbeam-channel publishes pass with tamtam-channel in its place")
            .load(Half)
            .limit(5400)
            .concerns(|part| part.is("tamtam-channel"))
            .folders(&["drop-in"]),
        step("window", steps::window::window)
            .about("a worker posts to a real window, which sleeps without mail, and shows what it heard")
            .load(Half)
            .needs(&["rust", "lint", "window"])
            .limit(1800)
            .folders(&["window"]),
        step("database", steps::database::database)
            .about("rows come out of real servers of MariaDB and PostgreSQL with every type, and nothing else")
            .needs(&["rust", "mariadb", "postgres"])
            .limit(2400)
            .concerns(|part| part.is("tamtam-rows")),
        step("witnesses", steps::witnesses::witnesses)
            .about("BlazeDS and Py3AMF read values and packets of AMF as they were meant, and are read so")
            .needs(&["rust", "witnesses"])
            .limit(1200)
            .concerns(|part| part.is("tamtam-amf")),
        step("clients", steps::clients::clients)
            .about("clients of other projects call the gateway: of XML-RPC, JSON-RPC, AMF, Arrow and HTTP")
            .needs(&["rust", "clients"])
            .limit(1800)
            .concerns(|part| part.is("tamtam-gateway")),
        step("docs", steps::source::docs)
            .about("the documentation builds without a warning (in a run of everything while what it shows is tested)")
            .extra()
            .concerns(|part| part.is_published()),
        step("web", steps::web::web)
            .about("the TypeScript package type-checks, its WebAssembly is what its source gives, its tests pass on Node, those of links against a real gateway")
            .needs(&["web"])
            .limit(1800)
            .concerns(|part| part.is_web() || part.is("tamtam-gateway") || part.is("tamtam-link")),
        step("browser", steps::web::browser)
            .about("a real browser reads what the program has written, and makes the same tiles of it in every way; the gateway's page calls methods, compares forms and subscribes; a page calls an actor over a link, and the actor the page; the last mile of a table is measured, and links that are off are refused")
            .needs(&["web", "browser"])
            .limit(1800)
            .concerns(|part| part.is_web() || part.is("tamtam-gateway")),
        step("newcomer", steps::elsewhere::newcomer)
            .about("tamtam with default features is at most 10 crates and compiles in under 15 s; an actor makes a program hardly longer than it did")
            .limit(900)
            .load(Alone)
            .concerns(|part| part.is("tamtam"))
            .folders(&["newcomer"]),
        step("package", steps::elsewhere::package)
            .about("each crate can be published, and compiles out of its package with the oldest Rust that is promised")
            .load(Half)
            .needs(&["rust", "msrv"])
            .limit(2700)
            .folders(&["package"]),
        step("features", steps::source::features)
            .about("each crate compiles without a warning with each of its features alone, with none, and with all (in a run of everything with the oldest Rust that is promised)")
            .load(Half)
            .needs(&["rust", "msrv"])
            .limit(2700)
            .concerns(|part| part.has_features())
            .folders(&["oldest"]),
        step("loom", steps::core::loom)
            .about("the models of the wake-up protocols, and of links, hold in every interleaving tried")
            .load(Half)
            .limit(3600)
            .concerns(|part| part.has_models()),
        step("stress", steps::core::stress)
            .about("stress on all cores, on one core, and beside busy neighbours")
            .load(Half)
            .concerns(|part| part.has_test("stress")),
        step("asan", steps::core::asan)
            .about("the address sanitizer finds nothing in the crates with unsafe code")
            .load(Half)
            .limit(3600)
            .concerns(|part| part.is_core() || part.is("tamtam-rows")),
        step("fuzz", steps::core::fuzz)
            .about("no fuzz target makes a decoder, a link, shared memory or the gateway fail, from what the tests give it on (in long runs, and where it is asked for)")
            .extra()
            .load(Half)
            .needs(&["rust", "nightly", "fuzz"])
            .limit(3600)
            .concerns(|part| {
                let fuzzed = [
                    "tamtam-amf",
                    "tamtam-gateway",
                    "tamtam-ipc",
                    "tamtam-link",
                    "tamtam-rows",
                ];
                fuzzed.iter().any(|name| part.is(name))
            })
            .folders(&["fuzz"]),
        step("miri", steps::core::miri)
            .about("Miri finds no undefined behaviour in the unit tests of these crates")
            .load(Half)
            .needs(&["rust", "miri"])
            .limit(3600)
            .concerns(|part| part.is_core())
            .folders(&["miri"]),
        step("targets", steps::elsewhere::targets)
            .about("the libraries compile for other platforms")
            .load(Half)
            .needs(&["rust", "targets"])
            .limit(2700)
            .folders(&["targets", "wasm"]),
        step("peers", steps::lab::peers)
            .about("the systems that the lab compares with compile, and those beside tamtam-amf")
            .load(Half)
            .needs(&["rust", "lint"])
            .concerns(|part| part.is("tamtam-lab")),
        step("lab", steps::lab::lab)
            .about("the lab measures, verifies, writes its results and makes its report")
            .load(Alone)
            .concerns(|part| part.is("tamtam-lab") || part.is("tamtam-cli")),
    ]
}

/// A step that only a whole run has, unless it says whom it concerns.
fn step(name: &str, work: fn(&Stage) -> Result<()>) -> Step {
    Step {
        name: name.to_owned(),
        needs: owned(&["rust"]),
        limit: 1800,
        about: String::new(),
        load: Load::Whole,
        concerns: |_| false,
        is_extra: false,
        folders: &[],
        work: Work::Ours(work),
    }
}

impl Step {
    fn about(self, about: &str) -> Self {
        let about = about.to_owned();
        Step { about, ..self }
    }

    fn needs(self, needs: &[&str]) -> Self {
        let needs = owned(needs);
        Step { needs, ..self }
    }

    fn limit(self, limit: u64) -> Self {
        Step { limit, ..self }
    }

    fn load(self, load: Load) -> Self {
        Step { load, ..self }
    }

    fn concerns(self, concerns: fn(&Part<'_>) -> bool) -> Self {
        Step { concerns, ..self }
    }

    fn extra(self) -> Self {
        let is_extra = true;
        Step { is_extra, ..self }
    }

    fn folders(self, folders: &'static [&'static str]) -> Self {
        Step { folders, ..self }
    }
}

fn owned(needs: &[&str]) -> Vec<String> {
    needs.iter().map(ToString::to_string).collect()
}

/// Reads a table of steps: `NAME | SECONDS | half, whole or alone, and its needs | what it proves | a line for the shell`.
pub(crate) fn read_table(text: &str) -> Option<Vec<Step>> {
    let step = |line: &str| {
        let mut fields = line.splitn(5, '|').map(str::trim);
        let (name, limit) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
        let mut words = fields.next()?.split_whitespace();
        Some(Step {
            name,
            limit,
            load: match words.next()? {
                "half" => Load::Half,
                "whole" => Load::Whole,
                "alone" => Load::Alone,
                _ => return None,
            },
            needs: words.map(str::to_owned).collect(),
            about: fields.next()?.to_owned(),
            concerns: |_| true,
            is_extra: false,
            folders: &[],
            work: Work::Shell(fields.next()?.to_owned()),
        })
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(step).collect()
}
