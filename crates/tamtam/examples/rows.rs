//! How does a table get to another thread, program or page in few bytes?
//!
//! Tiles are structs here. As rows they become columns, and packed they take a third of what text would, without a
//! compressor. The receiver reads them by column, or as structs again.

#![forbid(unsafe_code)]

use std::error::Error;
use std::thread;

use tamtam::bounded;
use tamtam::rows::packed::{self, Mode};
use tamtam::rows::{Limits, Record, record};

record! {
    /// A tile on a board.
    #[derive(Clone, Debug, PartialEq)]
    struct Tile {
        slot: u16,
        x: i16,
        y: i16,
        color: String,
        rotation: i16,
    }
}

fn tiles() -> Vec<Tile> {
    (0..1000_u16)
        .map(|slot| Tile {
            slot,
            x: (u32::from(slot) * 7919 % 1100) as i16,
            y: (u32::from(slot) * 104_729 % 1000) as i16,
            color: format!("{:06x}", u32::from(slot).wrapping_mul(0x9e37_79b9) >> 8),
            rotation: (slot % 4 * 90) as i16,
        })
        .collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (answers, inbox) = bounded::<Vec<u8>>(1);
    let server = thread::spawn(move || -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut bytes = Vec::new();
        packed::encode(&Tile::to_rows(&tiles())?, Mode::Packed, &mut bytes)?;
        answers.send(bytes)?;
        Ok(())
    });

    let bytes = inbox.recv()?;
    let rows = packed::decode(&bytes, &Limits::default())?;
    let rotations = rows
        .column("rotation")
        .and_then(|column| column.slice::<i16>());
    let upright = rotations
        .into_iter()
        .flatten()
        .filter(|&&rotation| rotation == 0)
        .count();
    println!(
        "{} tiles in {} bytes, {upright} of them upright",
        rows.len(),
        bytes.len()
    );

    assert!(Tile::from_rows(&rows)?.eq(tiles()));
    server
        .join()
        .expect("the server does not panic")
        .map_err(|error| error.to_string())?;
    Ok(())
}
