//! An actor in a process of its own, as its users have it.

use std::fmt;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tamtam_actor::{Address, Overflow, ReportFailure, Restart, Stepper, Supervision, Supervisor};

use crate::carrier::Carrier;
use crate::error::SpawnError;
use crate::limits::Limits;
use crate::remote::Remote;
use crate::stepped::{self, SteppedPlan, SteppedProcess};
#[cfg(target_os = "linux")]
use crate::{
    begin::{Begin, most_unconfirmed},
    collector, monitor,
    monitor::{BeginsAgain, Plan},
    workers::registered,
};

/// Spawns actors in processes of their own.
///
/// Such an actor has the same [`Address`] as any other. Its process is started from the image of this program, also if that was replaced on disk
/// meanwhile, and runs nothing but the actor. It ends with the actor, and with this process, however that ends.
///
/// # Panics and deaths
///
/// When the actor panics or its process dies, another process takes its place, as its [`Restart`] says: up to ten times in ten seconds
/// unless it is said otherwise. The messages that were not begun go to that one, in order. The message at which it happened does not: it is a
/// [dead letter](tamtam_actor::on_dead_letter) with its bytes, [`Loss::ProcessEnded`](tamtam_actor::Loss::ProcessEnded) and the signal; and
/// the asker that waits for an answer to it, or to a question that was kept, hears [`AskError::ProcessEnded`](tamtam_actor::AskError::ProcessEnded).
///
/// # Examples
///
/// A whole program is at [`start`](crate::start).
///
/// ```
/// use tamtam_actor::Address;
/// use tamtam_process::{Process, Remote, SpawnError};
///
/// fn resizer<A: Remote<Config = u32>>(width: u32) -> Result<Address<A::Message>, SpawnError> {
///     Process::spawn::<A>(width)
/// }
/// ```
#[derive(Debug)]
pub enum Process {}

impl Process {
    /// An actor of this program in a process of its own, made of this.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] if there is no process. What goes wrong in it later is told by the actor's address: `end`, `watch`, the answers.
    pub fn spawn<A: Remote>(config: A::Config) -> Result<Address<A::Message>, SpawnError> {
        Self::spawner().spawn::<A>(config)
    }

    /// Says more about an actor before it is spawned.
    pub fn spawner() -> ProcessSpawner {
        ProcessSpawner {
            name: None,
            limit: None,
            restart: Restart::default(),
            limits: Limits::none(),
            most_attached: None,
            most_unhandled: None,
            program: None,
            patience: USUAL_BEGINS_WITHIN,
            handles_within: None,
        }
    }

    /// Says more about an actor that is one of another program, which calls [`start`](crate::start), too. Its standard input is taken for
    /// the link.
    ///
    /// All else that is said of the command holds for each process of the actor: arguments and environment, folder, user and groups, process
    /// group, where its output goes, what is called before it begins. Output goes into no [pipe](std::process::Stdio::piped), which would not be
    /// read: then there is no process, and the error says so.
    ///
    /// # Examples
    ///
    /// A process of this program, as another user, and with nothing of this one's environment:
    ///
    /// ```
    /// # #[cfg(unix)]
    /// fn without_rights() -> tamtam_process::ProcessSpawner {
    ///     use std::os::unix::process::CommandExt;
    ///
    ///     let mut program = std::process::Command::new("/proc/self/exe");
    ///     program.env_clear().uid(65534).gid(65534);
    ///     tamtam_process::Process::from(program)
    /// }
    /// ```
    pub fn from(program: Command) -> ProcessSpawner {
        ProcessSpawner {
            program: Some(program),
            ..Self::spawner()
        }
    }

    /// Says more about an actor in so many processes, which share its work: each message goes to the one that has the fewest in hand. A message whose question
    /// was answered counts only between processes that have as many others.
    pub fn pool(processes: usize) -> ProcessPool {
        ProcessPool {
            processes: processes.max(1),
            spawner: Self::spawner(),
        }
    }
}

