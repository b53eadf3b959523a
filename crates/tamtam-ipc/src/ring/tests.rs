//! Tests of the ring on words of this process, and of what another process can make of them.

use super::*;

const RECEIVER: Claimant = Claimant { place: 1, count: 2 };
const SENDER: Claimant = Claimant {
    place: 5,
    count: 77,
};

struct Words {
    control: Control,
    track: Track,
    states: Vec<AtomicU64>,
    seen: AtomicU64,
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

    fn seen(&self) -> &AtomicU64 {
        &self.seen
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
        seen: AtomicU64::new(0),
        dead: Vec::new(),
    };
    let cursor = words.prepare(RECEIVER);
    words.begin();
    (words, cursor)
}

/// A ring in which all before a position was sent and received.
fn ring_at(slots: u64, first: Position) -> (Words, Cursor) {
    let (words, _) = ring(slots);
    words.control.set_tail(first);
    words.begin();
    for index in 0..slots {
        let lap = (first & !(words.track.lap - 1)).wrapping_sub(words.track.lap);
        let state = Run::single(lap + index).state(Kind::Void);
        words.states[index as usize].store(state, Ordering::SeqCst);
    }
    words.control.set_given(first, RECEIVER);
    (words, Cursor::new(first, 0, RECEIVER))
}

fn send(words: &Words) -> Result<Position, Refusal> {
    let run = words.claim(SENDER, 1)?;
    assert_eq!(run.len(), 1);
    assert!(words.publish(run, SENDER, true));
    Ok(run.first)
}

/// Sends as many at once as there is room for.
fn send_several(words: &Words, most: u64) -> Result<Run, Refusal> {
    let run = words.claim(SENDER, most)?;
    assert!(run.len() <= most.min(MOST_AT_ONCE));
    assert!(words.publish(run, SENDER, true));
    Ok(run)
}

fn receive(words: &Words, cursor: &Cursor) -> Result<Position, Nothing> {
    let position = words.take(cursor)?;
    if !words.free_at(cursor, position) {
        return Err(Nothing::Corrupt);
    }
    Ok(position)
}

/// Where another receiver would go on.
fn given_before(words: &Words) -> Position {
    words.control.seldom.given.head.load(Ordering::SeqCst) >> POSITION_SHIFT
}

#[test]
fn any_number_of_slots_is_filled_and_emptied_lap_after_lap() {
    for slots in [1, 2, 3, 5, 8, 13] {
        let (words, cursor) = ring(slots);
        let mut expected = words.track.first();
        for lap in 0..50 {
            let count = lap % slots + 1;
            let sent: Vec<_> = (0..count).map(|_| send(&words).unwrap()).collect();
            assert_eq!(words.len_from(cursor.head()), count);
            assert_eq!(send(&words).is_err(), count == slots);
            if count < slots {
                assert_eq!(receive(&words, &cursor), Ok(sent[0]));
                expected = words.track.next(expected);
            }
            let later = usize::from(count < slots);
            for sent in &sent[later..] {
                assert_eq!((receive(&words, &cursor), *sent), (Ok(expected), *sent));
                expected = words.track.next(expected);
            }
            if count < slots {
                assert_eq!(receive(&words, &cursor), Ok(expected));
                expected = words.track.next(expected);
            }
            assert_eq!(receive(&words, &cursor), Err(Nothing::Empty));
            assert_eq!(given_before(&words), cursor.head() & POSITIONS);
        }
    }
}

#[test]
fn positions_wrap() {
    for slots in [1, 3, 4] {
        let (words, cursor) = ring_at(slots, POSITIONS & !(Track::new(slots).unwrap().lap - 1));
        for _ in 0..slots - 1 {
            let sent = send(&words).unwrap();
            assert_eq!(receive(&words, &cursor), Ok(sent));
        }
        for _ in 0..3 * slots {
            for _ in 0..slots {
                send(&words).unwrap();
            }
            assert_eq!(send(&words), Err(Refusal::Full));
            assert_eq!(words.len_from(cursor.head()), slots);
            assert_eq!(given_before(&words), cursor.head() & POSITIONS);
            for _ in 0..slots {
                receive(&words, &cursor).unwrap();
            }
            assert_eq!(receive(&words, &cursor), Err(Nothing::Empty));
            let sent = send(&words).unwrap();
            assert_eq!(receive(&words, &cursor), Ok(sent));
        }
    }
}

#[test]
fn a_claim_is_passed_over_when_its_process_is_dead_and_not_when_another_has_its_place() {
    let (mut words, cursor) = ring(4);
    let claimed = words.claim(SENDER, 1).unwrap();
    send(&words).unwrap();
    assert_eq!(words.take(&cursor), Err(Nothing::Empty));
    words.dead.push(Claimant::new(5, 76));
    assert_eq!(words.take(&cursor), Err(Nothing::Empty));
    words.dead.push(Claimant::new(5, 77 + (1 << COUNT_BITS)));
    let second = words.track.next(words.track.first());
    assert_eq!(receive(&words, &cursor), Ok(second));
    assert_eq!(cursor.abandoned(), 1);
    // A thread of that process that runs on for a moment changes nothing.
    assert!(!words.publish(claimed, SENDER, true));
    assert_eq!(receive(&words, &cursor), Err(Nothing::Empty));
}

