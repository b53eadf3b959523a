//! Programs that meet under a name.

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind};
use rustix::process::Signal;
use tamtam_ipc::{
    AcceptError, ConnectError, Event, ListenError, Service, Slot, receive_memory, send_memory,
};
use tamtam_testing::{in_a_process_of_its_own, succeeds_in_a_forked_child, within};

use crate::other::{Other, half};

/// A folder of a test, whose other half knows it, too.
struct Folder(PathBuf);

impl Folder {
    fn of(test: &str, process: u32) -> PathBuf {
        std::env::temp_dir().join(format!("tamtam-service-{test}-{process}"))
    }

    fn new(test: &str) -> Self {
        let folder = Folder::of(test, std::process::id());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }

    fn service(&self) -> Service {
        Service::new("service").unwrap().in_folder(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The service of the test that has started this process.
fn of_the_test(test: &str) -> Service {
    let folder = Folder::of(test, std::os::unix::process::parent_id());
    Service::new("service").unwrap().in_folder(folder)
}

#[test]
fn two_programs_meet_and_share_memory() {
    const PATH: &str = "service::two_programs_meet_and_share_memory";
    if half("connects").is_some() {
        let socket = of_the_test("meet").connect().unwrap();
        let slot = Slot::<u64>::attach(receive_memory(&socket).unwrap()).unwrap();
        slot.put(slot.take() + 1);
        return;
    }
    let folder = Folder::new("meet");
    let listener = folder.service().listen().unwrap();
    let file = std::fs::symlink_metadata(listener.path().unwrap()).unwrap();
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let any = Event::manual().unwrap();
    let other = Other::start(PATH, "connects", any.memory());
    let (socket, peer) = listener.accept().unwrap();
    assert_eq!(peer.process(), Some(other.id()));
    assert_eq!(peer.user(), file.uid());
    let slot = Slot::<u64>::create().unwrap();
    send_memory(&socket, slot.memory()).unwrap();
    slot.put(41);
    other.ends_well();
    assert_eq!(slot.take(), 42);
    drop(listener);
    // Nothing is left.
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_name_has_one_listener_and_its_end_frees_it() {
    const PATH: &str = "service::a_name_has_one_listener_and_its_end_frees_it";
    if let Some(memory) = half("listens") {
        let _listener = of_the_test("one").listen().unwrap();
        Event::attach(memory).unwrap().set();
        loop {
            std::thread::park();
        }
    }
    let folder = Folder::new("one");
    for signal in [Signal::KILL, Signal::TERM, Signal::ABORT] {
        let there = Event::manual().unwrap();
        let mut other = Other::start(PATH, "listens", there.memory());
        there.wait();
        match folder.service().listen() {
            Err(ListenError::Taken { process, .. }) => assert_eq!(process, Some(other.id())),
            other => panic!("{other:?}"),
        }
        // One that is stopped still has it.
        other.signal(Signal::STOP);
        assert!(matches!(
            folder.service().listen(),
            Err(ListenError::Taken { .. })
        ));
        other.signal(Signal::CONT);
        other.signal(signal);
        other.wait();
        // What it has left is there, and nobody listens.
        assert_eq!(folder.names().len(), 2);
        assert!(matches!(
            folder.service().connect(),
            Err(ConnectError::NobodyThere { .. })
        ));
        let listener = folder.service().listen().unwrap();
        drop(listener);
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[test]
fn one_of_many_takes_over_what_is_left() {
    within(Duration::from_secs(60), || {
        let folder = Folder::new("many");
        for round in 0..50 {
            if round % 2 == 0 {
                // As one leaves it that was killed.
                let left = std::os::unix::net::UnixListener::bind(folder.0.join("service.tamtam"));
                drop(left.unwrap());
                std::fs::write(folder.0.join("service.tamtam-lock"), "4711").unwrap();
            }
            let barrier = Arc::new(Barrier::new(4));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let (service, barrier) = (folder.service(), Arc::clone(&barrier));
                    std::thread::spawn(move || {
                        barrier.wait();
                        let listener = service.listen();
                        // All have tried before one of them goes.
                        barrier.wait();
                        match listener {
                            Ok(listener) => {
                                let connecting = std::thread::spawn(move || service.connect());
                                listener.accept().unwrap();
                                connecting.join().unwrap().unwrap();
                                true
                            }
                            Err(ListenError::Taken { .. }) => false,
                            Err(other) => panic!("{other}"),
                        }
                    })
                })
                .collect();
            let listened = threads.into_iter().map(|thread| thread.join().unwrap());
            assert_eq!(listened.filter(|listened| *listened).count(), 1);
            assert_eq!(folder.names(), [""; 0]);
        }
    });
}

#[test]
fn one_that_listens_and_goes_hands_over_without_a_gap_in_who_may() {
    // Each one that goes unlinks its files while another one may be about to take the lock: never do two listen.
    within(Duration::from_secs(60), || {
        let folder = Folder::new("turns");
        let listening = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (service, listening) = (folder.service(), Arc::clone(&listening));
                std::thread::spawn(move || {
                    let mut turns = 0;
                    while turns < 50 {
                        if let Ok(listener) = service.listen() {
                            let before =
                                listening.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                            assert_eq!(before, 0);
                            assert!(listener.path().unwrap().exists());
                            listening.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(listener);
                            turns += 1;
                        }
                        std::thread::yield_now();
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(folder.names(), [""; 0]);
    });
}

#[test]
fn the_runtime_folder_is_the_place_if_it_is_this_users_alone() {
    const PATH: &str = "service::the_runtime_folder_is_the_place_if_it_is_this_users_alone";
    let folder = Folder::new("runtime");
    let prepare = |command: &mut std::process::Command| {
        command.env("XDG_RUNTIME_DIR", &folder.0);
    };
    in_a_process_of_its_own(PATH, Duration::from_secs(60), prepare, || {
        let folder = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap());
        let set_mode = |mode| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let name = format!("runtime-{}", std::process::id());
        let service = Service::new(&name).unwrap();
        let meets = |by: &Service| {
            let (listener, by) = (service.listen().unwrap(), by.clone());
            let connecting = std::thread::spawn(move || by.connect());
            listener.accept().unwrap();
            connecting.join().unwrap().unwrap();
            listener.path().map(PathBuf::from)
        };
        set_mode(0o700);
        let file = folder.join(format!("{name}.tamtam"));
        assert_eq!(meets(&service), Some(file));
        // Others may look into it: then the name is an abstract one.
        set_mode(0o755);
        assert_eq!(meets(&service), None);
        let listener = service.listen().unwrap();
        assert!(matches!(service.listen(), Err(ListenError::Taken { .. })));
        // One that has the folder finds it, too.
        set_mode(0o700);
        let by = service.clone();
        let connecting = std::thread::spawn(move || by.connect());
        listener.accept().unwrap();
        connecting.join().unwrap().unwrap();
    });
}

#[test]
fn a_name_has_one_listener_wherever_that_is() {
    const PATH: &str = "service::a_name_has_one_listener_wherever_that_is";
    let folder = Folder::new("wherever");
    let prepare = |command: &mut std::process::Command| {
        command.env("XDG_RUNTIME_DIR", &folder.0);
    };
    in_a_process_of_its_own(PATH, Duration::from_secs(60), prepare, || {
        let folder = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap());
        let has_folder = |has: bool| {
            let mode = if has { 0o700 } else { 0o755 };
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let service = Service::new(format!("wherever-{}", std::process::id())).unwrap();
        has_folder(false);
        let listener = service.listen().unwrap();
        assert_eq!(listener.path(), None);
        has_folder(true);
        match service.listen() {
            Err(ListenError::Taken { process, .. }) => {
                assert_eq!(process, Some(std::process::id()));
            }
            other => panic!("{other:?}"),
        }
        // Nothing of that one is left.
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        drop(listener);
        let listener = service.listen().unwrap();
        assert!(listener.path().is_some());
        drop(listener);
        // What lies there and does not listen, as another user may have it, is no listener.
        let user = rustix::process::geteuid().as_raw();
        let place = format!("tamtam/{user}/{}", service.name());
        let address = SocketAddrUnix::new_abstract_name(place.as_bytes()).unwrap();
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&socket, &address).unwrap();
        assert!(service.listen().is_ok());
    });
}

#[test]
fn who_is_not_let_in_in_time_is_told() {
    within(Duration::from_secs(60), || {
        let folder = Folder::new("time");
        let listener = folder.service().listen().unwrap();
        let connect = || folder.service().connect_timeout(Duration::from_millis(20));
        assert!(matches!(connect(), Err(ConnectError::Timeout { .. })));
        // Also where so many wait that no more may.
        let mut waiting = Vec::new();
        while let Ok(socket) = {
            let socket = rustix::net::socket_with(
                rustix::net::AddressFamily::UNIX,
                rustix::net::SocketType::STREAM,
                rustix::net::SocketFlags::NONBLOCK,
                None,
            )
            .unwrap();
            let address = rustix::net::SocketAddrUnix::new(listener.path().unwrap()).unwrap();
            rustix::net::connect(&socket, &address).map(|()| socket)
        } {
            waiting.push(socket);
        }
        assert!(matches!(connect(), Err(ConnectError::Timeout { .. })));
        // It goes while one waits.
        let service = folder.service();
        drop(waiting);
        let connecting = std::thread::spawn(move || service.connect());
        std::thread::sleep(Duration::from_millis(20));
        drop(listener);
        assert!(matches!(
            connecting.join().unwrap(),
            Err(ConnectError::NobodyThere { .. })
        ));
    });
}

#[test]
fn what_is_no_service_is_told_apart() {
    let folder = Folder::new("none");
    let listener = std::os::unix::net::UnixListener::bind(folder.0.join("service.tamtam")).unwrap();
    let service = folder.service();
    let connecting = std::thread::spawn(move || service.connect());
    let (mut socket, _) = listener.accept().unwrap();
    socket.write_all(b"SSH-2.0").unwrap();
    assert!(matches!(
        connecting.join().unwrap(),
        Err(ConnectError::NoService { .. })
    ));
}

/// A user without rights.
const NOBODY: u32 = 65_534;

/// Whether this user can become another one; without, tests of other users say so and pass.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root can become another user");
    }
    is_root
}

/// Does this as that user, in a process of its own.
fn as_nobody(what: impl FnOnce() -> bool) {
    assert!(succeeds_in_a_forked_child(Duration::from_secs(20), || {
        // SAFETY: the child is a process of one thread, and these take numbers only.
        let is_other = unsafe { libc::setgid(NOBODY) == 0 && libc::setuid(NOBODY) == 0 };
        is_other && what()
    }));
}

#[test]
fn another_user_is_refused_unless_it_is_allowed() {
    if !is_root() {
        return;
    }
    within(Duration::from_secs(60), || {
        let name = |what: &str| format!("{what}-{}", std::process::id());
        let root = rustix::process::geteuid().as_raw();
        // An abstract name can be reached by all: the listener looks who it is.
        let service = Service::new(name("users")).unwrap().allow(1);
        let listener = service.listen().unwrap();
        let accepting = std::thread::spawn(move || (listener.accept(), listener));
        let by = service.clone().of_user(root);
        as_nobody(|| matches!(by.connect(), Err(ConnectError::NotAllowed { .. })));
        let (accepted, _listener) = accepting.join().unwrap();
        match accepted {
            Err(AcceptError::NotAllowed { peer }) => assert_eq!(peer.user(), NOBODY),
            other => panic!("{other:?}"),
        }

        // By another name: a child that another test has just forked may have that listener for a moment longer.
        let service = Service::new(name("allowed-users")).unwrap().allow(NOBODY);
        let listener = service.listen().unwrap();
        let accepting = std::thread::spawn(move || listener.accept());
        let by = service.clone().of_user(root);
        as_nobody(|| by.connect().is_ok());
        assert_eq!(accepting.join().unwrap().unwrap().1.user(), NOBODY);

        // A file of mode 0600 is seen to by the system.
        let folder = Folder::new("users");
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&folder.0, open).unwrap();
        let service = folder.service();
        let _listener = service.listen().unwrap();
        let by = service.of_user(root);
        as_nobody(|| matches!(by.connect(), Err(ConnectError::NotAllowed { .. })));
    });
}

#[test]
fn a_name_that_another_user_has_taken_is_not_talked_to() {
    if !is_root() {
        return;
    }
    within(Duration::from_secs(60), || {
        let folder = Folder::new("squatter");
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&folder.0, open).unwrap();
        let path = folder.0.join("service.tamtam");
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let squatter = std::thread::spawn(move || {
            as_nobody(|| {
                let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
                there.write_all(b"!").unwrap();
                // Nothing is said to it.
                let (mut socket, _) = listener.accept().unwrap();
                let _ = socket.write_all(b"+");
                matches!(socket.read(&mut [0; 16]), Ok(0) | Err(_))
            });
        });
        here.read_exact(&mut [0]).unwrap();
        match folder.service().connect() {
            Err(ConnectError::OtherUser { user, .. }) => assert_eq!(user, NOBODY),
            other => panic!("{other:?}"),
        }
        squatter.join().unwrap();
    });
}
