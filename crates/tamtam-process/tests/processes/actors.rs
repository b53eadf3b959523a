//! The actors that the tests have processes for.

use std::error::Error;
use std::io::Write;

use std::sync::Mutex;

use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tamtam_actor::{Actor, Address, Context, Reply};
use tamtam_process::{Remote, Workers};

pub(crate) fn register(workers: &mut Workers) {
    workers
        .add::<Counter>()
        .add::<Unfit>()
        .add::<Chain>()
        .add::<Holder>()
        .add::<crate::flood::Flooder>()
        .add::<crate::inherited::Lister>()
        .add::<crate::links::Partner>()
        .add::<crate::memory::Worker>()
        .add::<crate::output::Speaker>()
        .add::<crate::steps::Walker>();
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Death {
    Abort,
    Exit(i32),
    Signal,
    Panic,
    /// A panic while another one unwinds.
    DoublePanic,
    Stack,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Count {
    Add(u64),
    Read(Reply<u64>),
    Keep(Reply<u64>),
    Pid(Reply<u32>),
    IsPrimordial(Reply<bool>),
    /// Tells the number, and adds one, so often.
    TellMany(u64, Address<u64>),
    /// Waits in the handler for the answer of an actor of the parent.
    AskBack(Address<Reply<u64>>, Reply<u64>),
    Bytes(Vec<u8>, Reply<Vec<u8>>),
    Die(Death),
    DieAsking(Death, Reply<u64>),
    /// Says that it has begun, and never comes back.
    Hang(Address<u64>),
    /// Takes so many bytes of memory, and holds them.
    Fill(usize, Reply<()>),
    Stdin(Reply<u64>),
    /// Writes the number behind those that are in the file.
    Log(String, u64),
    /// Whether a file can be read, and another program started.
    Reach(String, Reply<(bool, bool)>),
    Stop,
    /// Panics on a thread of this name, and waits for that.
    PanicOn(String),
    /// How many replies are kept.
    Kept(Reply<u64>),
    /// Writes this into the word that says whether the process lives.
    Life(u32, Reply<()>),
    /// Adds one.
    Note(Written),
    /// Gives an address back as it came.
    Echo(Address<u64>, Reply<Address<u64>>),
    Try(Picky, Reply<u64>),
    /// Gives the reply back to an actor of the parent.
    PassOn(Address<Reply<u64>>, Reply<u64>),
    /// What carries the messages of a process of this process.
    CarrierBelow(Reply<String>),
    /// Whether the message was read on the thread that handles it, and whether that is the main thread.
    Threads(ReadOn, Reply<(bool, bool)>),
    /// Gives an address for numbers that are added.
    Adder(Reply<Address<u64>>),
    /// Tells a number; whether that was taken.
    TellOther(Address<u64>, u64, Reply<bool>),
    /// Stops an actor of the parent.
    StopOther(Address<u64>, Reply<()>),
    /// Links itself with an actor of the parent.
    LinkWith(Address<u64>, Reply<()>),
    /// Writes this to the standard output.
    Print(String, Reply<()>),
    /// Panics with a text of so many bytes, which is not printed.
    FailAt(usize),
    /// Answers by what is nested so deep.
    Nest(usize, Reply<Nested>),
    Refuse(String, Reply<u64>),
    /// Answers, and then waits in the handler for the answer of an actor of the parent.
    AnswerAndAskBack(Reply<u32>, Address<Reply<u64>>),
    /// Makes this file, and tells a text of so many bytes.
    MakeAndTell(String, usize, Address<String>),
}

/// As it is read, a value that may have one, which may have one, and so on. It is written as so many bytes that say so.
#[derive(Debug)]
pub(crate) struct Nested(pub(crate) usize);

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = serializer.serialize_tuple(self.0 + 1)?;
        for left in (0..=self.0).rev() {
            bytes.serialize_element(&u8::from(left > 0))?;
        }
        bytes.end()
    }
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Chain(Option<Box<Chain>>);

        let mut chain = Chain::deserialize(deserializer)?;
        let mut depth = 0;
        while let Some(next) = chain.0 {
            (chain, depth) = (*next, depth + 1);
        }
        Ok(Nested(depth))
    }
}

/// The thread on which it is read.
pub(crate) struct ReadOn(std::thread::ThreadId);

impl ReadOn {
    pub(crate) fn this_thread() -> Self {
        ReadOn(std::thread::current().id())
    }
}

impl Serialize for ReadOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for ReadOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| ReadOn::this_thread())
    }
}

