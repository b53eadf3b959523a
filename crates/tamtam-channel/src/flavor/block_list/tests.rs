//! Blocks that have been recycled so often that their generation wraps, or changes its highest bit.

use std::collections::VecDeque;

use super::*;

/// Generations around which something might go wrong: the first ones, the sign's change, the wrap. Miri tries the wrap.
const TURNS: &[u32] = if cfg!(miri) { &[0] } else { &[1, 1 << 31, 0] };

/// How many blocks pass. Miri takes thousands of times as long for each.
const BLOCKS: usize = if cfg!(miri) { 4 } else { 40 };

/// A list whose blocks, but for the first one, have been recycled so often that this is their generation.
fn list_of_generation(generation: u32) -> BlockList<Box<u64>> {
    let list = BlockList::new(true);
    for spare in &list.spares {
        let block = ListBlock::<Box<u64>>::allocate();
        // SAFETY: the block is in no list yet, and its cells are those that `allocate` wrote.
        unsafe {
            block
                .as_ref()
                .generation
                .with_mut(|place| *place = generation);
            for index in 0..ListBlock::<Box<u64>>::CELLS {
                ListBlock::cell(block, index)
                    .stamp
                    .store(generation.wrapping_sub(1), Ordering::Relaxed);
            }
        }
        spare.store(block.as_ptr(), Ordering::Relaxed);
    }
    list
}

/// The list beside a queue that does the same: each step sends and receives, singly or in portions, and never is a message
/// received that was not sent. So many blocks pass that each is recycled several times.
fn lives_through(generation: u32, ahead: usize) {
    let list = list_of_generation(generation);
    let mut expected = VecDeque::new();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next
    };
    for step in 0..BLOCKS * ListBlock::<Box<u64>>::CELLS {
        if step % 7 == 5 {
            let claims = list.claim_many(3).expect("the list is open");
            let numbers: Vec<u64> = (0..claims.count()).map(|_| fresh()).collect();
            expected.extend(&numbers);
            let mut numbers = numbers.into_iter();
            list.write_many(claims, || {
                Box::new(numbers.next().expect("as many as claimed"))
            });
        } else {
            let claim = list.claim().expect("the list is open");
            let number = fresh();
            expected.push_back(number);
            list.write(claim, Box::new(number));
        }
        // A cell that is claimed and not written has no message, whatever the generation.
        let pending = (step % 5 == 0).then(|| list.claim().expect("the list is open"));
        let mut looks = 0;
        while expected.len() > ahead || (pending.is_some() && !expected.is_empty()) {
            looks += 1;
            assert!(looks < 10_000, "messages were sent and do not come");
            if step % 2 == 0 {
                match list.receive_or_else(|| Err(Nothing::Busy)) {
                    Ok(message) => assert_eq!(Some(*message), expected.pop_front()),
                    Err(nothing) => assert_eq!(nothing, Nothing::Busy),
                }
            } else {
                let mut messages = Vec::with_capacity(2);
                let _ = list.receive_many(&mut messages, 2);
                for message in messages {
                    assert_eq!(Some(*message), expected.pop_front());
                }
            }
        }
        if let Some(claim) = pending {
            assert!(
                list.receive_or_else(|| Err(Nothing::Busy)).is_err(),
                "that message is not written"
            );
            let mut messages = Vec::with_capacity(2);
            assert_eq!(list.receive_many(&mut messages, 2), Err(Nothing::Busy));
            let number = fresh();
            expected.push_back(number);
            list.write(claim, Box::new(number));
        }
    }
}

#[test]
fn a_generation_that_wraps_neither_loses_nor_invents_messages() {
    for turn in TURNS {
        for before in 0..if cfg!(miri) { 1 } else { 3 } {
            for ahead in [0, 1, 3 * ListBlock::<Box<u64>>::CELLS] {
                if !cfg!(miri) || ahead == 1 {
                    lives_through(turn.wrapping_sub(before), ahead);
                }
            }
        }
    }
}

#[test]
fn as_many_spares_are_kept_as_their_bytes_allow_and_four_at_most() {
    fn spares<T>() -> usize {
        let block = ListBlock::<T>::CELLS * ListBlock::<T>::STRIDE;
        let kept = ListBlock::<T>::SPARES;
        assert!(kept * block <= SPARE_BYTES, "{kept} of {block}");
        assert!(
            kept == 4 || (kept + 1) * block > SPARE_BYTES,
            "{kept} of {block}"
        );
        kept
    }
    assert_eq!(spares::<()>(), 4);
    assert_eq!(spares::<u64>(), 4);
    assert_eq!(spares::<[u64; 100]>(), 2);
    assert_eq!(spares::<[u64; 250]>(), 1);
    assert_eq!(spares::<[u64; 1000]>(), 0);
}

#[test]
fn a_tail_in_a_block_that_is_used_again_is_not_taken_for_the_head_that_left_it() {
    let list = BlockList::new(true);
    let send = |number| {
        let claim = list.claim().expect("the list is open");
        list.write(claim, number);
    };
    let is_taken = || list.receive_or_else(|| Err(())).is_ok();
    send(0);
    assert!(is_taken());
    let head = list.head.place.load(Ordering::Relaxed);
    let ends = list.ends(|| {
        // Until the tail is where the head was when it was looked at; two blocks are full of messages then.
        let mut number = 1;
        while number == 1 || list.tail.load(Ordering::Relaxed) != head {
            assert!(number < 10_000, "the block does not come back");
            send(number);
            number += 1;
            if list.len() > 2 * ListBlock::<u64>::CELLS {
                assert!(is_taken());
            }
        }
    });
    assert_eq!(list.nothing_at(ends), Nothing::Busy);
    assert!(list.has_mail() && !list.is_empty());
    while is_taken() {}
    assert_eq!(list.why_nothing(), Nothing::Empty);
    assert!(!list.has_mail() && list.is_empty());
}
