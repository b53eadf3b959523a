//! How do two programs that are there already talk by actors? One offers an actor on a socket, the other one asks it, and hears when it is lost.
//!
//!     cargo run -p tamtam --example two_programs --features link
//!
//! The first one, the shop, starts the second, the store, as one would from another terminal: `two_programs SOCKET`. The shop asks what there is,
//! and is told of each sale by an actor whose address it has sent. Then the store is killed, the shop hears of it, and connects to the next one.

#[cfg(unix)]
mod programs {
    use std::collections::BTreeMap;
    use std::error::Error;
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc;

    use serde::{Deserialize, Serialize};
    use tamtam::actor::AskError;
    use tamtam::link::{Link, carrier};
    use tamtam::{Address, Pool, Reply};

    type Done<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

    /// What the store is asked; both programs have it from here.
    #[derive(Serialize, Deserialize)]
    enum Store {
        Count(String, Reply<u32>),
        Sell(String),
        /// Whom to tell of each sale from now on: what was sold, and how many are left.
        Watch(Address<(String, u32)>),
    }

    /// The program that offers an actor to all that connect.
    pub(crate) fn store(path: &Path) -> Done {
        let listener = UnixListener::bind(path)?;
        println!("open");
        let pool = Pool::new();
        let mut goods = BTreeMap::from([("drum".to_owned(), 3_u32), ("flute".to_owned(), 1)]);
        let mut watchers: Vec<Address<(String, u32)>> = Vec::new();
        let store = pool.spawn_fn(move |message: Store, _| match message {
            Store::Count(what, reply) => reply.send(goods.get(&what).copied().unwrap_or(0)),
            Store::Sell(what) => {
                let Some(left) = goods.get_mut(&what).filter(|count| **count > 0) else {
                    return;
                };
                *left -= 1;
                // One that is gone is told nothing more.
                watchers.retain(|watcher| watcher.tell((what.clone(), *left)).is_ok());
            }
            Store::Watch(watcher) => watchers.push(watcher),
        });
        for socket in listener.incoming() {
            // Each program that connects has a link of its own to the one actor.
            carrier::unix(Link::builder().program("store").root(&store), socket?)?;
        }
        Ok(())
    }

    /// Another program, which is ready when this comes back.
    fn open(path: &Path) -> Done<Child> {
        // A socket of one that was killed is still there.
        let _ = std::fs::remove_file(path);
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(path).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("there is no output")?;
        BufReader::new(output).read_line(&mut String::new())?;
        Ok(child)
    }

    /// The program that connects.
    pub(crate) fn shop() -> Done {
        let folder = std::env::temp_dir().join(format!("tamtam-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let sold = visit(&folder.join("store"));
        std::fs::remove_dir_all(&folder)?;
        sold
    }

    fn visit(path: &Path) -> Done {
        let pool = Pool::new();
        let (note, sales) = mpsc::channel();
        let watcher = pool.spawn_fn(move |sale: (String, u32), _| drop(note.send(sale)));

        let mut program = open(path)?;
        let link = carrier::unix(Link::builder().program("shop"), UnixStream::connect(path)?)?;
        let store: Address<Store> = link.root();
        assert_eq!(store.ask(|reply| Store::Count("drum".into(), reply))?, 3);
        store.tell(Store::Watch(watcher))?;
        store.tell(Store::Sell("drum".into()))?;
        assert_eq!(sales.recv()?, ("drum".to_owned(), 2));

        // The link ends with the program at its other end, and all who wait are told.
        let end = store.end();
        program.kill()?;
        program.wait()?;
        println!("the store has closed: {}", end.wait().reason);
        let late = store.ask(|reply| Store::Count("drum".into(), reply));
        assert!(matches!(
            late,
            Err(AskError::Stopped(_) | AskError::Unreachable(_))
        ));

        // Nothing connects again by itself: the next program is another one, and remembers nothing.
        let mut program = open(path)?;
        let link = carrier::unix(Link::builder().program("shop"), UnixStream::connect(path)?)?;
        let store: Address<Store> = link.root();
        let drums = store.ask(|reply| Store::Count("drum".into(), reply))?;
        println!("the next store has {drums} drums");
        assert_eq!(drums, 3);
        link.close();
        program.kill()?;
        program.wait()?;
        Ok(())
    }
}

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    match std::env::args_os().nth(1) {
        Some(path) => programs::store(path.as_ref()),
        None => programs::shop(),
    }
}

#[cfg(not(unix))]
fn main() {
    println!("this example is for Unix sockets; elsewhere there is `carrier::tcp`");
}