/// What an actor in a process of its own is to be like: see [`Process::spawner`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Address, Overflow, Restart};
/// use tamtam_process::{Limits, Process, Remote, SpawnError};
///
/// fn decoder<A: Remote<Config = ()>>() -> Result<Address<A::Message>, SpawnError> {
///     Process::spawner()
///         .name("decoder")
///         .limited(100, Overflow::Wait)
///         .limits(Limits::new().untrusted().memory(512 << 20))
///         .restart(Restart::never())
///         .spawn::<A>(())
/// }
/// ```
#[must_use = "it does nothing before `spawn`"]
pub struct ProcessSpawner {
    name: Option<Arc<str>>,
    limit: Option<(usize, Overflow)>,
    restart: Restart,
    limits: Limits,
    most_attached: Option<(usize, u64)>,
    most_unhandled: Option<(usize, Duration)>,
    program: Option<Command>,
    patience: Duration,
    handles_within: Option<Duration>,
}

/// So long a process may take to begin unless it is said: a busy machine is to be no reason.
const USUAL_BEGINS_WITHIN: Duration = Duration::from_secs(60);

impl ProcessSpawner {
    /// What the actor is called among actors.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// So many messages at most are not handled yet; what becomes of others is said by `overflow`.
    ///
    /// # Panics
    ///
    /// If that drops messages: those that are with the process could not be taken back.
    pub fn limited(mut self, messages: usize, overflow: Overflow) -> Self {
        assert!(
            matches!(overflow, Overflow::Fail | Overflow::Wait),
            "a process takes `Overflow::Fail` and `Overflow::Wait`: what is with it cannot be dropped"
        );
        self.limit = Some((messages.max(1), overflow));
        self
    }

    /// Whether another process takes the place of one that has died.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// What the process may do, and use.
    ///
    /// One that may not have all files, sockets or processes has no descriptor of this one that it was not given: those without `O_CLOEXEC`, which each
    /// process inherits, are closed in it first, but for the standard streams.
    ///
    /// One that is [untrusted](Limits::untrusted) is that for its link, too: it may tell, ask and watch the actors of this process whose addresses
    /// it was given, and neither stop them nor link its own with them. If it wants to it is killed, as one that breaks the protocol. It hears that
    /// a handler here has panicked, and not what that said.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// So long a process may take from its start until its actor is made: 60 seconds unless it is said, at most a year. One that takes longer is
    /// killed. If none has begun before, the actor ends, for a reason that says so: another
    /// program than one that calls [`start`](crate::start) would say nothing for ever. A later one is begun again, as one that has died.
    pub fn begins_within(mut self, time: Duration) -> Self {
        self.patience = time.min(Duration::from_secs(365 * 86_400));
        self
    }

    /// So long the actor may be at one message, with all that it waits for meanwhile; unless it is said, for ever. A process whose actor is at one for longer
    /// is killed, at most a quarter of that time later: a handler that does not come back cannot be told to stop. It is a death as any other, and says why:
    /// the message is a dead letter with [`Loss::ProcessEnded`](tamtam_actor::Loss::ProcessEnded) and [`ProcessEnd::Hung`](tamtam_actor::ProcessEnd::Hung),
    /// its asker hears [`AskError::ProcessEnded`](tamtam_actor::AskError::ProcessEnded), and the messages behind it go to the next process.
    ///
    /// At least 10 milliseconds. It is real time: a process that is stopped, or gets no processor, is killed, too. What does not count is the time in which
    /// the actor is at no message, that in which it waits for room for what it has sent, and that in which it is made: see
    /// [`begins_within`](ProcessSpawner::begins_within). A process that is [not trusted](Limits::untrusted) can say of itself that it is done: it harms itself
    /// alone, as one whose limits let it do nothing would.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::Address;
    /// use tamtam_process::{Process, Remote, SpawnError};
    ///
    /// fn decoder<A: Remote<Config = ()>>() -> Result<Address<A::Message>, SpawnError> {
    ///     Process::spawner().handles_within(Duration::from_secs(5)).spawn::<A>(())
    /// }
    /// ```
    pub fn handles_within(mut self, time: Duration) -> Self {
        self.handles_within = Some(time);
        self
    }

