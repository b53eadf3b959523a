//! Who is chosen, who is told and who is left alone; all on one thread. The races are in the models.

use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use super::*;
use crate::backoff::tests::NAPS;
use crate::fence;

/// A thread that gave up while another one looked for a partner did not find its entry any more,
/// and so never freed the packet in it.
#[test]
fn a_packet_stays_for_its_owner_when_the_wait_was_decided_elsewhere() {
    let mut queue = WaitQueue::default();
    let mut packet = 0_u64;
    let only = Operation::new(0);
    Context::with(|context| {
        queue.register(Entry {
            packet: (&raw mut packet).cast(),
            ..Entry::new(only, context)
        });
        assert!(context.abort());
        assert!(queue.choose(|_| {}).is_none());
        let entry = queue.unregister(only, context);
        assert_eq!(
            entry.map(|entry| entry.packet),
            Some((&raw mut packet).cast())
        );
        // Without a packet there is nothing to fetch, and the entry is in the way.
        queue.register(Entry::new(only, context));
        assert!(queue.choose(|_| {}).is_none());
        assert!(queue.is_empty());
    });
}

#[test]
fn a_list_shows_whether_tasks_wait_and_an_entry_for_what() {
    let list = WaitList::new();
    let shown = format!("{list:?}");
    let beginning = "WaitList { lone_task: false, pending: 0, habit: Habit { ";
    assert!(shown.starts_with(beginning), "{shown}");
    assert!(list.list_alone(Waker::noop()).is_some());
    assert!(format!("{list:?}").contains("lone_task: true"));

    let entry = Entry::new(SECOND, &Context::for_task(Waker::noop()));
    let shown = format!("{entry:?}");
    let expected =
        format!("Entry {{ operation: {SECOND:?}, context: Context {{ outcome: None }}, .. }}");
    assert_eq!(shown, expected);
}

const FIRST: Operation = Operation::new(0);
const SECOND: Operation = Operation::new(1);

/// Contexts of tasks that nobody wakes: many can wait on one thread.
fn contexts<const COUNT: usize>() -> [Context; COUNT] {
    [(); COUNT].map(|()| Context::for_task(Waker::noop()))
}

/// Which of them were chosen.
fn chosen<const COUNT: usize>(contexts: &[Context; COUNT]) -> [bool; COUNT] {
    contexts
        .each_ref()
        .map(|context| matches!(context.outcome(), Some(Outcome::Selected(_))))
}

fn entry(operation: Operation, context: &Context) -> Entry {
    Entry::new(operation, context)
}

#[test]
fn a_queue_counts_those_who_wait_and_knows_who_was_chosen() {
    let mut queue = WaitQueue::default();
    let [own, other, watcher] = contexts();
    assert!(queue.is_empty() && queue.waiting() == 0);
    assert!(!queue.has_any() && !queue.has_other(&own) && !queue.has_watchers());

    queue.register(entry(FIRST, &own));
    assert!(!queue.is_empty() && queue.len() == 1 && queue.waiting() == 1);
    assert!(queue.has_any() && !queue.has_other(&own) && queue.has_other(&other));
    queue.watch(entry(FIRST, &watcher));
    assert!(queue.len() == 2 && queue.waiting() == 1 && queue.has_watchers());
    queue.register(entry(FIRST, &other));
    assert!(queue.len() == 3 && queue.waiting() == 2 && queue.has_other(&own));
    assert!(queue.has_more_than(1) && !queue.has_more_than(2));

    // Chosen by another source: listed, and yet it waits no more.
    assert!(other.abort());
    assert!(queue.len() == 3 && queue.waiting() == 1 && queue.has_any());
    assert!(!queue.has_other(&own));
    assert!(own.abort());
    assert!(queue.waiting() == 0 && !queue.has_any() && !queue.has_other(&watcher));
}

