//! How does a picture follow a slider that is moved faster than the picture can be made?
//!
//! The slider is a property in shared memory, moved 1,000 times a second. A worker process sharpens a picture of 1920 by 1080 points with the strength that it
//! stands for, into shared memory; a window looks there 60 times a second. The worker takes the latest strength when it begins a picture, so no
//! move waits behind another one, and what is shown is never older than the work on one picture, with the one in progress on top.
//!
//!     cargo run --release -p tamtam-ipc --example sharpen -- strip.png
//!
//! writes a strip of each of some of the pictures into a file, side by side, so that the sharpness rises from left to right: without an argument into the
//! folder for temporary files.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        Some(linux::WORKER) => linux::work(),
        path => linux::show(path),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, BufWriter};
    use std::os::fd::AsFd;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use tamtam_ipc::{Property, SharedBytes};

    type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    /// The argument that makes this program the worker.
    pub(crate) const WORKER: &str = "worker";

    const WIDTH: usize = 1920;
    const HEIGHT: usize = 1080;
    const PICTURE: usize = WIDTH * HEIGHT * 3;

    /// Without optimization a picture takes a second.
    const MOVES: u64 = if cfg!(debug_assertions) { 2_000 } else { 3_000 };
    const STRONGEST: f32 = 4.0;
    /// Of so many pictures there is a strip in the file, if so many were made.
    const STRIPS: usize = 6;

    // ------------------------------------------------------------------------------- what both processes share

    /// Three pictures: the worker makes one, the window looks at one, and the newest lies between them. Each exchanges its own for that one, so
    /// that none waits for the other.
    struct Pictures {
        memory: SharedBytes,
        own: u64,
    }

    /// The picture between was not looked at yet.
    const FRESH: u64 = 4;
    /// Before each picture: of which move it was made, at which move it was ready, and how many microseconds it took.
    const FACTS: usize = 4096;
    const STRIDE: usize = FACTS + PICTURE.next_multiple_of(4096);
    const BYTES: usize = 4096 + 3 * STRIDE;

    impl Pictures {
        fn new(memory: SharedBytes, own: u64) -> Self {
            Pictures { memory, own }
        }

        fn between(&self) -> Outcome<&AtomicU64> {
            Ok(self.memory.atomic_u64(0)?)
        }

        fn exchange(&mut self, mark: u64) -> Outcome {
            let got = self.between()?.swap(self.own | mark, Ordering::AcqRel);
            self.own = got % FRESH;
            Ok(())
        }

        fn place(&self) -> usize {
            4096 + self.own as usize * STRIDE
        }

        fn publish(&mut self, picture: &[u8], facts: [u64; 3]) -> Outcome {
            self.memory.write_at(self.place() + FACTS, picture)?;
            for (index, fact) in facts.into_iter().enumerate() {
                let place = self.memory.atomic_u64(self.place() + index * 8)?;
                place.store(fact, Ordering::Relaxed);
            }
            self.exchange(FRESH)
        }

        /// The facts of a picture that was not looked at yet, which this side then has.
        fn newest(&mut self) -> Outcome<Option<[u64; 3]>> {
            if self.between()?.load(Ordering::Relaxed) < FRESH {
                return Ok(None);
            }
            self.exchange(0)?;
            let mut facts = [0; 3];
            for (index, fact) in facts.iter_mut().enumerate() {
                let place = self.memory.atomic_u64(self.place() + index * 8)?;
                *fact = place.load(Ordering::Relaxed);
            }
            Ok(Some(facts))
        }
    }

    // ------------------------------------------------------------------------------- the worker

    pub(crate) fn work() -> Outcome {
        // Its two pieces of memory are its input and its output.
        let slider = Property::<f32>::attach(io::stdin().as_fd().try_clone_to_owned()?)?;
        let memory = SharedBytes::attach(io::stdout().as_fd().try_clone_to_owned()?)?;
        let mut pictures = Pictures::new(memory, 0);
        let blurred = painted();
        let mut seen = 0;
        loop {
            while slider
                .wait_changed_timeout(seen, Duration::from_millis(100))
                .is_err()
            {
                if slider.processes() == 1 {
                    return Ok(());
                }
            }
            let begin = Instant::now();
            let (moved, strength) = slider.versioned();
            let sharp = sharpened(&blurred, strength);
            let took = begin.elapsed().as_micros() as u64;
            // Before the next picture is begun: it will be of this move or a later one.
            pictures.publish(&sharp, [moved, slider.version(), took])?;
            seen = moved;
        }
    }

    /// Discs and bars with soft edges.
    fn painted() -> Vec<u8> {
        let mut picture = vec![0; PICTURE];
        for (place, pixel) in picture.chunks_exact_mut(3).enumerate() {
            let (x, y) = (place % WIDTH, place / WIDTH);
            let (right, down) = ((x % 80) as f32 - 40.0, (y % 80) as f32 - 40.0);
            let disc = (28.0 - right.hypot(down)).clamp(-4.0, 4.0) / 8.0 + 0.5;
            let bars = if (x / 10 + y / 40) % 2 == 0 {
                24.0
            } else {
                0.0
            };
            let hue = place as f32 / (WIDTH * HEIGHT) as f32;
            let colour = [150.0 - 60.0 * hue, 90.0 + bars, 60.0 + 110.0 * hue];
            for (byte, value) in pixel.iter_mut().zip(colour) {
                *byte = (50.0 + bars + disc * (value - 20.0)) as u8;
            }
        }
        blurred(&picture, 4)
    }

    /// Each byte as the mean of those up to `radius` away in its row, and then in its column. The sum of them goes along: what comes is added, and what
    /// is left behind is taken away.
    fn blurred(picture: &[u8], radius: usize) -> Vec<u8> {
        let row = 3 * WIDTH;
        let mut along = vec![0; PICTURE];
        for (from, to) in picture.chunks_exact(row).zip(along.chunks_exact_mut(row)) {
            mean_along(from, to, 3, radius);
        }
        let mut blurred = vec![0; PICTURE];
        mean_along(&along, &mut blurred, row, radius);
        blurred
    }

    /// Of neighbours that are `step` bytes apart; so many sums go side by side.
    fn mean_along(from: &[u8], to: &mut [u8], step: usize, radius: usize) {
        let count = from.len() / step;
        let mut sums = vec![0_u32; step];
        let add = |sums: &mut [u32], index: usize| {
            for (sum, byte) in sums.iter_mut().zip(&from[index * step..][..step]) {
                *sum += u32::from(*byte);
            }
        };
        (0..radius.min(count)).for_each(|index| add(&mut sums, index));
        for (index, to) in to.chunks_exact_mut(step).enumerate() {
            if index + radius < count {
                add(&mut sums, index + radius);
            }
            if let Some(left) = index.checked_sub(radius + 1) {
                for (sum, byte) in sums.iter_mut().zip(&from[left * step..][..step]) {
                    *sum -= u32::from(*byte);
                }
            }
            let several = (index + radius).min(count - 1) - index.saturating_sub(radius) + 1;
            for (to, sum) in to.iter_mut().zip(&sums) {
                *to = (sum / several as u32) as u8;
            }
        }
    }

    /// Away from what is blurred: the unsharp mask of the darkroom.
    fn sharpened(picture: &[u8], strength: f32) -> Vec<u8> {
        let mask = blurred(picture, 12);
        let bytes = picture.iter().zip(mask);
        let sharp = bytes.map(|(&byte, mask)| {
            let byte = f32::from(byte);
            (byte + strength * (byte - f32::from(mask))) as u8
        });
        sharp.collect()
    }

    // ------------------------------------------------------------------------------- the window

    pub(crate) fn show(path: Option<&str>) -> Outcome {
        let slider = Property::create(0.0f32)?;
        let memory = SharedBytes::create(BYTES)?;
        let mut worker = Command::new(std::env::current_exe()?)
            .arg(WORKER)
            .stdin(Stdio::from(slider.memory().try_clone_to_owned()?))
            .stdout(Stdio::from(memory.memory().try_clone_to_owned()?))
            .spawn()?;
        let mut pictures = Pictures::new(memory, 2);
        pictures.between()?.store(1, Ordering::Relaxed);

        let shown = thread::scope(|threads| {
            threads.spawn(|| move_about(&slider));
            look(&mut pictures, &slider)
        })?;
        // It ends when it is the only one that has the slider.
        drop(slider);
        worker.wait()?;

        let path = path.map_or_else(|| std::env::temp_dir().join("sharpen.png"), PathBuf::from);
        write(&path, &shown.strips)?;
        println!(
            "{MOVES} moves, {} pictures shown, each at most {:.1} ms of work; at most {} moves behind when ready: {}",
            shown.count,
            shown.longest as f64 / 1e3,
            shown.furthest,
            path.display()
        );
        Ok(())
    }

    /// Moves the slider from one end to the other, 1,000 times a second.
    fn move_about(slider: &Property<f32>) {
        let begin = Instant::now();
        for number in 1..=MOVES {
            let due = begin + Duration::from_millis(number);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            slider.set(STRONGEST * number as f32 / MOVES as f32);
        }
    }

    #[derive(Default)]
    struct Shown {
        count: usize,
        /// Microseconds of work on one picture.
        longest: u64,
        /// By how many moves a picture was behind the slider when it was ready.
        furthest: u64,
        /// The pictures of which there is a strip.
        strips: Vec<Vec<u8>>,
    }

    /// Looks 60 times a second for a newer picture, until that of the last move is there.
    fn look(pictures: &mut Pictures, slider: &Property<f32>) -> Outcome<Shown> {
        let mut shown = Shown::default();
        let [mut newest, mut ready_before] = [0, 0];
        while newest < MOVES {
            thread::sleep(Duration::from_secs(1) / 60);
            let Some([moved, ready, took]) = pictures.newest()? else {
                continue;
            };
            // The picture was begun after the one before was ready, and of the move that was the latest then, or of a later one: so it is behind
            // by no more than the moves during its own work, however fast the slider is and however late the window looks.
            assert!(
                moved > newest && moved >= ready_before,
                "{moved} of {ready_before}"
            );
            assert!(moved <= ready && ready <= slider.version());
            [newest, ready_before] = [moved, ready];
            shown.count += 1;
            shown.longest = shown.longest.max(took);
            shown.furthest = shown.furthest.max(ready - moved);
            let due = MOVES * shown.strips.len() as u64 / (STRIPS as u64 - 1);
            if shown.strips.len() < STRIPS && moved >= due {
                let mut picture = vec![0; PICTURE];
                let place = pictures.place() + FACTS;
                pictures.memory.read_at(place, &mut picture)?;
                shown.strips.push(picture);
            }
        }
        Ok(shown)
    }

    /// Of the first picture the first strip, of the second the second, and so on to the right edge, as a PNG.
    fn write(path: &PathBuf, pictures: &[Vec<u8>]) -> Outcome {
        let strip = WIDTH.div_ceil(pictures.len());
        let mut rows = Vec::with_capacity(PICTURE);
        for y in 0..HEIGHT {
            for (number, picture) in pictures.iter().enumerate() {
                let (first, end) = (number * strip, WIDTH.min((number + 1) * strip));
                let row = &picture[y * WIDTH * 3..][..WIDTH * 3];
                rows.extend_from_slice(&row[first * 3..end * 3]);
            }
        }
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, WIDTH as u32, HEIGHT as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&rows)?;
        Ok(())
    }
}
