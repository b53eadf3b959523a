//! How fast is an actor in a process of its own, beside one on a thread, and beside a loop over a socket that someone writes by hand? Run it in
//! release mode, on a machine with two idle cores:
//!
//!     cargo run --release -p tamtam-process --example process_speed [WAY]

#[cfg(target_os = "linux")]
mod framed;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    tamtam_process::start(|workers| {
        workers.add::<linux::Sum>();
    });
    match std::env::args().nth(1).as_deref() {
        Some(framed::ANSWERS) => framed::answer(),
        way => linux::measure(way),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::thread::{CpuSet, sched_setaffinity};
    use serde::{Deserialize, Serialize};
    use tamtam_actor::{Actor, Address, Context, Pool, Reply, Worker};
    use tamtam_process::{Process, Remote};

    use crate::framed;

    pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

    const RUNS: usize = 7;
    const TELLS: u64 = 200_000;
    const ASKS: u64 = 50_000;
    const CLIENTS: u64 = 8;
    /// As long as an answer of the lab's `calls`.
    const PAGE: usize = 4_700;

    /// What the actor gets.
    #[derive(Serialize, Deserialize)]
    pub(crate) enum Request {
        Tell([u64; 2]),
        Ask(u64, Reply<u64>),
        Page(u64, Reply<String>),
    }

    /// The actor in the process, and on a thread.
    pub(crate) struct Sum(u64);

    impl Actor for Sum {
        type Message = Request;

        fn handle(&mut self, request: Request, _: &mut Context<Self>) {
            match request {
                Request::Tell([one, other]) => self.0 += one + other,
                Request::Ask(number, reply) => reply.send(self.0 + number),
                Request::Page(number, reply) => reply.send(
                    String::from_utf8_lossy(&[b'a' + (number % 26) as u8; PAGE]).into_owned(),
                ),
            }
        }
    }

    impl Remote for Sum {
        type Config = ();
        const NAME: &'static str = "sum";

        fn create((): (), _: &mut Context<Self>) -> Outcome<Self> {
            Ok(Sum(0))
        }
    }

    /// All on the first two processors.
    fn pin() {
        let mut cores = CpuSet::new();
        cores.set(0);
        cores.set(1);
        let _ = sched_setaffinity(None, &cores);
    }

    /// Nanoseconds for each of so many: the median and the range of some runs.
    fn show(what: &str, of: u64, mut run: impl FnMut() -> Outcome) -> Outcome {
        let mut times = (0..RUNS).map(|_| {
            let begin = Instant::now();
            run()?;
            Ok(begin.elapsed().as_nanos() as f64 / of as f64)
        });
        let mut times = times.by_ref().collect::<Outcome<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        let (least, median, most) = (times[0], times[RUNS / 2], times[RUNS - 1]);
        println!("{what:48} {median:8.1} ns [{least:.1}..{most:.1}]");
        Ok(())
    }

    fn tells(sum: &Address<Request>) -> Outcome {
        for number in 0..TELLS {
            sum.tell(Request::Tell([number, 1]))?;
        }
        sum.ask(|reply| Request::Ask(0, reply))?;
        Ok(())
    }

    fn asks(sum: &Address<Request>) -> Outcome {
        for number in 0..ASKS {
            sum.ask(|reply| Request::Ask(number, reply))?;
        }
        Ok(())
    }

    fn pages(sum: &Address<Request>, asks: u64) -> Outcome {
        for number in 0..asks {
            let page = sum.ask(|reply| Request::Page(number, reply))?;
            assert_eq!(
                (page.len(), page.as_bytes()[0]),
                (PAGE, b'a' + (number % 26) as u8)
            );
        }
        Ok(())
    }

    fn by_clients(sum: &Address<Request>) -> Outcome {
        thread::scope(|scope| {
            let clients = (0..CLIENTS).map(|_| scope.spawn(|| pages(sum, ASKS / CLIENTS)));
            let clients: Vec<_> = clients.collect();
            clients
                .into_iter()
                .try_for_each(|client| match client.join() {
                    Ok(outcome) => outcome,
                    Err(_) => Err("a client has panicked".into()),
                })
        })
    }

    /// Asks one question after the other, or many at once, by `cx.ask`.
    struct Asker {
        sum: Address<Request>,
        left: u64,
        open: u64,
        done: mpsc::Sender<()>,
    }

    impl Asker {
        fn ask(&mut self, cx: &mut Context<Self>) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.open += 1;
            let number = self.left;
            cx.ask(
                &self.sum,
                |reply| Request::Ask(number, reply),
                |this, answer, cx| {
                    assert!(answer.is_ok());
                    this.open -= 1;
                    this.ask(cx);
                    if this.open == 0 {
                        let _ = this.done.send(());
                    }
                },
            );
        }
    }

    impl Actor for Asker {
        type Message = (u64, u64);

        fn handle(&mut self, (asks, at_once): (u64, u64), cx: &mut Context<Self>) {
            self.left = asks;
            for _ in 0..at_once {
                self.ask(cx);
            }
        }
    }

    fn by_pool(pool: &Pool, sum: &Address<Request>, at_once: u64) -> Outcome {
        let (done, is_done) = mpsc::channel();
        let asker = pool.spawn(Asker {
            sum: sum.clone(),
            left: 0,
            open: 0,
            done,
        });
        asker.tell((ASKS, at_once))?;
        is_done.recv_timeout(Duration::from_secs(60))?;
        Ok(())
    }

    pub(crate) fn measure(way: Option<&str>) -> Outcome {
        pin();
        let process = Process::spawn::<Sum>(())?;
        let thread = Worker::new();
        let worker = thread.spawn(Sum(0));
        let pool = Pool::with_threads(1);
        if way.is_none_or(|way| "many".starts_with(way)) {
            for batches in [false, true] {
                let how = if batches { "in batches" } else { "one by one" };
                let mut socket = framed::Asker::start(batches)?;
                show(
                    &format!("a loop over a socket, {how}, 64 at once"),
                    ASKS,
                    || socket.ask(ASKS, 64),
                )?;
            }
        }
        for (name, sum) in [("process", &process), ("worker", &worker)] {
            let is_wanted = |what: &str| way.is_none_or(|way| what.starts_with(way));
            if is_wanted("tells") {
                show(&format!("tells to a {name}, 16 bytes"), TELLS, || {
                    tells(sum)
                })?;
            }
            if is_wanted("asks") {
                show(&format!("asks of a {name}"), ASKS, || asks(sum))?;
            }
            if is_wanted("pool") {
                show(&format!("asks of a {name} by cx.ask"), ASKS, || {
                    by_pool(&pool, sum, 1)
                })?;
            }
            if is_wanted("many") {
                show(
                    &format!("asks of a {name} by cx.ask, 64 at once"),
                    ASKS,
                    || by_pool(&pool, sum, 64),
                )?;
            }
            if is_wanted("pages") {
                show(&format!("pages of a {name}, 1 client"), ASKS, || {
                    pages(sum, ASKS)
                })?;
            }
            if is_wanted("clients") {
                show(&format!("pages of a {name}, 8 clients"), ASKS, || {
                    by_clients(sum)
                })?;
            }
        }
        Ok(())
    }
}