    /// How much that comes from the process beside its messages, such as the ends of shared memory, may be open in this one at a time: so many descriptors,
    /// and so many bytes of what they are of in all. Unless it is said, half of the descriptors that this process may have open, and half of the memory
    /// of this machine. A message or an answer with more cannot be read, and its error says so: see
    /// [`LinkBuilder::most_attached`](tamtam_link::LinkBuilder::most_attached).
    pub fn most_attached(mut self, descriptors: usize, bytes: u64) -> Self {
        self.most_attached = Some((descriptors, bytes));
        self
    }

    /// How many bytes of messages of a process that is [untrusted](Limits::untrusted) may wait in the mailboxes of this one, or be handled: 16 MiB
    /// unless it is said. With more, no more is read of it: it is held back, and no other process is. If an answer is awaited from it and nothing
    /// was handled for as long as `patience`, 30 seconds unless it is said, it is killed, as one that breaks the protocol: see
    /// [`LinkBuilder::most_unhandled`](tamtam_link::LinkBuilder::most_unhandled).
    pub fn most_unhandled(mut self, bytes: usize, patience: Duration) -> Self {
        self.most_unhandled = Some((bytes, patience));
        self
    }

    /// The actor in a process of its own, made of this.
    ///
    /// # Errors
    ///
    /// See [`Process::spawn`].
    pub fn spawn<A: Remote>(self, config: A::Config) -> Result<Address<A::Message>, SpawnError> {
        let (address, _) = self.spawn_with_handle::<A>(config)?;
        Ok(address)
    }

    /// As [`spawn`](ProcessSpawner::spawn), with a handle to the process itself.
    ///
    /// # Errors
    ///
    /// See [`Process::spawn`].
    pub fn spawn_with_handle<A: Remote>(
        self,
        config: A::Config,
    ) -> Result<(Address<A::Message>, ProcessHandle), SpawnError> {
        #[cfg(not(target_os = "linux"))]
        {
            let _ = config;
            Err(SpawnError::NotHere)
        }
        #[cfg(target_os = "linux")]
        {
            let restart = BeginsAgain::Own(self.restart.clone());
            let started = self.start::<A>(config, restart)?;
            Ok((
                started.link.root(),
                ProcessHandle {
                    shared: started.shared,
                },
            ))
        }
    }
}

