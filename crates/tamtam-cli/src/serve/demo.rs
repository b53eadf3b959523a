//! What one tries a client with: a table, an echo, a fault, objects of classes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use tamtam_gateway::{Caller, Fault, Gateway, Method, Service, Value, Work};
use tamtam_rows::Rows;
use tempfile::TempDir;

use super::shapes::shapes;
use crate::database::{Board, Url};
use crate::number;

/// How many rows a set has, as in the article.
const ROWS: usize = 1_000;

/// How many connections to the database are kept for the next calls.
const MOST_KEPT: usize = 8;

/// The table out of a database of SQLite, in a folder of its own that goes with it.
struct Tiles {
    path: PathBuf,
    /// Of each set.
    rows: usize,
    boards: Mutex<Vec<Board>>,
    _folder: TempDir,
}

/// Which of the article's tables.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TileSet {
    /// Any colour, any rotation.
    Random,
    /// One of 64 colours, quarter turns.
    Palette,
    /// Any colour, quarter turns.
    Rotation,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListArgs {
    /// `random`, `palette` or `rotation`.
    set: TileSet,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct EchoArgs {
    /// Whatever the protocol can say.
    value: Value,
}

/// Who may open the vault, and the password: no secret, since all who try a client may know it.
const KEY: (&str, &str) = ("ada", "secret");

/// Adds the services.
///
/// # Errors
/// If the table cannot be made.
pub(super) fn services(gateway: Gateway) -> Result<Gateway> {
    let echo = Method::new("echo", |args: EchoArgs| async { Ok(args.value) })
        .about("The same value, class and form of array.")
        .safe();
    let raise = Method::new("raise", |(): ()| async {
        Err::<(), _>(Fault::new("Kit.Fault", "raised on purpose"))
    })
    .about("A fault with the code Kit.Fault.")
    .safe();
    Ok(shapes(tiles(gateway, ROWS)?)
        .service(
            Service::new("Echo")
                .about("What comes goes back.")
                .with(echo),
        )
        .service(
            Service::new("Fault")
                .about("What fails on purpose.")
                .with(raise),
        ))
}

/// Adds a service that asks for a name and a password, whatever the gateway asks for.
pub(super) fn vault(gateway: Gateway) -> Gateway {
    let open = Method::new("open", |(): ()| async { Ok::<_, Fault>("gold".to_owned()) });
    let check = |caller: &Caller| match caller.credentials() {
        Some(sent) if sent == KEY => Ok(()),
        Some(_) => Err(Fault::unauthenticated("the name or the password is wrong")),
        None => Err(Fault::unauthenticated("send a name and a password")),
    };
    let (name, password) = KEY;
    gateway.service(
        Service::new("Vault")
            .about("What asks who calls: by Authorization: Basic, AMF's Credentials, or a login of Flex.")
            .with(open.about(format!("Gold for {name}, whose password is {password}.")).safe())
            .authorize(check),
    )
}

/// Adds the service of the table alone, whose sets have so many rows.
///
/// # Errors
/// If the table cannot be made.
pub(crate) fn tiles(gateway: Gateway, rows: usize) -> Result<Gateway> {
    let tiles = Tiles::make(rows)?;
    let about = format!(
        "The tiles of a set: {} rows of slot_number, x, y, color and rotation.",
        number::whole(rows as u64)
    );
    let list = Method::blocking("list", move |args: ListArgs| tiles.list(args.set))
        .about(about)
        .safe();
    Ok(gateway.service(
        Service::new("Tiles")
            .about("A table out of SQLite.")
            .with(list),
    ))
}

impl Tiles {
    fn make(rows: usize) -> Result<Tiles> {
        let folder = tempfile::tempdir().context("no folder for the table can be made")?;
        let path = folder.path().join("tiles.sqlite");
        let mut board = Board::open(Some(&Url::Sqlite(path.clone())))?;
        for set in [TileSet::Random, TileSet::Palette, TileSet::Rotation] {
            board.fill(set.name(), rows)?;
        }
        Ok(Tiles {
            path,
            rows,
            boards: Mutex::new(vec![board]),
            _folder: folder,
        })
    }

    fn list(&self, set: TileSet) -> Result<Rows, Fault> {
        // What the database said stays here: it may name files.
        self.read(set)
            .map_err(|_| Fault::new("Tiles.Failed", "the tiles could not be read"))
    }

    /// A connection is used by one call at a time, and kept for the next one.
    fn read(&self, set: TileSet) -> Result<Rows> {
        let kept = self.boards().pop();
        let mut board = match kept {
            Some(board) => board,
            None => Board::open(Some(&Url::Sqlite(self.path.clone())))?,
        };
        let rows = if Work::is_timed() {
            let (rows, times) = board.rows_timed(set.name(), self.rows)?;
            Work::Cursor.took(times.cursor);
            Work::Rows.took(times.rows);
            rows
        } else {
            board.rows(set.name(), self.rows)?
        };
        let mut boards = self.boards();
        if boards.len() < MOST_KEPT {
            boards.push(board);
        }
        Ok(rows)
    }

    fn boards(&self) -> std::sync::MutexGuard<'_, Vec<Board>> {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TileSet {
    fn name(self) -> &'static str {
        match self {
            TileSet::Random => "random",
            TileSet::Palette => "palette",
            TileSet::Rotation => "rotation",
        }
    }
}
