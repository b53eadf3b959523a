//! Tests of the ring on words of this process, and of what another process can make of them.

use super::*;

const SENDER: Claimant = Claimant {
    place: 5,
    count: 77,
};

struct Words {
    control: Control,
    track: Track,
    states: Vec<AtomicU64>,
    dead: Vec<Claimant>,
}

impl Ring for Words {
    fn control(&self) -> &Control {
        &self.control
    }

    fn track(&self) -> Track {
        self.track
    }

    fn state(&self, index: usize) -> &AtomicU64 {
        &self.states[index]
    }

    fn is_alive(&self, claimant: Claimant) -> bool {
        !self.dead.contains(&claimant)
    }

    fn has_receiver(&self) -> bool {
        true
    }

    fn has_senders(&self) -> bool {
        true
    }
}

fn ring(slots: u64) -> (Words, Cursor) {
    let track = Track::new(slots).unwrap();
    let words = Words {
        control: Control::new(track),
        track,
        states: (0..slots).map(|_| AtomicU64::new(0)).collect(),
        dead: Vec::new(),
    };
    words.prepare();
    let cursor = Cursor {
        head: track.first(),
        abandoned: 0,
    };
    (words, cursor)
}

fn send(words: &Words) -> Result<Position, Refusal> {
    let position = words.claim(SENDER)?;
    assert!(words.publish(position, SENDER, true));
    Ok(position)
}

fn receive(words: &Words, cursor: &mut Cursor) -> Result<Position, Nothing> {
    let position = words.take(cursor)?;
    words.free(position);
    Ok(position)
}

#[test]
fn any_number_of_slots_is_filled_and_emptied_lap_after_lap() {
    for slots in [1, 2, 3, 5, 8, 13] {
        let (words, mut cursor) = ring(slots);
        let mut expected = words.track.first();
        for lap in 0..50 {
            let count = lap % slots + 1;
            let sent: Vec<_> = (0..count).map(|_| send(&words).unwrap()).collect();
            assert_eq!(words.len_from(cursor.head), count);
            assert_eq!(send(&words).is_err(), count == slots);
            if count < slots {
                assert_eq!(receive(&words, &mut cursor), Ok(sent[0]));
                expected = words.track.next(expected);
            }
            let later = usize::from(count < slots);
            for sent in &sent[later..] {
                assert_eq!((receive(&words, &mut cursor), *sent), (Ok(expected), *sent));
                expected = words.track.next(expected);
            }
            if count < slots {
                assert_eq!(receive(&words, &mut cursor), Ok(expected));
                expected = words.track.next(expected);
            }
            assert_eq!(receive(&words, &mut cursor), Err(Nothing::Empty));
            assert_eq!(words.head_of_another(), Some(cursor.head));
        }
    }
}

#[test]
fn positions_wrap() {
    for slots in [1, 3, 4] {
        let (words, mut cursor) = ring(slots);
        let last_lap = POSITIONS & !(words.track.lap - 1);
        words.control.set_tail(last_lap);
        cursor.head = last_lap;
        for index in 0..slots {
            words.states[index as usize].store(free(last_lap + index), Ordering::SeqCst);
        }
        for _ in 0..slots - 1 {
            let sent = send(&words).unwrap();
            assert_eq!(receive(&words, &mut cursor), Ok(sent));
        }
        for _ in 0..3 * slots {
            for _ in 0..slots {
                send(&words).unwrap();
            }
            assert_eq!(send(&words), Err(Refusal::Full));
            assert_eq!(words.len_from(cursor.head), slots);
            assert_eq!(words.head_of_another(), Some(cursor.head));
            for _ in 0..slots {
                receive(&words, &mut cursor).unwrap();
            }
            assert_eq!(receive(&words, &mut cursor), Err(Nothing::Empty));
            let sent = send(&words).unwrap();
            assert_eq!(receive(&words, &mut cursor), Ok(sent));
        }
    }
}

