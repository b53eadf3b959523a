//! The options of `tamtam serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use tamtam_gateway::{ForwardedBy, Network};

const EXAMPLES: &str = "Examples:
  tamtam serve --demo                                 what one tries a client with
  tamtam serve --demo --listen 127.0.0.1:0            at a port that is free, which is printed
  tamtam serve --demo --origin https://game.example   pages from there may call
  tamtam serve --db shop.db --table orders            a table, as /rest/Tables/orders
  tamtam serve --demo --unix /run/tiles.sock          at a Unix socket
  tamtam serve --record http://game.example calls.jsonl   before that server, whose calls are kept
  tamtam serve --replay calls.jsonl                   in its place when it is gone

  curl 'http://127.0.0.1:8787/rest/Tiles/list?set=palette'
  curl http://127.0.0.1:8787/jsonrpc -H 'Content-Type: application/json' \\
       -d '{\"jsonrpc\":\"2.0\",\"method\":\"Echo.echo\",\"params\":[[1,2]],\"id\":1}'";

/// `tamtam serve`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["demo", "db", "record", "replay"]))]
#[command(group = ArgGroup::new("of_db").multiple(true).args(["tables", "query"]))]
pub struct ServeArguments {
    /// Serve Tiles.list(set), Echo.echo(value) and Fault.raise(), values that are pushed, and the link counter: with these one tries a client
    #[arg(long)]
    pub demo: bool,
    /// A database: the name of a file of SQLite, or mysql://, mariadb:// or postgres://USER:PASSWORD@HOST/DATABASE
    #[arg(long, value_name = "URL", requires = "of_db")]
    pub db: Option<String>,
    /// Serve all rows of this table as Tables.NAME(). Give it again for further ones
    #[arg(long = "table", value_name = "NAME", requires = "db")]
    pub tables: Vec<String>,
    /// Serve the rows of this query as Query.rows()
    #[arg(long, value_name = "SQL", requires = "db")]
    pub query: Option<String>,
    /// Stand before another server, http:// or https://, pass all requests to it, and keep them with their answers in a file, which
    /// is made or continued
    #[arg(long, num_args = 2, value_names = ["URL", "FILE"], conflicts_with_all = ["demo", "db", "replay"])]
    pub record: Vec<String>,
    /// Answer what was recorded in this file as the server did: the same call, the same answer; what was never asked gets a fault
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "db"])]
    pub replay: Option<PathBuf>,
    /// The address and port; port 0 is one that is free. Other machines reach what is no loopback address
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8787",
        value_parser = address,
        conflicts_with = "unix"
    )]
    pub listen: SocketAddr,
    /// A Unix socket in place of a port
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    pub unix: Option<PathBuf>,
    /// Pages of this origin may call: `https://game.example`; * is any. Give it again for further ones
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// The server is known by this name; * is any. localhost and addresses in figures need not be named
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Who calls has to send `Authorization: Bearer TOKEN`; by AMF it may be the password of a login, whose name is any
    #[arg(
        long,
        value_name = "TOKEN",
        env = "TAMTAM_TOKEN",
        hide_env_values = true,
        value_parser = token
    )]
    pub token: Option<String>,
    /// HTTPS: a file of certificates in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// HTTPS: a file of the private key in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Show no page at /, on which people read what there is to call, call it, and see what each form of an answer costs
    #[arg(long)]
    pub no_page: bool,
    /// Look at the answer of one call in N after it was sent, and tell at /advice what another form would save; 0 looks at none
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub advice: u64,
    /// Answers of at most so many bytes are sent plain
    #[arg(long, value_name = "BYTES", default_value_t = 25 * 1024)]
    pub compress_above: usize,
    /// The body of a request may have so many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub body_bytes: usize,
    /// So many requests may be worked on at the same time; the next one is told that the server is busy
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub requests: usize,
    /// So many connections may be open at the same time; the next one is told so and closed
    #[arg(long, value_name = "N", default_value_t = 1_024, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub connections: usize,
    /// So many of one client. A server that stands before this one and passes requests on is one client, unless --trusted-proxy
    /// names it
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub connections_of_client: usize,
    /// A proxy before this server passes requests on, over connections from this address, or a network of them: 127.0.0.1,
    /// 10.0.0.0/8. For whom it says that it does, that client's limits count. Give it again for further ones
    #[arg(long = "trusted-proxy", value_name = "ADDRESS")]
    pub trusted_proxies: Vec<Network>,
    /// The header by which trusted proxies say for whom they pass a request on: one that they write, or take away, whatever a
    /// client has in it
    #[arg(
        long,
        value_name = "HEADER",
        default_value = "x-forwarded-for",
        value_enum,
        requires = "trusted_proxies"
    )]
    pub forwarded_by: ProxyHeader,
    /// What is told on the standard error of what goes wrong, and what goes on
    #[arg(long, value_name = "LEVEL", default_value = "warn", value_enum)]
    pub log: LogLevel,
    /// A call may take so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub time: Duration,
}

/// In which header a proxy says for whom it passes a request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProxyHeader {
    /// A list of addresses, as most proxies write it.
    XForwardedFor,
    /// That of RFC 7239.
    Forwarded,
}

impl From<ProxyHeader> for ForwardedBy {
    fn from(header: ProxyHeader) -> ForwardedBy {
        match header {
            ProxyHeader::XForwardedFor => ForwardedBy::XForwardedFor,
            ProxyHeader::Forwarded => ForwardedBy::Forwarded,
        }
    }
}

/// How much is told: each level has those before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed in the server itself: a query, a handler that panicked.
    Error,
    /// What is refused or cut off since there is too much of it.
    Warn,
    /// What one may want to know.
    Info,
    /// Each call, and each connection that ends otherwise than by its client's goodbye.
    Debug,
    /// What the libraries tell of the server's working, too.
    Trace,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "write an address in figures and a port: 127.0.0.1:8787, [::1]:8787, 0.0.0.0:8787"
            .to_owned()
    })
}

fn token(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty, and would let everybody in: is a variable not set?".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "write a number of seconds")?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero() && *time <= MOST_TIME)
        .ok_or_else(|| format!("it is above 0 and at most {}", MOST_TIME.as_secs()))
}

/// The longest time that a call may be given.
const MOST_TIME: Duration = Duration::from_secs(24 * 60 * 60);