impl ProcessSpawner {
    /// The actor in a process that is none: in this one, as part of a [`Stepper`], for tests of programs that have several processes.
    ///
    /// All else is as of a process. What it is made of and what it is sent becomes bytes. When it is killed or panics, another one takes its
    /// place after the pause that its [`Restart`] says, in the stepper's time; what it had not begun goes to that one, and what it had is a dead
    /// letter. Each turn of an actor and each frame on its way is a step, so the order is one that a seed repeats, or
    /// [`explore`](Stepper::explore) tries. Limits and [`handles_within`](ProcessSpawner::handles_within) are of no account, and [`start`](crate::start) need not know the actor.
    ///
    /// What differs: the actor of a killed one is dropped, and so its `Drop` runs; statics are those of the test; and a handler that waits by
    /// [`Address::ask`] is told [`AskError::OwnThread`](tamtam_actor::AskError::OwnThread) or waits for ever, as in any stepper: it asks by
    /// [`Context::ask`](tamtam_actor::Context::ask).
    ///
    /// # Errors
    ///
    /// [`SpawnError::Config`] if what it is made of cannot be written as bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::{Actor, AskError, Context, ProcessEnd, Reply, Stepper};
    /// use tamtam_process::{Process, Remote};
    ///
    /// struct Sum(u32);
    ///
    /// impl Actor for Sum {
    ///     type Message = (u32, Reply<u32>);
    ///
    ///     fn handle(&mut self, (number, reply): Self::Message, _: &mut Context<Self>) {
    ///         self.0 += number;
    ///         reply.send(self.0);
    ///     }
    /// }
    ///
    /// impl Remote for Sum {
    ///     type Config = u32;
    ///     const NAME: &'static str = "sum";
    ///
    ///     fn create(first: u32, _: &mut Context<Self>) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
    ///         Ok(Sum(first))
    ///     }
    /// }
    ///
    /// for seed in 0..100 {
    ///     let stepper = Stepper::with_seed(seed);
    ///     let (sum, process) = Process::spawner().spawn_in::<Sum>(&stepper, 10)?;
    ///     assert_eq!(stepper.ask(&sum, |reply| (1, reply)), Ok(11));
    ///     let question = sum.ask_async(|reply| (2, reply));
    ///     process.kill_after(seed as u32 % 10);
    ///     stepper.advance(Duration::from_secs(1));
    ///     match stepper.wait_for(question) {
    ///         Some(Ok(sum)) => assert!(sum == 13 || sum == 12), // before the death, or after it, by the next one
    ///         Some(Err(error)) => assert_eq!(error, AskError::ProcessEnded(ProcessEnd::Killed(9))),
    ///         None => unreachable!("each question has an end"),
    ///     }
    ///     assert_eq!(process.restarts(), 1);
    /// }
    /// # Ok::<(), tamtam_process::SpawnError>(())
    /// ```
    pub fn spawn_in<A: Remote + Send>(
        self,
        stepper: &Stepper,
        config: A::Config,
    ) -> Result<(Address<A::Message>, SteppedProcess), SpawnError> {
        let mut bytes = Vec::new();
        tamtam_actor::link::encode(&config, &mut bytes).map_err(|said| SpawnError::Config {
            name: A::NAME.to_owned(),
            said,
        })?;
        Ok(stepped::spawn::<A>(
            stepper,
            SteppedPlan {
                name: self.name,
                config: bytes,
                restart: self.restart,
                limit: self.limit,
            },
        ))
    }

    /// Adds the actor to a supervision tree, as [`Supervision::child`] adds one of this process. Its address is good at once. Its process
    /// begins when the tree does; when it dies, the supervisor decides what begins again, and [`restart`](ProcessSpawner::restart) is of no
    /// account.
    ///
    /// A process that has to begin again because another child has failed ends after the message that it is at; what it was sent behind that
    /// goes to the next one. If it does not come back within the [deadline](Supervision::deadline) it is killed. The same holds when the tree
    /// is shut down.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] if there cannot be such a process. One that cannot be started when its time comes is a failure, of which the
    /// supervisor is told.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Strategy, Supervision, Supervisor};
    /// use tamtam_process::{Process, Remote, SpawnError};
    ///
    /// fn decoders<A: Remote<Config = u32>>(pool: &Pool) -> Result<Supervisor, SpawnError> {
    ///     let mut tree = Supervision::new(Strategy::OneForOne);
    ///     let small = Process::spawner().name("small").child::<A>(&mut tree, 64)?;
    ///     let _gallery = tree.child("gallery", pool.spawner(), move |_| Gallery { small: small.clone() });
    ///     # struct Gallery<M> { small: tamtam_actor::Address<M> }
    ///     # impl<M: Send + 'static> tamtam_actor::Actor for Gallery<M> {
    ///     #     type Message = M;
    ///     #     fn handle(&mut self, message: M, _: &mut tamtam_actor::Context<Self>) { let _ = self.small.tell(message); }
    ///     # }
    ///     Ok(tree.start(pool.spawner()))
    /// }
    /// ```
    pub fn child<A: Remote>(
        self,
        tree: &mut Supervision,
        config: A::Config,
    ) -> Result<Address<A::Message>, SpawnError> {
        tree.far_child(|failed, deadline| self.supervised::<A>(config, failed, deadline))
    }

