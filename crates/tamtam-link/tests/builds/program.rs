//! What both builds of the drawing program have in common: all but the variants that each adds to its messages.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::time::Duration;

use tamtam_actor::Pool;
use tamtam_link::{Link, carrier};

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

        /// Draws for the program at the other end of the standard input, until the link ends.
        pub(crate) fn draw() {
            use std::os::fd::AsFd;

            let socket = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
            let pool = tamtam_actor::Pool::with_threads(1);
            let mut watches = Vec::new();
            let drawer = pool.spawn_fn(move |message: Draw, here| match message {
                Draw::Line(length, reply) => reply.send(Shape::Line(length)),
                Draw::Newest(reply) => reply.send(newest()),
                Draw::Send(to) => send_newest(&to),
                Draw::Unread(to) => {
                    let own = here.address().id();
                    watches.push(tamtam_actor::on_dead_letter(move |letter| {
                        if letter.actor == own && letter.why == tamtam_actor::Loss::NotDecodable {
                            to.tell(letter.bytes.as_deref().unwrap().to_vec()).unwrap();
                        }
                    }));
                }
                #[allow(unreachable_patterns, reason = "the newer build has more of them")]
                more => panic!("{more:?} is for the older build, which cannot read it"),
            });
            let builder = tamtam_link::Link::builder().root(&drawer);
            let link = tamtam_link::carrier::unix(builder, socket.into()).unwrap();
            link.root::<()>().end().wait();
        }
    };
}

/// Which build a program is to be that was started by a test.
const SERVES: &str = "TAMTAM_TEST_DRAWS";
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// The build that this program is to be, by its name.
pub(crate) fn asked_for() -> Option<String> {
    std::env::var(SERVES).ok()
}

/// A build as a program of its own, and a link to it.
pub(crate) fn link_to(build: &str, pool: &Pool) -> (Link, Child) {
    let (here, there) = UnixStream::pair().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let child = command
        .env(SERVES, build)
        .stdin(OwnedFd::from(there))
        .spawn();
    // By the end of what is offered the other side learns of the link's.
    let offered = pool.spawn_fn(|(), _| {});
    let builder = Link::builder().program(env!("CARGO_CRATE_NAME"));
    let link = carrier::unix(builder.root(&offered), here);
    (link.unwrap(), child.unwrap())
}

/// Waits until the other build has ended, as it does with the link.
pub(crate) fn end(link: &Link, mut child: Child) {
    link.close();
    assert!(child.wait().unwrap().success());
}
