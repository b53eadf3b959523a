//! A drawing program, of which there are an older and a newer build: this source, and the variants that each adds to its messages.
//!
//! Started with a socket as its standard input it draws for the program at the other end. Else it runs its tests, which start the other build.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, SystemTime};

use tamtam_actor::{DeadLetterWatch, Loss, Pool, on_dead_letter};
use tamtam_link::{Link, carrier};

use super::build::{Draw, Shape, newest, send_newest};

/// What both builds say to each other, with what one of them has more.
macro_rules! messages {
    (Draw { $($more:tt)* } Shape { $($shape:tt)* }) => {
        /// What a program is asked for.
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        pub(crate) enum Draw {
            Line(u64, tamtam_actor::Reply<Shape>),
            /// The newest shape that the program knows.
            Newest(tamtam_actor::Reply<Shape>),
            /// To be sent the newest message that the program knows.
            Send(tamtam_actor::Address<Draw>),
            /// Where the bytes of messages go that cannot be read there.
            Unread(tamtam_actor::Address<Vec<u8>>),
            $($more)*
        }

        /// What it draws.
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub(crate) enum Shape {
            Line(u64),
            $($shape)*
        }
    };
}
const SERVES: &str = "TAMTAM_TEST_DRAWS";
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// What `main` does in either build.
pub(crate) fn main(tests: &[(&'static str, fn())]) {
    if std::env::var_os(SERVES).is_some() {
        return draw();
    }
    // What the standard library's tests take on nightly, or are told to, and these do not know.
    let arguments = std::env::args()
        .filter(|argument| !argument.starts_with("-Z") && argument != "--report-time");
    let arguments = libtest_mimic::Arguments::from_iter(arguments);
    let trial = |&(name, test): &(&'static str, fn())| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.iter().map(trial).collect()).exit();
}

/// Draws until the link ends.
fn draw() {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let pool = Pool::with_threads(1);
    let mut watches: Vec<DeadLetterWatch> = Vec::new();
    let drawer = pool.spawn_fn(move |message: Draw, here| match message {
        Draw::Line(length, reply) => reply.send(Shape::Line(length)),
        Draw::Newest(reply) => reply.send(newest()),
        Draw::Send(to) => send_newest(&to),
        Draw::Unread(to) => {
            let own = here.address().id();
            watches.push(on_dead_letter(move |letter| {
                if letter.actor == own && letter.why == Loss::NotDecodable {
                    to.tell(letter.bytes.as_deref().unwrap().to_vec()).unwrap();
                }
            }));
        }
        #[allow(unreachable_patterns, reason = "the newer build has more of them")]
        more => panic!("{more:?} is for the older build, which cannot read it"),
    });
    let link = carrier::unix(Link::builder().root(&drawer), UnixStream::from(socket)).unwrap();
    link.root::<()>().end().wait();
}

/// The other build as a program of its own, and a link to it.
pub(crate) fn link_to(build: &str, pool: &Pool) -> (Link, Child) {
    let (here, there) = UnixStream::pair().unwrap();
    let mut command = Command::new(program(build));
    let child = command.env(SERVES, "1").stdin(OwnedFd::from(there)).spawn();
    // By the end of what is offered the other side learns of the link's.
    let offered = pool.spawn_fn(|(), _| {});
    let builder = Link::builder().program(env!("CARGO_CRATE_NAME"));
    let link = carrier::unix(builder.root(&offered), here);
    (link.unwrap(), child.unwrap())
}

/// The newest program of that name beside this one: cargo adds what it was built with to the names of tests.
fn program(build: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let files = std::fs::read_dir(own.parent().unwrap()).unwrap().flatten();
    let of_build = files.filter(|file| {
        let name = file.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(build));
        rest.is_some_and(|rest| rest.starts_with('-') && !rest.contains('.'))
    });
    let modified = |file: &std::fs::DirEntry| {
        let modified = file.metadata().and_then(|it| it.modified());
        modified.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let newest = of_build.max_by_key(modified).unwrap_or_else(|| {
        panic!("there is no {build}: `cargo test -p tamtam-link --no-run` builds it")
    });
    newest.path()
}

/// Waits until the other build has ended, as it does with the link.
pub(crate) fn end(link: &Link, mut child: Child) {
    link.close();
    assert!(child.wait().unwrap().success());
}