/// Its process counts as dead, and is not gone yet: what it has taken was received again by the next receiver, and sent anew.
#[test]
fn a_receiver_that_comes_too_late_gives_back_nothing_that_is_anothers() {
    let (words, cursor) = ring(3);
    let sent: Vec<_> = (0..3).map(|_| send(&words).unwrap()).collect();
    for position in &sent {
        assert_eq!(words.take(&cursor), Ok(*position));
    }
    let next = words.take_over(SENDER).unwrap();
    assert!(!words.free(&cursor, 3));
    // What is given back says the low bits of a position, and so does who goes on from there.
    let low = |position: Position| Ok(position & POSITIONS);
    // One is claimed by then, one is full, and one is in the hands of the next receiver once more.
    assert_eq!(receive(&words, &next), low(sent[0]));
    let claimed = words.claim(SENDER, 1).unwrap();
    assert_eq!(receive(&words, &next), low(sent[1]));
    let full = send(&words).unwrap();
    assert_eq!(words.take(&next), low(sent[2]));
    assert!(!words.give_back(&cursor));
    assert_eq!(send(&words), Err(Refusal::Full));
    assert!(words.publish(claimed, SENDER, true));
    assert!(words.free(&next, 1));
    for expected in [claimed.first, full] {
        assert_eq!(
            receive(&words, &next).map(|it| it & POSITIONS),
            low(expected)
        );
    }
    assert_eq!(words.take(&next), Err(Nothing::Empty));
}

/// A message that is used in its place while those behind it are received: their slots are given back with its own.
#[test]
fn what_is_held_holds_what_was_taken_since() {
    let (words, cursor) = ring(4);
    let sent: Vec<_> = (0..4).map(|_| send(&words).unwrap()).collect();
    assert_eq!(words.take(&cursor), Ok(sent[0]));
    assert_eq!(receive(&words, &cursor), Ok(sent[1]));
    assert_eq!(receive(&words, &cursor), Ok(sent[2]));
    assert_eq!(given_before(&words), sent[0] & POSITIONS);
    assert_eq!(send(&words), Err(Refusal::Full));
    assert!(words.free(&cursor, 1));
    assert_eq!(given_before(&words), sent[3] & POSITIONS);
    for _ in 0..3 {
        send(&words).unwrap();
    }
    assert_eq!(send(&words), Err(Refusal::Full));
}

/// The next receiver passes over them, if what was taken before them was still in use.
#[test]
fn what_was_given_back_out_of_its_turn_does_not_come_again() {
    let (words, cursor) = ring(4);
    let sent: Vec<_> = (0..4).map(|_| send(&words).unwrap()).collect();
    words.take(&cursor).unwrap();
    assert_eq!(receive(&words, &cursor), Ok(sent[1]));
    let next = words.take_over(SENDER).unwrap();
    for position in [sent[0], sent[2], sent[3]] {
        assert_eq!(receive(&words, &next), Ok(position & POSITIONS));
    }
    assert_eq!(
        (words.take(&next), next.abandoned()),
        (Err(Nothing::Empty), 0)
    );
}

/// The next receiver goes on within what was sent together.
#[test]
fn a_receiver_begins_in_the_middle_of_a_run() {
    for taken in 0..=8 {
        let (words, cursor) = ring(16);
        let run = send_several(&words, 8).unwrap();
        assert_eq!(run.len(), 8);
        for _ in 0..taken {
            receive(&words, &cursor).unwrap();
        }
        words.take(&cursor).ok();
        let next = words.take_over(SENDER).unwrap();
        for position in run.positions().skip(taken) {
            assert_eq!(receive(&words, &next), Ok(position & POSITIONS));
        }
        assert_eq!(words.take(&next), Err(Nothing::Empty));
        assert_eq!(send(&words), Ok(run.first + 8));
    }
}