#[test]
fn an_entry_is_taken_out_by_its_operation_and_its_wait() {
    let mut queue = WaitQueue::default();
    let [one, other] = contexts();
    queue.register(entry(FIRST, &one));
    queue.register(entry(SECOND, &one));
    assert!(queue.unregister(FIRST, &other).is_none());
    assert!(
        queue
            .unregister(SECOND, &one)
            .is_some_and(|entry| entry.operation == SECOND)
    );
    assert!(queue.unregister(SECOND, &one).is_none());
    assert_eq!(queue.len(), 1);

    queue.watch(entry(FIRST, &one));
    queue.watch(entry(SECOND, &one));
    queue.unwatch(FIRST, &other);
    assert_eq!(queue.len(), 3);
    queue.unwatch(SECOND, &one);
    assert_eq!(queue.len(), 2);
    queue.unwatch(FIRST, &one);
    assert!(!queue.has_watchers() && queue.len() == 1);
}

/// Those that give up are found at once in the order in which they came and in the reverse one: by a search through all the others
/// this takes minutes.
#[test]
fn many_that_give_up_in_order_or_in_reverse_are_found_at_once() {
    const COUNT: u32 = if cfg!(miri) { 100 } else { 200_000 };
    let began = Instant::now();
    let [one] = contexts();
    for reverse in [false, true] {
        let mut queue = WaitQueue::default();
        for number in 0..COUNT {
            queue.register(entry(Operation::new(number), &one));
        }
        for number in 0..COUNT {
            let number = if reverse { COUNT - 1 - number } else { number };
            let operation = Operation::new(number);
            let found = queue.unregister(operation, &one);
            assert!(found.is_some_and(|entry| entry.operation == operation));
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "{number} of {COUNT}"
            );
        }
        assert!(queue.is_empty());
    }
}

#[test]
fn the_first_to_wait_is_chosen_first_and_woken_only_if_it_sleeps() {
    let mut queue = WaitQueue::default();
    let [decided, first, second] = contexts();
    for context in [&decided, &first, &second] {
        queue.register(entry(FIRST, context));
    }
    assert!(decided.abort());
    let (_, sleeper) = queue.choose(|_| {}).expect("two wait");
    assert!(sleeper.context.same(&first) && !sleeper.context.same(&second));
    // A task counts as asleep.
    assert!(sleeper.is_asleep);
    assert_eq!(chosen(&[decided, first, second]), [false, true, false]);
    drop(sleeper);

    let mut queue = WaitQueue::default();
    Context::with(|awake| {
        queue.register(Entry::new(SECOND, awake));
        let (_, sleeper) = queue.choose(|_| {}).expect("one waits");
        assert!(!sleeper.is_asleep);
        assert_eq!(awake.outcome(), Some(Outcome::Selected(SECOND)));
    });
}

/// The last share of a task's context may be the list's: when the task was awake as it was chosen, and has gone since. What is dropped with it is
/// user code, which may use the same list.
#[test]
fn what_a_chosen_task_leaves_behind_is_dropped_when_the_lists_lock_is_free() {
    struct Left {
        list: Arc<WaitList>,
        found_free: Arc<AtomicBool>,
        woken: Arc<AtomicBool>,
    }

    impl Drop for Left {
        fn drop(&mut self) {
            let is_free = self.list.queue.try_lock().is_some();
            self.found_free.store(is_free, Ordering::Relaxed);
        }
    }

    impl Wake for Left {
        fn wake(self: Arc<Self>) {
            self.woken.store(true, Ordering::Relaxed);
        }
    }

    let tells: [fn(&WaitList); 3] = [
        WaitList::notify_one,
        |list| list.notify_many(2),
        WaitList::notify_all,
    ];
    for enter in [WaitList::register, WaitList::watch] {
        for tell in tells {
            let list = Arc::new(WaitList::new());
            let [found_free, woken] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
            let left = Left {
                list: Arc::clone(&list),
                found_free: Arc::clone(&found_free),
                woken: Arc::clone(&woken),
            };
            let context = Context::for_task(&Waker::from(Arc::new(left)));
            // As while it is polled.
            context.reset();
            enter(&list, FIRST, &context);
            drop(context);
            tell(&list);
            assert!(list.is_empty() && found_free.load(Ordering::Relaxed));
            assert!(!woken.load(Ordering::Relaxed), "it is awake");
        }
    }
}

