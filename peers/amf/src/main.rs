//! How fast is a packet of typed objects read? By `tamtam-amf`, into structs and as a tree, by `flash-lso` and by Py3AMF.
//!
//! Each reads the same bytes, and what each has read is compared with what was written before its time is taken.

mod flash_lso;
mod py3amf;
mod tamtam;
mod tile;

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use tile::{BorrowedTile, Tile};

/// For all contenders in Rust, where it is asked for.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const TILES: u32 = 1_000;
const RUNS: usize = 9;
/// A run of Rust's is about that long, so that the clock costs nothing.
const RUN: Duration = Duration::from_millis(50);

fn main() -> Outcome {
    let tiles: Vec<Tile> = (0..TILES).map(Tile::new).collect();
    let python = std::env::args().nth(1);
    for (form, packet) in [
        ("AMF0", tamtam::packet_of_amf0(&tiles)?),
        ("AMF3 within AMF0", tamtam::packet_of_amf3(&tiles)?),
    ] {
        println!(
            "{TILES} typed objects, {form}, {} bytes; median of {RUNS} runs",
            packet.len()
        );
        verify(&tamtam::structs(&packet)?, &tiles, "tamtam-amf")?;
        let borrowed = tamtam::structs::<BorrowedTile<'_>>(&packet)?;
        let owned: Vec<Tile> = borrowed.iter().map(BorrowedTile::owned).collect();
        verify(&owned, &tiles, "tamtam-amf, borrowing,")?;
        let tree = tamtam::tree(&packet)?;
        verify(&tamtam::tiles_of(&tree)?, &tiles, "tamtam-amf's tree")?;
        let tree = flash_lso::tree(&packet)?;
        verify(&flash_lso::tiles_of(&tree)?, &tiles, "flash-lso")?;
        let [structs, borrowing, tree, flash_lso] = by_turns([
            &|| drop(black_box(tamtam::structs::<Tile>(black_box(&packet)))),
            &|| {
                drop(black_box(tamtam::structs::<BorrowedTile<'_>>(black_box(
                    &packet,
                ))))
            },
            &|| drop(black_box(tamtam::tree(black_box(&packet)))),
            &|| drop(black_box(flash_lso::tree(black_box(&packet)))),
        ]);
        let python = match &python {
            Some(python) => {
                let answer = py3amf::read(python, &packet, RUNS)?;
                verify(&answer.tiles, &tiles, "Py3AMF")?;
                Some(median(answer.times))
            }
            None => {
                println!("  Py3AMF is not asked: its Python was not named");
                None
            }
        };
        let peers = [("flash-lso", Some(flash_lso)), ("Py3AMF", python)];
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
        for (name, time) in peers {
            if let Some(time) = time {
                println!("  {name:<32} {:>9.1} µs", microseconds(time));
            }
        }
        for (name, time) in [
            ("tamtam-amf, structs", structs),
            ("tamtam-amf, structs that borrow", borrowing),
            ("tamtam-amf, a tree", tree),
        ] {
            print!("  {name:<32} {:>9.1} µs", microseconds(time));
            for (peer, other) in peers {
                if let Some(other) = other {
                    let ratio = other.as_secs_f64() / time.as_secs_f64();
                    print!("  {peer} takes {ratio:.2} times");
                }
            }
            println!();
        }
    }
    Ok(())
}

fn verify(read: &[Tile], written: &[Tile], who: &str) -> Outcome {
    if read == written {
        return Ok(());
    }
    Err(format!("{who} has read something else than was written").into())
}

/// The median of each, for one call. Each has its run by turns, so that what slows the machine slows all.
fn by_turns<const N: usize>(contenders: [&dyn Fn(); N]) -> [Duration; N] {
    let calls = contenders.map(|contender| {
        let begun = time_of_processor();
        let mut calls = 0;
        while time_of_processor() - begun < RUN {
            contender();
            calls += 1;
        }
        calls
    });
    let mut times = [const { Vec::new() }; N];
    for _ in 0..RUNS {
        for (place, contender) in contenders.iter().enumerate() {
            let begun = time_of_processor();
            for _ in 0..calls[place] {
                contender();
            }
            times[place].push((time_of_processor() - begun) / calls[place]);
        }
    }
    times.map(median)
}

/// What this thread has had of processors: others on the machine do not count.
fn time_of_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("it is after its beginning")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
