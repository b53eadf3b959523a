//! For which threads the answers are that an end of a link gives its carrier.

use std::ops::BitOr;

use tamtam_actor::{Address, Budget, Frame, Reply};
use tamtam_link::{Inbound, Link, LinkBuilder, Seats, own_seat};

/// Two ends in one thread, with an actor that answers even numbers alone, and tells nothing of others.
struct Sides {
    frame: Frame,
    far: Address<(u8, Reply<u8>)>,
    here: (Link, Inbound),
    there: (Link, Inbound),
}

impl Sides {
    fn new(here: LinkBuilder) -> Self {
        let frame = Frame::new();
        let root = frame
            .spawner()
            .spawn_fn(|(number, reply): (u8, Reply<u8>), _| {
                if number % 2 == 0 {
                    reply.send(number);
                }
            });
        let here = here.build(|| {});
        let there = Link::builder().root(&root).build(|| {});
        let far = here.0.root();
        let mut sides = Sides {
            frame,
            far,
            here,
            there,
        };
        assert_eq!(sides.carry(), 0, "hellos are for no thread");
        sides
    }

    /// A thread asks, which has the seat that this gives.
    fn ask(&self, number: u8) -> usize {
        let far = &self.far;
        std::thread::scope(|threads| {
            let asker = threads.spawn(move || {
                far.tell((number, Reply::to(|_| {}))).unwrap();
                own_seat()
            });
            asker.join().unwrap()
        })
    }

    /// Carries all that is to go, and gives the seats for which there are answers in what comes from there.
    fn carry(&mut self) -> Seats {
        let mut seats = 0;
        loop {
            let (mut bytes, mut attached) = (Vec::new(), Vec::new());
            self.here.0.take_outgoing_with(&mut bytes, &mut attached);
            self.there.1.receive(&bytes).unwrap();
            let sent = bytes.len();
            bytes.clear();
            self.frame.pump(Budget::unlimited());
            seats |= self.there.0.take_outgoing_with(&mut bytes, &mut attached);
            self.here.1.receive(&bytes).unwrap();
            if sent + bytes.len() == 0 {
                return seats;
            }
        }
    }
}

#[test]
fn an_answer_names_the_seat_of_the_thread_that_asked_and_so_does_one_that_never_comes() {
    let mut sides = Sides::new(Link::builder().ask_from_seats());
    for number in 0..40 {
        let seat = sides.ask(number);
        assert_eq!(sides.carry(), 1 << seat, "{number}");
    }
    let several = [2, 3, 4].map(|number| 1 << sides.ask(number));
    assert_eq!(sides.carry(), several.into_iter().fold(0, Seats::bitor));
    assert_eq!(sides.carry(), 0, "they were named");
}