#[test]
fn all_are_told_to_look_again_and_all_hear_of_the_end() {
    let mut queue = WaitQueue::default();
    let waits @ [taker, decided, watcher] = &contexts();
    let enter = |queue: &mut WaitQueue| {
        queue.register(entry(FIRST, taker));
        queue.register(entry(FIRST, decided));
        queue.watch(entry(FIRST, watcher));
    };
    assert!(decided.abort());
    enter(&mut queue);
    let mut sleepers = Vec::new();
    queue.tell_all(&mut sleepers);
    assert_eq!(sleepers.len(), 2);
    assert!(queue.is_empty());
    assert_eq!(chosen(waits), [true, false, true]);

    let [taker, decided, watcher] = &contexts();
    assert!(decided.abort());
    queue.register(entry(FIRST, taker));
    queue.register(entry(FIRST, decided));
    queue.watch(entry(FIRST, watcher));
    let mut sleepers = Vec::new();
    queue.disconnect(&mut sleepers);
    assert_eq!(sleepers.len(), 2);
    // Each finds its own entry, with its packet.
    assert!(queue.len() == 2 && !queue.has_watchers());
    assert_eq!(taker.outcome(), Some(Outcome::Disconnected));
    assert_eq!(decided.outcome(), Some(Outcome::Aborted));
    assert_eq!(watcher.outcome(), Some(Outcome::Selected(FIRST)));
}

#[test]
fn one_thing_wakes_one_taker_and_all_watchers() {
    let list = WaitList::new();
    assert!(list.is_empty());
    let waits @ [first, second, third, watcher, other_watcher] = &contexts();
    for context in [first, second, third] {
        list.register(FIRST, context);
    }
    list.watch(FIRST, watcher);
    list.watch(SECOND, other_watcher);
    list.unwatch(SECOND, other_watcher);
    assert!(!list.is_empty());
    list.notify_one();
    assert_eq!(chosen(waits), [true, false, false, true, false]);
    list.unregister(FIRST, second);
    list.notify_one();
    assert_eq!(chosen(waits), [true, false, true, true, false]);
    assert!(list.is_empty());
    list.notify_one();
}

#[test]
fn so_many_things_wake_so_many_takers() {
    for (count, expected) in [
        (0, [false, false, false]),
        (1, [true, false, false]),
        (2, [true, true, false]),
        (3, [true, true, true]),
        (9, [true, true, true]),
    ] {
        let list = WaitList::new();
        let waits @ [first, second, third] = &contexts();
        for context in [first, second, third] {
            list.register(FIRST, context);
        }
        let [watcher] = &contexts();
        list.watch(FIRST, watcher);
        list.notify_many(count);
        assert_eq!(chosen(waits), expected, "{count}");
        assert!(watcher.outcome().is_some());
    }
}

#[test]
fn a_task_that_waits_alone_came_first_and_counts_as_one() {
    for (count, expected) in [(1, [false, false]), (2, [true, false]), (3, [true, true])] {
        let list = WaitList::new();
        let ticket = list.list_alone(Waker::noop()).expect("the place is free");
        let waits @ [first, second] = &contexts();
        list.register(FIRST, first);
        list.register(FIRST, second);
        let [watcher] = &contexts();
        list.watch(FIRST, watcher);
        list.notify_many(count);
        assert!(!list.lone.waits(ticket));
        assert_eq!(chosen(waits), expected, "{count}");
        assert!(watcher.outcome().is_some());
    }
    // One thing: the task and all watchers, but none of the others.
    let list = WaitList::new();
    let ticket = list.list_alone(Waker::noop()).expect("the place is free");
    let waits @ [taker, watcher] = &contexts();
    list.register(FIRST, taker);
    list.watch(FIRST, watcher);
    list.notify_one();
    assert!(!list.lone.waits(ticket));
    assert_eq!(chosen(waits), [false, true]);
    list.notify_one();
    assert_eq!(chosen(waits), [true, true]);
}