/// Is written, and is read, or is not.
pub(crate) struct Picky {
    pub(crate) is_written: bool,
    pub(crate) is_read: bool,
}

impl Serialize for Picky {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_written {
            serializer.serialize_bool(self.is_read)
        } else {
            Err(serde::ser::Error::custom("it is not to be written"))
        }
    }
}

impl<'de> Deserialize<'de> for Picky {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_read = bool::deserialize(deserializer)?;
        let picky = Picky {
            is_written: true,
            is_read,
        };
        let refused = || serde::de::Error::custom("it is not to be read");
        is_read.then_some(picky).ok_or_else(refused)
    }
}

/// Does something when it is written, the first time.
#[derive(Default)]
pub(crate) struct Written(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Written {
    pub(crate) fn then(call: impl FnOnce() + Send + 'static) -> Self {
        Written(Mutex::new(Some(Box::new(call))))
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = self.0.lock().unwrap().take();
        if let Some(call) = call {
            call();
        }
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer)?;
        Ok(Written::default())
    }
}

pub(crate) struct Counter {
    number: u64,
    kept: Vec<Reply<u64>>,
    memory: Vec<u8>,
}

impl Remote for Counter {
    type Config = u64;
    const NAME: &'static str = "counter";

    fn create(number: u64, _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Counter {
            number,
            kept: Vec::new(),
            memory: Vec::new(),
        })
    }
}

impl Actor for Counter {
    type Message = Count;

    fn handle(&mut self, message: Count, cx: &mut Context<Self>) {
        match message {
            Count::Add(number) => self.number += number,
            Count::Note(_) => self.number += 1,
            Count::Read(reply) => reply.send(self.number),
            Count::Echo(address, reply) => reply.send(address),
            Count::Try(_, reply) => reply.send(self.number),
            Count::Keep(reply) => self.kept.push(reply),
            Count::Refuse(why, reply) => reply.refuse(why),
            Count::Pid(reply) => reply.send(std::process::id()),
            Count::IsPrimordial(reply) => reply.send(tamtam_process::is_primordial()),
            Count::TellMany(times, to) => {
                for _ in 0..times {
                    to.tell(self.number).unwrap();
                    self.number += 1;
                }
            }
            Count::MakeAndTell(path, bytes, to) => {
                let text = "x".repeat(bytes);
                std::fs::write(path, "").unwrap();
                to.tell(text).unwrap();
            }
            Count::PassOn(to, reply) => to.tell(reply).unwrap(),
            Count::CarrierBelow(reply) => {
                let below = tamtam_process::Process::from(this_program());
                let (below, handle) = below.spawn_with_handle::<Counter>(0).unwrap();
                assert_eq!(below.ask(Count::Read), Ok(0));
                reply.send(handle.carrier().unwrap().to_string());
            }
            Count::Threads(ReadOn(thread), reply) => {
                let is_main = rustix::thread::gettid() == rustix::process::getpid();
                reply.send((thread == std::thread::current().id(), is_main));
            }
            Count::Adder(reply) => reply.send(cx.address().map(Count::Add)),
            Count::TellOther(other, number, reply) => reply.send(other.tell(number).is_ok()),
            Count::StopOther(other, reply) => {
                other.stop();
                reply.send(());
            }
            Count::LinkWith(other, reply) => {
                cx.link(&other);
                reply.send(());
            }
            Count::Print(text, reply) => {
                let mut output = std::io::stdout();
                output.write_all(text.as_bytes()).unwrap();
                output.flush().unwrap();
                reply.send(());
            }
            Count::FailAt(bytes) => std::panic::resume_unwind(Box::new("x".repeat(bytes))),
            Count::Nest(depth, reply) => reply.send(Nested(depth)),
            Count::AskBack(to, reply) => reply.send(to.ask(|reply| reply).unwrap()),
            Count::AnswerAndAskBack(reply, parent) => {
                reply.send(std::process::id());
                parent.ask(|reply| reply).unwrap();
            }
            Count::Bytes(bytes, reply) => reply.send(bytes),
            Count::PanicOn(name) => {
                let thread = std::thread::Builder::new().name(name);
                let thread = thread.spawn(|| panic!("a thread of a worker panics"));
                assert!(thread.unwrap().join().is_err());
            }
            Count::Die(death) => die(&death),
            Count::DieAsking(death, _reply) => die(&death),
            Count::Hang(to) => {
                to.tell(1).unwrap();
                loop {
                    std::thread::park();
                }
            }
            Count::Fill(bytes, reply) => {
                self.memory = vec![1; bytes];
                reply.send(());
            }
            Count::Stdin(reply) => {
                let read = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                reply.send(read.unwrap());
            }
            Count::Log(path, number) => {
                let file = std::fs::OpenOptions::new().append(true).open(path);
                file.unwrap().write_all(&number.to_le_bytes()).unwrap();
            }
            Count::Reach(path, reply) => {
                let reads = std::fs::read(path).is_ok();
                let starts = std::process::Command::new("/bin/true").status();
                reply.send((reads, starts.is_ok_and(|status| status.success())));
            }
            Count::Stop => cx.stop(),
            Count::Life(word, reply) => {
                say_of_life(word);
                reply.send(());
            }
            Count::Kept(reply) => reply.send(self.kept.len() as u64),
        }
    }
}

