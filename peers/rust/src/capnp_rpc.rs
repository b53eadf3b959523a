//! Cap'n Proto's calls, by the crate capnp-rpc.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::thread;

use capnp::any_pointer::Owned as Any;
use capnp::capability::{
    self, DispatchCallResult, FromClientHook, FromServer, Params, Promise, Results,
};
use capnp::message::ReaderOptions;
use capnp::private::capability::ClientHook;
use capnp::{Error, data};
use capnp_rpc::RpcSystem;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use tamtam_lab::calls::{self, Call, Client, ServerApart, answer};
use tamtam_lab::{Card, Contender, Failure, Measure, PrivateFolder, Serving};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// A connection for each client, which blocks on a runtime in its own thread; the server has one thread, as the crate asks.
///
/// Its compiler of schemas is a program in C++. What that would generate for a call that takes bytes and answers bytes is
/// written here by hand; the bytes stand where it would put a struct with one field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CapnpRpc;

const NAME: &str = "capnp-rpc";
/// The interface's number, which a schema would have drawn by lot.
const INTERFACE: u64 = 0x8f3a_55c1_9d20_77e6;

impl Contender for CapnpRpc {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: env!("VERSION_OF_CAPNP_RPC"),
            ours: false,
            about: "Cap'n Proto over a Unix socket for each client; the server in one thread",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let folder = PrivateFolder::new()?;
        let path = folder.path().join("socket");
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let guard = runtime.enter();
        let listener = UnixListener::bind(&path)?;
        drop(guard);
        thread::Builder::new().spawn(move || {
            let serving = async {
                while let Ok((socket, _)) = listener.accept().await {
                    let pages: Pages = capnp_rpc::new_client(PagesServer);
                    let system =
                        RpcSystem::new(Box::new(network(socket, Side::Server)), Some(pages.0));
                    tokio::task::spawn_local(system);
                }
            };
            LocalSet::new().block_on(&runtime, serving);
        })?;
        Ok(Serving::at(path.to_string_lossy(), folder))
    }
}

impl Call for CapnpRpc {
    type Server = ServerApart<CapnpClient>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| Ok(CapnpClient(address.to_owned())))
    }
}

/// Where the server is: a connection cannot leave its thread, so each thread that calls has its own.
pub(crate) struct CapnpClient(String);

thread_local! {
    /// The connection of this thread. It ends with the process, as its server does.
    static CONNECTION: RefCell<Option<&'static Connection>> = const { RefCell::new(None) };
}

impl Client for CapnpClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let connected = CONNECTION.with_borrow(|connection| *connection);
        let connection = match connected.filter(|connection| connection.address == self.0) {
            Some(connection) => connection,
            None => {
                let connection: &_ = Box::leak(Box::new(Connection::open(&self.0)?));
                CONNECTION.set(Some(connection));
                connection
            }
        };
        connection
            .call(&request)
            .map_err(|error| Failure::Unverified(error.to_string()))
    }
}

struct Connection {
    address: String,
    runtime: Runtime,
    tasks: LocalSet,
    pages: Pages,
}

impl Connection {
    fn open(address: &str) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let tasks = LocalSet::new();
        let pages = tasks.block_on(&runtime, async {
            let socket = UnixStream::connect(address).await?;
            let mut system = RpcSystem::new(Box::new(network(socket, Side::Client)), None);
            let pages = system.bootstrap(Side::Server);
            tokio::task::spawn_local(system);
            Ok::<_, Failure>(pages)
        })?;
        Ok(Connection {
            address: address.to_owned(),
            runtime,
            tasks,
            pages,
        })
    }

    fn call(&self, request: &[u8]) -> Result<Vec<u8>, Error> {
        self.tasks.block_on(&self.runtime, async {
            let mut call = self.pages.0.new_call::<Any, Any>(INTERFACE, 0, None);
            call.get().set_as::<data::Owned>(request)?;
            let response = call.send().promise.await?;
            let answer: data::Reader<'_> = response.get()?.get_as()?;
            Ok(answer.to_vec())
        })
    }
}

fn network(socket: UnixStream, side: Side) -> VatNetwork<impl futures::AsyncRead + Unpin> {
    let (read, write) = socket.into_split();
    VatNetwork::new(
        futures::io::BufReader::new(read.compat()),
        futures::io::BufWriter::new(write.compat_write()),
        side,
        ReaderOptions::default(),
    )
}

/// The client's side of the interface.
struct Pages(capability::Client);

impl FromClientHook for Pages {
    fn new(hook: Box<dyn ClientHook>) -> Self {
        Pages(capability::Client::new(hook))
    }

    fn into_client_hook(self) -> Box<dyn ClientHook> {
        self.0.hook
    }

    fn as_client_hook(&self) -> &dyn ClientHook {
        &*self.0.hook
    }
}

/// The server's side.
struct PagesServer;

#[derive(Clone)]
struct PagesDispatch(Rc<PagesServer>);

impl Deref for PagesDispatch {
    type Target = PagesServer;

    fn deref(&self) -> &PagesServer {
        &self.0
    }
}

impl FromServer<PagesServer> for Pages {
    type Dispatch = PagesDispatch;

    fn from_server(server: Rc<PagesServer>) -> PagesDispatch {
        PagesDispatch(server)
    }
}

impl capability::Server for PagesDispatch {
    fn dispatch_call(
        self,
        interface: u64,
        method: u16,
        params: Params<Any>,
        mut results: Results<Any>,
    ) -> DispatchCallResult {
        let mut page = || {
            if (interface, method) != (INTERFACE, 0) {
                return Err(Error::unimplemented("there is one method".to_owned()));
            }
            let request: data::Reader<'_> = params.get()?.get_as()?;
            results.get().set_as::<data::Owned>(&answer(request)[..])
        };
        let done = match page() {
            Ok(()) => Promise::ok(()),
            Err(error) => Promise::err(error),
        };
        DispatchCallResult::new(done, false)
    }

    fn as_ptr(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}