/// Batches and messages in turn, in rings of all sizes: in order, as many at once as there is room for, and none is lost, also where positions wrap.
#[test]
fn slots_are_claimed_together_as_far_as_there_are_any() {
    // Each step costs as many messages as there are slots.
    let (laps, numbers): (_, &[_]) = match cfg!(miri) {
        true => (4, &[1, 2, 3, 5, 8]),
        false => (200, &[1, 2, 3, 5, 8, 13, 64, 100]),
    };
    for &slots in numbers {
        let lap = Track::new(slots).unwrap().lap;
        for first in [0, !(lap - 1), POSITIONS & !(lap - 1)] {
            let (words, cursor) = ring_at(slots, first.wrapping_sub(lap * 100));
            let (mut expected, mut sent, mut received) = (cursor.head(), 0, 0);
            for step in 0..laps * slots {
                let most = 1 + step * 7 % 40;
                while let Ok(run) = send_several(&words, most) {
                    let by_one = words.track.is_by_one(run.first);
                    assert!(!by_one || run.len() == 1);
                    sent += run.len();
                }
                assert_eq!(sent - received, slots);
                assert_eq!(words.len_from(cursor.head()), slots);
                for _ in 0..1 + step % slots {
                    assert_eq!(words.take(&cursor), Ok(expected));
                    expected = words.track.next(expected);
                    received += 1;
                }
                let held = cursor.held.get();
                assert!(words.free(&cursor, held));
            }
        }
    }
}

/// A batch takes one step where there is room for it, and leaves a position of this time in each slot once in 64 laps.
#[test]
fn no_slot_has_an_old_position() {
    let (words, cursor) = ring(64);
    let lap = words.track.lap;
    let mut alone = 0;
    for _ in 0..2 * LAPS_BETWEEN * 64 / MOST_AT_ONCE {
        let mut left = MOST_AT_ONCE;
        while left > 0 {
            let run = send_several(&words, left).unwrap();
            assert!(run.len() == MOST_AT_ONCE || words.track.is_by_one(run.first));
            alone += u64::from(run.len() == 1);
            left -= run.len();
        }
        for _ in 0..MOST_AT_ONCE {
            receive(&words, &cursor).unwrap();
        }
        for state in &words.states {
            let position = state.load(Ordering::SeqCst) >> POSITION_SHIFT;
            let age = cursor.head().wrapping_sub(position) & POSITIONS;
            assert!(age <= (LAPS_BETWEEN + 1) * lap, "{age}");
        }
    }
    assert_eq!(alone, 2 * 64);
}

/// All of them are passed over by one step, and counted, and a late step of that process changes nothing.
#[test]
fn slots_claimed_together_by_the_dead_are_passed_over() {
    let (mut words, cursor) = ring(8);
    let claimed = words.claim(SENDER, 5).unwrap();
    assert_eq!(claimed.len(), 4);
    let other = Claimant::new(6, 1);
    let behind = words.claim(other, 1).unwrap();
    assert!(words.publish(behind, other, true));
    assert_eq!(words.take(&cursor), Err(Nothing::Empty));
    words.dead.push(SENDER);
    assert_eq!(receive(&words, &cursor), Ok(behind.first));
    assert_eq!(cursor.abandoned(), 4);
    assert!(!words.publish(claimed, SENDER, true));
    // A tail that the dead one has left behind leads past all of them.
    words.control.set_tail(claimed.first);
    assert_eq!(
        words.claim(other, 8).unwrap().first,
        words.track.next(behind.first)
    );
}

/// A tail that lags, as a sender that was killed right behind its claim leaves it, or one that another process has set back.
#[test]
fn senders_help_a_tail_on_that_lags() {
    let (words, cursor) = ring(3);
    let first = words.track.first();
    for _ in 0..100 {
        let sent = send(&words).unwrap();
        assert_eq!(receive(&words, &cursor), Ok(sent));
    }
    words.control.set_tail(first);
    let sent = send(&words).unwrap();
    assert_eq!(receive(&words, &cursor), Ok(sent));
    assert_eq!(words.len_from(cursor.head()), 0);
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
        let (words, cursor) = ring(1 + random() % 5);
        for _ in 0..random() % 6 {
            let _ = send_several(&words, 1 + random() % 4);
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
        let given = &words.control.seldom.given.head;
        let lied = lie(given.load(Ordering::SeqCst), random());
        given.store(lied, Ordering::SeqCst);
        for _ in 0..10 {
            let most = 1 + random() % 40;
            refused += u32::from(send_anything(&words, most) == Err(Refusal::Corrupt));
            refused += u32::from(receive(&words, &cursor) == Err(Nothing::Corrupt));
            words.len_from(cursor.head());
        }
        words.take_over(RECEIVER);
        assert!(round < 100 || refused > 0);
    }
}

fn send_anything(words: &Words, most: u64) -> Result<(), Refusal> {
    let run = words.claim(SENDER, most)?;
    let last = run.first + (run.len() - 1);
    assert!(words.track.index(last).is_some() && run.len() <= words.track.capacity());
    words.publish(run, SENDER, true);
    Ok(())
}

#[test]
fn a_control_takes_eight_lines() {
    assert_eq!(size_of::<Control>(), 512);
}

#[test]
fn a_run_may_end_at_the_greatest_position() {
    let run = Run {
        first: u64::MAX - 3,
        exponent: 2,
    };
    let positions: Vec<_> = run.positions().collect();
    assert_eq!(
        positions,
        [u64::MAX - 3, u64::MAX - 2, u64::MAX - 1, u64::MAX]
    );
}