#[test]
fn the_place_for_one_is_for_those_who_come_first() {
    let list = WaitList::new();
    let [context] = contexts();
    list.register(FIRST, &context);
    assert!(list.list_alone(Waker::noop()).is_none());
    list.unregister(FIRST, &context);
    assert!(list.list_alone(Waker::noop()).is_some());
    assert!(list.list_alone(Waker::noop()).is_none());
    // Where one alone ever waits, an earlier wait that is still listed was leaked.
    let list = WaitList::single();
    let leaked = list.list_alone(Waker::noop()).expect("the place is free");
    let ticket = list.list_alone(Waker::noop()).expect("it was leaked");
    assert!(!list.lone.waits(leaked) && list.lone.waits(ticket));
    list.register(FIRST, &context);
    assert!(!list.lone.waits(ticket));
}

/// They came first, and would be chosen first.
#[test]
fn those_that_were_leaked_in_the_queue_of_one_owner_do_not_take_what_comes_for_it() {
    let notify: [fn(&WaitList); 2] = [WaitList::notify_one, |list| list.notify_many(1)];
    for notify in notify {
        let list = WaitList::single();
        let waits = contexts::<3>();
        for context in &waits {
            list.register(FIRST, context);
        }
        notify(&list);
        assert_eq!(chosen(&waits), [true; 3]);
        assert!(list.is_empty());
    }
}

#[test]
fn who_has_the_place_for_one_is_woken_while_a_thread_of_the_chain_is_on_its_way() {
    let list = WaitList::chained();
    Context::with(|thread| {
        list.register(FIRST, thread);
        list.notify_one();
        assert_eq!(thread.outcome(), Some(Outcome::Selected(FIRST)));
        let ticket = list.list_alone(Waker::noop()).expect("the place is free");
        let waits @ [second] = &contexts();
        list.register(FIRST, second);
        list.notify_one();
        assert!(!list.lone.waits(ticket));
        assert_eq!(chosen(waits), [false]);
        assert!(list.arrive_as(thread));
        list.pass_on(|| true);
        assert_eq!(chosen(waits), [true]);
    });
}

#[test]
fn all_are_told_by_one_call() {
    let list = WaitList::new();
    let ticket = list.list_alone(Waker::noop()).expect("the place is free");
    let waits @ [first, second, watcher] = &contexts();
    list.register(FIRST, first);
    list.register(FIRST, second);
    list.watch(FIRST, watcher);
    list.notify_all();
    assert!(!list.lone.waits(ticket));
    assert_eq!(chosen(waits), [true, true, true]);
    assert!(list.is_empty());
}

#[test]
fn in_a_chain_nobody_is_chosen_while_a_thread_is_on_its_way() {
    let list = WaitList::chained();
    Context::with(|thread| {
        let waits @ [second, third] = &contexts();
        list.register(FIRST, thread);
        list.register(FIRST, second);
        list.register(FIRST, third);
        list.notify_one();
        assert_eq!(thread.outcome(), Some(Outcome::Selected(FIRST)));
        list.notify_one();
        list.notify_many(2);
        assert_eq!(chosen(waits), [false, false]);
        // Watchers hear of it all the same.
        let [watcher] = &contexts();
        list.watch(FIRST, watcher);
        list.notify_one();
        assert!(watcher.outcome().is_some());
        assert_eq!(chosen(waits), [false, false]);

        assert!(list.arrive_as(thread));
        assert_eq!(chosen(waits), [false, false]);
        list.pass_on(|| false);
        assert_eq!(chosen(waits), [false, false]);
        list.pass_on(|| true);
        assert_eq!(chosen(waits), [true, false]);
        // A task is not waited for; the last one that was chosen passes on.
        list.notify_one();
        assert_eq!(chosen(waits), [true, true]);
        assert!(!list.arrive_as(second) && list.arrive_as(third));
    });
}

