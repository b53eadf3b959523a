//! How does a picture follow a slider that moves faster than one can paint?
//!
//! A slider reports 1,000 positions a second, a painter needs several milliseconds for a picture. Through
//! a queue each position is painted, later and later: the picture lags behind the slider. A property
//! holds the latest position only, so each picture shows where the slider is now.

#![forbid(unsafe_code)]

use std::thread;
use std::time::Duration;

use tamtam::{Property, tick, unbounded};

/// Positions that the slider passes through.
const END: u64 = 200;

const WIDTH: usize = 640;
const HEIGHT: usize = 360;

/// A disc at the slider's position, and the time that a picture takes.
fn paint(position: u64, picture: &mut [u8], frame: &tamtam::Receiver<std::time::Instant>) {
    let center = (position as usize * WIDTH / END as usize, HEIGHT / 2);
    for (index, pixel) in picture.iter_mut().enumerate() {
        let (x, y) = (index % WIDTH, index / WIDTH);
        let distance = x.abs_diff(center.0).pow(2) + y.abs_diff(center.1).pow(2);
        *pixel = if distance < 900 { 255 } else { 0 };
    }
    frame.recv().expect("the clock ticks for ever");
}

/// Moves the slider from 1 to its end.
fn slide(mut report: impl FnMut(u64)) {
    let pace = tick(Duration::from_millis(1));
    for position in 1..=END {
        pace.recv().expect("the clock ticks for ever");
        report(position);
    }
}

fn main() {
    let mut picture = vec![0; WIDTH * HEIGHT];
    let frame = tick(Duration::from_millis(10));

    // Both ways at once; where the slider is really, the property knows.
    let slider = Property::new(0_u64);
    let (post, inbox) = unbounded();
    thread::scope(|scope| {
        scope.spawn(|| {
            slide(|position| {
                slider.set(position);
                post.send(position).expect("the painter listens to the end");
            });
        });

        println!("the slider is at, the queue says, the property says");
        let mut pictures = 0;
        let mut seen = 0;
        loop {
            seen = slider.wait_changed(seen);
            let queued = inbox.recv().expect("the slider moves");
            let latest = slider.get();
            paint(latest, &mut picture, &frame);
            pictures += 1;
            println!("{:16} {queued:15} {latest:18}", slider.get());
            assert!(
                queued <= latest,
                "a queue is never ahead of the latest value"
            );
            if latest == END {
                break;
            }
        }
        println!(
            "{pictures} pictures of {END} positions; {} positions were still in the queue",
            inbox.len()
        );
        assert!(pictures <= END as usize);
    });
}