/// Writes into the memory that is shared with the parent, as a worker may that is in the hands of an attacker.
fn say_of_life(word: u32) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let shared = maps.lines().find(|line| line.contains("/memfd:tamtam ("));
    let start = shared.unwrap().split('-').next().unwrap();
    let start = u64::from_str_radix(start, 16).unwrap();
    let memory = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/mem");
    // Behind what the memory is stand the processes that have it: the parent, then this one.
    let place = start + 384 + 32;
    std::os::unix::fs::FileExt::write_all_at(&memory.unwrap(), &word.to_ne_bytes(), place).unwrap();
}

fn die(death: &Death) {
    match death {
        Death::Abort => std::process::abort(),
        Death::Exit(code) => std::process::exit(*code),
        Death::Signal => {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::FPE,
            );
        }
        Death::Panic => panic!("on purpose"),
        Death::DoublePanic => {
            struct Dropped;

            impl Drop for Dropped {
                fn drop(&mut self) {
                    panic!("the second panic");
                }
            }

            let _dropped = Dropped;
            panic!("the first panic");
        }
        Death::Stack => {
            #[expect(unconditional_recursion, reason = "that is how a stack overflows")]
            fn deeper(depth: u64) -> u64 {
                std::hint::black_box(deeper(std::hint::black_box(depth + 1)) + 1)
            }
            deeper(0);
        }
    }
}

/// Cannot be made.
pub(crate) struct Unfit;

impl Unfit {
    /// Its making does not come back.
    pub(crate) const NEVER_MADE: &str = "never made";
}

impl Remote for Unfit {
    type Config = String;
    const NAME: &'static str = "unfit";

    fn create(why: String, _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        if why == Unfit::NEVER_MADE {
            loop {
                std::thread::park();
            }
        }
        Err(why.into())
    }
}

impl Actor for Unfit {
    type Message = Reply<u64>;

    fn handle(&mut self, _: Reply<u64>, _: &mut Context<Self>) {}
}

/// Has a process of its own, which has one, and so on.
pub(crate) struct Chain {
    next: Option<Address<Reply<Vec<u32>>>>,
}

impl Remote for Chain {
    type Config = u32;
    const NAME: &'static str = "chain";

    fn create(depth: u32, _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let next = match depth.checked_sub(1) {
            Some(depth) => {
                Some(tamtam_process::Process::from(this_program()).spawn::<Chain>(depth)?)
            }
            None => None,
        };
        Ok(Chain { next })
    }
}

pub(crate) fn this_program() -> std::process::Command {
    std::process::Command::new(std::env::current_exe().unwrap())
}

impl Actor for Chain {
    type Message = Reply<Vec<u32>>;

    fn handle(&mut self, reply: Reply<Vec<u32>>, _: &mut Context<Self>) {
        let mut pids = match &self.next {
            Some(next) => next.ask(|reply| reply).unwrap(),
            None => Vec::new(),
        };
        pids.push(std::process::id());
        reply.send(pids);
    }
}

/// Keeps its messages back until it has heard from the parent.
pub(crate) struct Holder(Vec<u64>);

#[derive(Serialize, Deserialize)]
pub(crate) enum Hold {
    For(Address<Reply<u64>>),
    Note(u64),
    All(Reply<Vec<u64>>),
    Die,
}

impl Remote for Holder {
    type Config = ();
    const NAME: &'static str = "holder";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Holder(Vec::new()))
    }
}

impl Actor for Holder {
    type Message = Hold;

    fn handle(&mut self, message: Hold, cx: &mut Context<Self>) {
        match message {
            Hold::For(to) => {
                let answer = to.ask_async(|reply| reply);
                cx.hold(answer, |this, answer, _| this.0.push(answer.unwrap()));
            }
            Hold::Note(number) => self.0.push(number),
            Hold::All(reply) => reply.send(self.0.clone()),
            Hold::Die => std::process::abort(),
        }
    }
}