#[test]
fn what_one_does_not_want_goes_to_another_and_only_in_a_chain_what_is_left() {
    let list = WaitList::new();
    let waits @ [context] = &contexts();
    list.register(FIRST, context);
    list.pass_on(|| true);
    list.decline(|| false);
    assert_eq!(chosen(waits), [false]);
    list.decline(|| true);
    assert_eq!(chosen(waits), [true]);
}

#[test]
fn a_store_is_told_of_only_where_that_is_wanted() {
    let (list, attention) = (WaitList::new(), Attention::new());
    let waits @ [context, other] = &contexts();
    list.register(FIRST, context);
    assert!(!list.notify_after_store(&attention));
    assert_eq!(chosen(waits), [!fence::can_be_asymmetric(), false]);
    attention.want();
    assert!(attention.is_wanted() && !attention.is_closed());
    assert!(!list.notify_after_store(&attention));
    assert_eq!(chosen(waits), [true, false]);
    attention.want_none();
    assert_eq!(attention.is_wanted(), !fence::can_be_asymmetric());
    attention.close();
    assert!(attention.is_closed());
    list.register(FIRST, other);
    assert!(list.notify_after_store(&attention));
    assert_eq!(chosen(waits), [true, true]);
}

#[test]
fn every_sixteenth_attempt_is_thorough() {
    let list = WaitList::new();
    let attempts = RefCell::new(Vec::new());
    let attempt = |thorough| {
        attempts.borrow_mut().push(thorough);
        (attempts.borrow().len() == 40).then_some(7)
    };
    assert_eq!(list.wait_until(Wait::Spin, None, attempt, || true), Some(7));
    let thorough = |index: &usize| index.is_multiple_of(16);
    let expected: Vec<_> = (0..40).map(|index| thorough(&index)).collect();
    assert_eq!(*attempts.borrow(), expected);
}

#[test]
fn an_attempt_is_made_after_the_deadline_has_passed() {
    let list = WaitList::new();
    let past = Some(Instant::now());
    let attempts = Cell::new(0);
    let attempt = |thorough: bool| {
        assert!(thorough);
        attempts.set(attempts.get() + 1);
        (attempts.get() == 2).then_some(7)
    };
    assert_eq!(list.wait_until(Wait::Park, past, attempt, || true), Some(7));
    assert_eq!(
        list.wait_until(Wait::Park, past, |_| None::<()>, || false),
        None
    );
    // One that lies ahead ends a sleep, and not before.
    let soon = Instant::now() + Duration::from_millis(2);
    assert_eq!(
        list.wait_until(Wait::Park, Some(soon), |_| None::<()>, || false),
        None
    );
    assert!(Instant::now() >= soon && list.is_empty());
}

/// A thread that met another one in the middle of a step, slept, was woken, and met the next one, at last napped before each look.
#[test]
fn a_thread_that_was_woken_pauses_from_the_beginning() {
    let list = WaitList::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                list.notify_one();
                std::thread::yield_now();
            }
        });
        let looks = Cell::new(0);
        let attempt = |_| (looks.get() >= 300).then_some(());
        // It seems ready once, and then not, before the sleep and when this thread has registered.
        let ready = || looks.replace(looks.get() + 1) % 3 == 0;
        let napped = NAPS.get();
        list.wait_until(Wait::Park, None, attempt, ready);
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(NAPS.get(), napped);
    });
}
