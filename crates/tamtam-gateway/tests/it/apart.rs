//! A gateway in a process of its own, whose memory is its alone.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tamtam_gateway::{Gateway, Server};
use tamtam_testing::ChildGuard;

/// Where the program of tests is told that it is to serve.
const SERVES: &str = "TAMTAM_GATEWAY_SERVES";

/// The gateway in a process of its own.
pub(crate) struct Apart {
    child: ChildGuard,
    pub(crate) address: SocketAddr,
}

impl Apart {
    /// Starts the test of this name, which calls [`serve`].
    pub(crate) fn start(test: &str) -> Apart {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(SERVES, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = ChildGuard::from(child.unwrap());
        let said = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let address = said
            .map_while(Result::ok)
            .find_map(|line| line.split_once("it serves at ")?.1.parse().ok());
        Apart {
            address: address.expect("it says where it is"),
            child,
        }
    }

    /// Of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of memory: now, and at most since [`forget`](Self::forget).
    pub(crate) fn memory(&self) -> (usize, usize) {
        let (now, most) = tamtam_testing::memory(&self.child.id().to_string());
        (now as usize, most as usize)
    }

    /// The most from now on.
    pub(crate) fn forget(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    /// How long processors have worked for it.
    pub(crate) fn processor_time(&self) -> Duration {
        tamtam_testing::processor_time(&self.child.id().to_string())
    }

    /// Ends it as it should end: without a panic.
    pub(crate) fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// Serves until it is ended, if this is the process of an [`Apart`].
pub(crate) fn serve(gateway: impl FnOnce() -> Gateway) {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let panics = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&panics);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        counted.fetch_add(1, Ordering::Relaxed);
        usual(panic);
    }));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = Server::bind(gateway(), "127.0.0.1:0".parse().unwrap());
        let server = server.await.unwrap();
        println!("\nit serves at {}", server.address().unwrap());
        let told = tokio::task::spawn_blocking(|| {
            let _ = std::io::stdin().read(&mut [0]);
        });
        let stop = async {
            let _ = told.await;
        };
        server.serve(stop).await.unwrap();
    });
    assert_eq!(panics.load(Ordering::Relaxed), 0, "it panicked");
}

/// How long a soak is to take, in seconds: `TAMTAM_SOAK_SECONDS`.
pub(crate) fn soak_seconds() -> Option<u64> {
    std::env::var("TAMTAM_SOAK_SECONDS").ok()?.parse().ok()
}
