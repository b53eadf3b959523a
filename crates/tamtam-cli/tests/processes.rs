//! `tamtam top` beside a program that has processes for its actors: this very program, which is also each of its processes.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, ChildStdin, Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    use serde::{Deserialize, Serialize};
    use serde_json::Value;
    use tamtam_actor::{Actor, Address, Context, Pool, Reply, observe};
    use tamtam_process::{Limits, Process, Remote, Workers, start};

    /// Where the program finds that it is to be one that is looked at.
    const SERVE: &str = "TAMTAM_TEST_SERVES";

    #[derive(Serialize, Deserialize)]
    enum Cook {
        Dish(Reply<u32>),
        /// Does not come back.
        Sleep,
        /// Has a process of its own for a cook below.
        Hire(Reply<u32>),
        Die,
    }

    struct Kitchen {
        dishes: u32,
        below: Option<Address<Cook>>,
    }

    impl Remote for Kitchen {
        type Config = ();
        const NAME: &'static str = "kitchen";

        fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
            Ok(Kitchen {
                dishes: 0,
                below: None,
            })
        }
    }

    impl Actor for Kitchen {
        type Message = Cook;

        fn handle(&mut self, message: Cook, _: &mut Context<Self>) {
            match message {
                Cook::Dish(reply) => {
                    self.dishes += 1;
                    reply.send(self.dishes);
                }
                Cook::Sleep => loop {
                    thread::park();
                },
                Cook::Hire(reply) => {
                    let program = Command::new("/proc/self/exe");
                    let spawner = Process::from(program).name("scullery");
                    let below = spawner.spawn::<Kitchen>(()).unwrap();
                    reply.send(below.ask(Cook::Dish).unwrap());
                    self.below = Some(below);
                }
                Cook::Die => std::process::abort(),
            }
        }
    }

    fn register(workers: &mut Workers) {
        workers.add::<Kitchen>();
    }

    pub(crate) fn main() {
        start(register);
        if std::env::var_os(SERVE).is_some() {
            return serve();
        }
        let tests: [(&str, fn()); 1] = [(
            "a_program_and_its_processes_are_a_tree",
            a_program_and_its_processes_are_a_tree,
        )];
        tamtam_testing::run_tests(None, tests)
    }

    /// A program that is looked at: works until its input ends.
    fn serve() {
        let serving = observe::serve().unwrap();
        let pool = Pool::builder().threads(1).name("hall").build().unwrap();
        let waiter = pool.spawn_fn(|reply: Reply<()>, _| reply.send(()));
        let spawn = |name| {
            let spawner = Process::spawner().name(name);
            spawner.spawn_with_handle::<Kitchen>(()).unwrap()
        };
        let (busy, _) = spawn("busy");
        assert_eq!(busy.ask(Cook::Hire), Ok(1));
        // Begun again once, and then it does not come back from a handler, with three messages behind that.
        let (asleep, process) = spawn("asleep");
        asleep.tell(Cook::Die).unwrap();
        while process.restarts() == 0 {
            thread::yield_now();
        }
        for _ in 0..4 {
            asleep.tell(Cook::Sleep).unwrap();
        }
        // Within limits no file can be read there, and what it uses is known all the same.
        let limits = Limits::new().untrusted().allow_less();
        let spawner = Process::spawner().name("locked").limits(limits);
        let locked = spawner.spawn::<Kitchen>(()).unwrap();
        assert_eq!(locked.ask(Cook::Dish), Ok(1));
        // One that cannot make memory for the process below it.
        let mut poor = Command::new("sh");
        poor.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\""])
            .arg(std::env::current_exe().unwrap());
        let poor = Process::from(poor).name("poor");
        let poor = poor.spawn::<Kitchen>(()).unwrap();
        assert_eq!(poor.ask(Cook::Hire), Ok(1));
        println!("serves");
        let asker = thread::spawn(move || {
            while waiter.ask(|reply| reply).is_ok() && busy.ask(Cook::Dish).is_ok() {}
        });
        // Only the end matters.
        let _ = std::io::stdin().read_line(&mut String::new());
        drop((serving, asker));
        std::process::exit(0);
    }

    struct Program {
        child: Child,
        input: Option<ChildStdin>,
    }

    impl Program {
        fn start(runtime: &std::path::Path) -> Self {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .env(SERVE, "1")
                .env("XDG_RUNTIME_DIR", runtime)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let serves = lines.map_while(Result::ok).any(|line| line == "serves");
            assert!(serves);
            Program {
                input: child.stdin.take(),
                child,
            }
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            drop(self.input.take());
            let _ = self.child.wait();
        }
    }

    fn top(runtime: &std::path::Path, words: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_tamtam"))
            .args(["top", "--once", "--interval", "0.3"])
            .args(words)
            .env("XDG_RUNTIME_DIR", runtime)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What is shown as soon as it is `complete`: a look waits a tenth of a second for all processes, and shows what one has answered before that has no
    /// processor meanwhile.
    fn top_until(
        runtime: &std::path::Path,
        words: &[&str],
        is_complete: impl Fn(&str) -> bool,
    ) -> String {
        let patience = Instant::now() + Duration::from_secs(30);
        loop {
            let shown = top(runtime, words);
            if is_complete(&shown) {
                return shown;
            }
            assert!(Instant::now() < patience, "{shown}");
        }
    }

    /// Whether each process has answered both looks, and the one that is asked all the time has handled something between them.
    fn is_complete(answer: &Value) -> bool {
        let has_answered = |process: &Value| {
            let since = process["answer"]["since_ns"].as_u64();
            since.is_some_and(|since| since >= 200_000_000)
        };
        let processes = answer["processes"].as_array().unwrap();
        let busy = &processes[0]["answer"];
        processes.iter().all(has_answered)
            && busy["actors"][0]["handled_since"].as_u64() > Some(0)
            && !busy["processes"][0]["answer"].is_null()
    }

    fn a_program_and_its_processes_are_a_tree() {
        let folder = tempfile::tempdir().unwrap();
        let program = Program::start(folder.path());

        let shown = top_until(folder.path(), &["--json"], |shown| {
            is_complete(&serde_json::from_str(shown).unwrap())
        });
        let answer: Value = serde_json::from_str(&shown).unwrap();
        let processes = answer["processes"].as_array().unwrap();
        let names: Vec<_> = processes
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["busy", "asleep", "locked", "poor"]);
        for process in processes {
            let (memory, answer) = (&process["memory"], &process["answer"]);
            assert!(memory.as_u64().unwrap() > 100_000, "{process}");
            assert!(process["cpu_ns"].is_u64(), "{process}");
            assert_eq!(answer["pid"], process["pid"]);
            assert!(
                answer["since_ns"].as_u64().unwrap() >= 200_000_000,
                "{process}"
            );
        }
        assert!(answer["memory"].as_u64().unwrap() > 100_000);
        let [busy, asleep, _, poor] = &processes[..] else {
            unreachable!("there are four");
        };
        let root = &busy["answer"]["actors"][0];
        assert_eq!(root["name"], "busy");
        assert!(root["handled_since"].as_u64().unwrap() > 0, "{busy}");
        assert_eq!(
            (&asleep["restarts"], &asleep["queued"]),
            (&1.into(), &4.into())
        );
        let stuck = &asleep["answer"]["actors"][0];
        assert!(
            stuck["at_work_ns"].as_u64().unwrap() > 200_000_000,
            "{asleep}"
        );
        // One of theirs.
        let scullery = &busy["answer"]["processes"][0];
        assert_eq!(
            (&scullery["name"], &scullery["restarts"]),
            (&"scullery".into(), &0.into())
        );
        assert_eq!(scullery["answer"]["actors"][0]["handled"], 1);
        // What carries messages to each.
        for process in processes.iter().chain([scullery]) {
            assert_eq!(process["carrier"], "shared memory", "{process}");
            assert!(process["carrier_refused"].is_null(), "{process}");
        }
        let below_poor = &poor["answer"]["processes"][0];
        assert_eq!(below_poor["carrier"], "socket", "{below_poor}");
        let why = below_poor["carrier_refused"].as_str().unwrap();
        assert!(why.contains("File too large"), "{why}");

        let shown = top_until(folder.path(), &[], |shown| {
            let has = |name| shown.lines().any(|line| line.starts_with(name));
            has("│ └ scullery") && has("  └ scullery")
        });
        println!("{shown}");
        let row = |name: &str| {
            let row = shown.lines().find(|line| line.starts_with(name));
            let row = row.unwrap_or_else(|| panic!("no {name} in\n{shown}"));
            row.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for heading in [
            "PROCESS",
            "PID",
            "CARRIER",
            "RESTARTS",
            "MEMORY",
            "CPU",
            "QUEUED",
            "HANDLED/s",
        ] {
            assert!(row("PROCESS").contains(&heading.to_owned()), "{shown}");
        }
        let (pid, own) = (busy["pid"].to_string(), program.child.id().to_string());
        assert_eq!(row("├ busy")[2], pid);
        assert_eq!(row("│ └ scullery")[3], scullery["pid"].to_string());
        assert_eq!(
            row("├ asleep")[2..5],
            [&*asleep["pid"].to_string(), "memory", "1"]
        );
        assert_eq!(row("├ locked")[3..5], ["memory", "0"]);
        assert_eq!(row("  └ scullery")[3], "socket");
        let said = format!("scullery: messages to this process go through a socket: {why}");
        assert!(shown.contains(&said), "{said} is missing in\n{shown}");
        let is_own =
            |line: &str| line.starts_with("processes-") && line.contains(&format!(" {own} "));
        assert!(shown.lines().any(is_own), "{shown}");
        // The actors of all of them, sorted together.
        assert!(shown.contains(&format!("busy[{pid}] frame")), "{shown}");
        assert!(shown.contains("hall"), "{shown}");

        // A process that has ended is not shown any more.
        let before = busy["pid"].clone();
        let killed = Command::new("kill").args(["-9", &pid]).status();
        assert!(killed.unwrap().success());
        top_until(folder.path(), &["--json"], |shown| {
            let answer: Value = serde_json::from_str(shown).unwrap();
            let busy = &answer["processes"][0];
            busy["restarts"] == 1 && busy["pid"] != before
        });
    }
}