    /// As [`child`](ProcessSpawner::child), to a tree at work, as [`Supervisor::child`] does: the process begins soon after this.
    ///
    /// # Errors
    ///
    /// As those of [`child`](ProcessSpawner::child).
    pub fn child_of<A: Remote>(
        self,
        supervisor: &Supervisor,
        config: A::Config,
    ) -> Result<Address<A::Message>, SpawnError> {
        supervisor.far_child(|failed, deadline| self.supervised::<A>(config, failed, deadline))
    }

    fn supervised<A: Remote>(
        self,
        config: A::Config,
        failed: ReportFailure,
        deadline: Duration,
    ) -> Result<Address<A::Message>, SpawnError> {
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (config, failed, deadline);
            Err(SpawnError::NotHere)
        }
        #[cfg(target_os = "linux")]
        {
            let by_supervisor = BeginsAgain::Supervised(failed, deadline);
            Ok(self.start::<A>(config, by_supervisor)?.link.root())
        }
    }

    #[cfg(target_os = "linux")]
    fn start<A: Remote>(
        self,
        config: A::Config,
        begins_again: BeginsAgain,
    ) -> Result<monitor::Started, SpawnError> {
        if self.program.is_none() {
            let known = registered().ok_or(SpawnError::NotStarted)?;
            if !known.contains(&A::NAME) {
                return Err(SpawnError::NotRegistered {
                    name: A::NAME.to_owned(),
                    known: known.iter().map(|&name| name.to_owned()).collect(),
                });
            }
        }
        let unfit = |said| SpawnError::Config {
            name: A::NAME.to_owned(),
            said,
        };
        let mut bytes = Vec::new();
        tamtam_actor::link::encode(&config, &mut bytes).map_err(unfit)?;
        let is_untrusted = self.limits.is_untrusted();
        let begin = Begin {
            remote: A::NAME.to_owned(),
            name: self.name.as_deref().map(str::to_owned),
            config: bytes,
            limits: self.limits,
            observes: collector::observes(),
            most_unconfirmed: most_unconfirmed(self.limit.map(|(messages, _)| messages)),
        };
        let begin = begin.to_bytes().map_err(unfit)?;
        monitor::start(Plan {
            remote: A::NAME,
            name: self.name,
            message_type: core::any::type_name::<A::Message>(),
            begin,
            program: self.program,
            patience: self.patience,
            handles_within: self.handles_within,
            begins_again,
            limit: self.limit,
            most_attached: self.most_attached,
            most_unhandled: self.most_unhandled,
            is_untrusted,
        })
    }
}

impl fmt::Debug for ProcessSpawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessSpawner")
            .field("name", &self.name)
            .field("limit", &self.limit)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

/// The process of an actor, beside its address: see [`ProcessSpawner::spawn_with_handle`]. It does not keep the actor.
///
/// # Examples
///
/// ```
/// use tamtam_process::ProcessHandle;
///
/// fn begin_anew(process: &ProcessHandle) {
///     println!("process {:?} was begun again {} times", process.pid(), process.restarts());
///     process.kill(); // another one takes its place
/// }
/// ```
#[derive(Clone)]
pub struct ProcessHandle {
    #[cfg(target_os = "linux")]
    shared: Arc<monitor::Shared>,
}

impl ProcessHandle {
    /// The system's number of the process as it is now; `None` if there is none.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        #[cfg(target_os = "linux")]
        {
            self.shared.pid()
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Kills the process as it is now. That is a death as any other: another one may take its place.
    pub fn kill(&self) {
        #[cfg(target_os = "linux")]
        self.shared.kill();
    }

    /// What carries messages to the process as it is now, and answers back; `None` if there is none, or it has not said yet that it has begun: when it
    /// has answered a question, it has.
    ///
    /// It is shared memory wherever the system gives that to both processes. Where it does not, messages go over a socket, and take longer: then this
    /// says why, and so does a warning to the subscriber of `tracing`, with the feature of that name.
    #[must_use]
    pub fn carrier(&self) -> Option<Carrier> {
        #[cfg(target_os = "linux")]
        {
            self.shared.carrier()
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// How often another process has taken the place of one that has died.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        #[cfg(target_os = "linux")]
        {
            self.shared.restarts()
        }
        #[cfg(not(target_os = "linux"))]
        0
    }
}

impl fmt::Debug for ProcessHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid())
            .field("restarts", &self.restarts())
            .field("carrier", &self.carrier())
            .finish()
    }
}

