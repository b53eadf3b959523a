//! Ways of calling a server for the experiment `calls`, one small file each: in this process, and in another one.
//!
//! Those of ours are the contenders `channel`, which is there for other experiments, too, `actor`, `link`, `process`, `ipc` and the gateway. The
//! others are what the systems and the standard library have, and HTTP.

mod actor;
mod channel;
mod direct;
#[cfg(feature = "gateway")]
mod gateway;
#[cfg(feature = "http")]
mod http;
#[cfg(target_os = "linux")]
mod ipc;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod pipe;
#[cfg(target_os = "linux")]
mod process;
mod tcp;
#[cfg(unix)]
mod unix_socket;

use crate::Contender;

pub(super) use channel::ThreadForEachClient;

/// All of them that take part in nothing else, in the order in which lists show them.
pub(super) const ALL: &[&dyn Contender] = &[
    &direct::Direct,
    &actor::AskedActor,
    #[cfg(unix)]
    &link::ActorBehindLink,
    #[cfg(target_os = "linux")]
    &process::ActorInProcess,
    #[cfg(target_os = "linux")]
    &ipc::SharedChannels,
    #[cfg(unix)]
    &unix_socket::UnixSocket,
    #[cfg(unix)]
    &pipe::NamedPipes,
    &tcp::Tcp,
    #[cfg(feature = "http")]
    &http::KEPT,
    #[cfg(feature = "http")]
    &http::EACH,
    #[cfg(feature = "http")]
    &http::NEW,
    #[cfg(feature = "gateway")]
    &gateway::JSON_RPC,
    #[cfg(feature = "gateway")]
    &gateway::REST,
];

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use crate::calls::{Call, CallServer, Client};

    fn ends_with_the_last_hold(contender: impl Call) {
        crate::serve_by_test("contenders::tests::serves");
        let mut server = contender.open(1).unwrap();
        let mut client = server.connect().unwrap();
        let request = br#"{"set":1,"offset":2,"limit":3}"#;
        assert!(!client.call(request.to_vec()).unwrap().is_empty());
        let process = server.process().unwrap();
        assert!(process.usage().is_some());
        let address = process.address().to_owned();
        let is_there = || Path::new(&address).exists();
        let is_file = is_there();
        drop(server);
        assert!(client.call(request.to_vec()).is_err());
        assert!(!is_there());
        assert_eq!(is_file, address.starts_with('/'), "{address}");
    }

    #[test]
    fn a_server_ends_with_who_started_it_and_leaves_nothing_behind() {
        ends_with_the_last_hold(super::unix_socket::UnixSocket);
        ends_with_the_last_hold(super::pipe::NamedPipes);
        ends_with_the_last_hold(super::link::ActorBehindLink);
        ends_with_the_last_hold(super::tcp::Tcp);
        #[cfg(target_os = "linux")]
        ends_with_the_last_hold(super::ipc::SharedChannels);
        #[cfg(feature = "http")]
        ends_with_the_last_hold(super::http::NEW);
    }
}