#[test]
fn a_claim_is_passed_over_when_its_process_is_dead_and_not_when_another_has_its_place() {
    let (mut words, mut cursor) = ring(4);
    words.claim(SENDER).unwrap();
    send(&words).unwrap();
    assert_eq!(words.take(&mut cursor), Err(Nothing::Empty));
    words.dead.push(Claimant::new(5, 76));
    assert_eq!(words.take(&mut cursor), Err(Nothing::Empty));
    words.dead.push(Claimant::new(5, 77 + (1 << COUNT_BITS)));
    let second = words.track.next(words.track.first());
    assert_eq!(receive(&words, &mut cursor), Ok(second));
    assert_eq!(cursor.abandoned, 1);
    // A thread of that process that runs on for a moment changes nothing.
    assert!(!words.publish(words.track.first(), SENDER, true));
    assert_eq!(receive(&words, &mut cursor), Err(Nothing::Empty));
}

/// Its process counts as dead, and is not gone yet: what it has read, alone or among others, was received again by the next receiver, and sent anew.
#[test]
fn a_receiver_that_comes_too_late_gives_back_nothing_that_is_anothers() {
    for late in [
        Words::free as fn(&Words, Position),
        Words::free_one_of_several,
    ] {
        let (words, mut cursor) = ring(3);
        let sent: Vec<_> = (0..3).map(|_| send(&words).unwrap()).collect();
        for position in &sent {
            assert_eq!(words.take(&mut cursor), Ok(*position));
        }
        let mut next = Cursor {
            head: words.head_of_another().unwrap(),
            abandoned: 0,
        };
        // One is claimed by then, one is full, and one was read by the next receiver once more.
        assert_eq!(receive(&words, &mut next), Ok(sent[0]));
        let claimed = words.claim(SENDER).unwrap();
        assert_eq!(receive(&words, &mut next), Ok(sent[1]));
        let full = send(&words).unwrap();
        assert_eq!(words.take(&mut next), Ok(sent[2]));
        for position in &sent[..2] {
            late(&words, *position);
        }
        assert!(words.publish(claimed, SENDER, true));
        words.free(sent[2]);
        late(&words, sent[2]);
        for expected in [claimed, full] {
            assert_eq!(receive(&words, &mut next), Ok(expected));
        }
        assert_eq!(words.take(&mut next), Err(Nothing::Empty));
    }
}

/// A tail that lags, as a sender that was killed right behind its claim leaves it, or one that another process has set back.
#[test]
fn senders_help_a_tail_on_that_lags() {
    let (words, mut cursor) = ring(3);
    let first = words.track.first();
    for _ in 0..100 {
        let sent = send(&words).unwrap();
        assert_eq!(receive(&words, &mut cursor), Ok(sent));
    }
    words.control.set_tail(first);
    let sent = send(&words).unwrap();
    assert_eq!(receive(&words, &mut cursor), Ok(sent));
    assert_eq!(words.len_from(cursor.head), 0);
}

#[test]
fn words_that_cannot_be_are_an_error_and_no_panic_and_no_endless_loop() {
    let mut random = 1_u64;
    let mut random = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut refused = 0;
    // The interpreter takes a hundred times as long.
    let rounds = if cfg!(miri) { 100 } else { 20_000 };
    for round in 0..rounds {
        let (words, mut cursor) = ring(1 + random() % 5);
        for _ in 0..random() % 6 {
            let _ = send(&words);
        }
        let lie = |word: u64, random: u64| match random % 4 {
            0 => random,
            // Near the truth.
            1 => word ^ 1 << (random >> 8 & 63),
            2 => word.wrapping_add((random >> 8 & 15) << POSITION_SHIFT),
            _ => word,
        };
        for state in &words.states {
            state.store(
                lie(state.load(Ordering::SeqCst), random()),
                Ordering::SeqCst,
            );
        }
        let tail = words.control.tail.load(Ordering::SeqCst);
        words.control.set_tail(lie(tail, random()));
        for _ in 0..10 {
            refused += u32::from(send_anything(&words) == Err(Refusal::Corrupt));
            refused += u32::from(receive(&words, &mut cursor) == Err(Nothing::Corrupt));
            words.len_from(cursor.head);
        }
        words.head_of_another();
        assert!(round < 100 || refused > 0);
    }
}

fn send_anything(words: &Words) -> Result<(), Refusal> {
    let position = words.claim(SENDER)?;
    words.publish(position, SENDER, true);
    Ok(())
}

#[test]
fn a_control_takes_eight_lines() {
    assert_eq!(size_of::<Control>(), 512);
}