/// What an actor in several processes is to be like: see [`Process::pool`].
///
/// Each of the processes has the limits, and is begun again by the rule for itself. One that ends for good leaves its work to the others; when
/// the last has ended, so has the actor, for its reason. Of the messages that a process was sent, the one at which it dies is lost, and what it
/// had not begun goes to the process that takes its place. A dead letter names the process: that of the pool `resizer` which was begun first is
/// `resizer-0`.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Address;
/// use tamtam_process::{Process, Remote, SpawnError};
///
/// fn resizers<A: Remote<Config = u32>>() -> Result<Address<A::Message>, SpawnError> {
///     Process::pool(4).name("resizer").spawn::<A>(640)
/// }
/// ```
#[derive(Debug)]
#[must_use = "it does nothing before `spawn`"]
pub struct ProcessPool {
    processes: usize,
    spawner: ProcessSpawner,
}

impl ProcessPool {
    /// See [`ProcessSpawner::name`].
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.spawner = self.spawner.name(name);
        self
    }

    /// See [`ProcessSpawner::restart`].
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spawner = self.spawner.restart(restart);
        self
    }

    /// See [`ProcessSpawner::limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.spawner = self.spawner.limits(limits);
        self
    }

    /// See [`ProcessSpawner::most_attached`]. It holds for each of the processes.
    pub fn most_attached(mut self, descriptors: usize, bytes: u64) -> Self {
        self.spawner = self.spawner.most_attached(descriptors, bytes);
        self
    }

    /// See [`ProcessSpawner::most_unhandled`]. It holds for each of the processes.
    pub fn most_unhandled(mut self, bytes: usize, patience: Duration) -> Self {
        self.spawner = self.spawner.most_unhandled(bytes, patience);
        self
    }

    /// See [`ProcessSpawner::begins_within`]. It holds for each of the processes.
    pub fn begins_within(mut self, time: Duration) -> Self {
        self.spawner = self.spawner.begins_within(time);
        self
    }

    /// See [`ProcessSpawner::handles_within`]. It holds for each of the processes.
    pub fn handles_within(mut self, time: Duration) -> Self {
        self.spawner = self.spawner.handles_within(time);
        self
    }

    /// The actor in so many processes, each made of this.
    ///
    /// # Errors
    ///
    /// See [`Process::spawn`]. Those processes end that were there already.
    pub fn spawn<A: Remote>(self, config: A::Config) -> Result<Address<A::Message>, SpawnError>
    where
        A::Config: Clone,
    {
        #[cfg(not(target_os = "linux"))]
        {
            let _ = config;
            Err(SpawnError::NotHere)
        }
        #[cfg(target_os = "linux")]
        {
            let ProcessSpawner {
                name,
                limit,
                restart,
                limits,
                most_attached,
                most_unhandled,
                program: _,
                patience,
                handles_within,
            } = self.spawner;
            let workers = (0..self.processes).map(|number| {
                let spawner = ProcessSpawner {
                    name: name.as_ref().map(|name| format!("{name}-{number}").into()),
                    limit,
                    restart: restart.clone(),
                    limits: limits.clone(),
                    most_attached,
                    most_unhandled,
                    program: None,
                    patience,
                    handles_within,
                };
                let begins_again = BeginsAgain::Own(restart.clone());
                let started = spawner.start::<A>(config.clone(), begins_again)?;
                Ok((started.link.root(), started))
            });
            let workers = workers.collect::<Result<Vec<_>, SpawnError>>()?;
            Ok(crate::pool::shared_among::<A>(workers, name))
        }
    }
}
