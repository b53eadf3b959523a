//! What is learned from what a wait brought, and what the next wait does with it.

use super::*;
use crate::{Futex, Scope};

#[test]
fn a_lesson_survives_its_packing() {
    for level in 0..=TRUST {
        for place in [Place::Apart, Place::Together] {
            for exponent in 0..=MOST_SKIPS {
                let lesson = Lesson {
                    level,
                    turn: (37 * exponent) % WAITS_A_SLEEP,
                    place,
                    exponent,
                    skips: (1 << exponent) - 1,
                };
                assert!(Lesson::unpack(lesson.pack()) == lesson);
            }
        }
    }
}

#[test]
fn what_was_learned_and_where_a_wait_stands_is_shown() {
    let habit = Habit {
        word: AtomicU32::new(0),
        peer: AtomicU32::new(0),
    };
    let shown = format!("{habit:?}");
    assert_eq!(
        shown,
        "Habit { budget_ns: 0, peer_on_this_core: false, skips: 0 }"
    );
    let patience = habit.begin(Wait::Park, None);
    let shown = format!("{patience:?}");
    assert_eq!(shown, "Patience { wait: Park, stage: Free, looks: 0, .. }");
}

#[test]
fn waits_in_vain_shrink_the_budget_to_nothing() {
    let habit = Habit::new();
    // A wait whose last offer of the core was taken by somebody teaches nothing, so on a busy
    // machine this takes more waits than the budget has levels.
    let patient_until = Instant::now() + Duration::from_secs(60);
    while habit.lesson().level > 0 {
        assert!(Instant::now() < patient_until, "{habit:?}");
        let mut patience = habit.begin(Wait::Adaptive, None);
        while patience.look_again() {}
    }
    // From then on the very first look in vain leads to sleep.
    assert!(!habit.begin(Wait::Adaptive, None).look_again());
}

#[test]
#[cfg_attr(miri, ignore = "Miri's clock runs too slowly for a short sleep")]
fn short_sleeps_bring_the_budget_back() {
    let habit = Habit {
        word: AtomicU32::new(0),
        peer: AtomicU32::new(0),
    };
    // A sleep is long when somebody else takes the core in the middle of it; so there are several.
    for _ in 0..1000 {
        let mut patience = habit.begin(Wait::Adaptive, None);
        assert!(!patience.look_again());
        patience.sleeps();
        patience.woken();
        if habit.lesson().level > 0 {
            return;
        }
    }
    panic!("of 1,000 sleeps not one was taken for short: {habit:?}");
}

#[test]
#[cfg_attr(miri, ignore = "needs the time that Miri does not have")]
fn threads_that_wait_in_vain_do_not_pass_the_core_around_for_ever() {
    // More than there are cores, so that every offer is taken by another one that waits.
    let habit = Habit::new();
    std::thread::scope(|threads| {
        for _ in 0..16 {
            threads.spawn(|| {
                for _ in 0..20 {
                    let mut patience = habit.begin(Wait::Adaptive, None);
                    let mut looks = 0_u32;
                    while patience.look_again() {
                        looks += 1;
                        assert!(looks < 100_000, "{patience:?}");
                    }
                }
            });
        }
    });
}

#[test]
fn looking_goes_on_when_the_number_of_looks_wraps() {
    let habit = Habit::new();
    for wait in [Wait::Spin, Wait::Yield] {
        let mut patience = habit.begin(wait, None);
        patience.looks = u32::MAX - 1;
        // With a few looks after it, too: every sixteenth and every 512th do something else.
        for _ in 0..600 {
            assert!(patience.look_again(), "{patience:?}");
        }
    }
}

#[test]
fn parking_never_looks_again_and_spinning_ends_at_the_deadline() {
    let habit = Habit::new();
    assert!(!habit.begin(Wait::Park, None).look_again());
    let deadline = Instant::now() + Duration::from_millis(2);
    for wait in [Wait::Spin, Wait::Yield, Wait::Adaptive] {
        let mut patience = habit.begin(wait, Some(deadline));
        while patience.look_again() {}
    }
    assert!(Instant::now() >= deadline);
}

/// A habit that has learned this and heard of no peer.
fn habit_of(lesson: Lesson) -> Habit {
    Habit {
        word: AtomicU32::new(lesson.pack()),
        peer: AtomicU32::new(0),
    }
}

impl Habit {
    /// One that has learned to sleep at once.
    pub(crate) fn impatient() -> Self {
        habit_of(Lesson { level: 0, ..MIDDLE })
    }

    pub(crate) fn is_impatient(&self) -> bool {
        self.lesson().level == 0
    }
}

/// Nothing was learned but that looking again pays, at the level 3 of 6.
const MIDDLE: Lesson = Lesson {
    level: 3,
    turn: 0,
    place: Place::Apart,
    exponent: 0,
    skips: 0,
};

/// A wait that has looked once, at the stage named.
fn waiting(habit: &Habit, stage: Stage, place: Place) -> Patience<'_> {
    Patience {
        stage,
        place,
        looks: 1,
        ..habit.begin(Wait::Adaptive, None)
    }
}

fn learned(habit: &Habit, expected: Lesson) {
    assert!(habit.lesson() == expected, "{habit:?}");
}

#[test]
fn success_awake_raises_the_budget_to_the_top_and_not_beyond() {
    let habit = habit_of(Lesson {
        place: Place::Together,
        turn: 5,
        exponent: 12,
        skips: 9,
        ..MIDDLE
    });
    // Found without giving way: the peer is on another core, and nothing is learned about strangers.
    for level in [4, 5, 6, 6] {
        waiting(&habit, Stage::Spell, Place::Together).rewarded();
        learned(
            &habit,
            Lesson {
                level,
                turn: 5,
                exponent: 12,
                skips: 9,
                ..MIDDLE
            },
        );
    }
}

#[test]
fn the_top_is_trusted_after_one_of_eight_successes_and_no_longer_once_it_was_not_enough() {
    let habit = habit_of(Lesson {
        level: TOP,
        ..MIDDLE
    });
    let succeeds_after = |looks| {
        let patience = Patience {
            looks,
            ..waiting(&habit, Stage::Spell, Place::Apart)
        };
        patience.rewarded();
    };
    for (looks, level) in [(9, TOP), (15, TOP), (16, TRUST), (17, TRUST), (8, TRUST)] {
        succeeds_after(looks);
        learned(&habit, Lesson { level, ..MIDDLE });
    }
    // A short sleep does not take it back.
    waiting(&habit, Stage::Spell, Place::Apart).woken_after(Some(SHORT_SLEEP / 2));
    learned(
        &habit,
        Lesson {
            level: TRUST,
            ..MIDDLE
        },
    );
    assert!(!waiting(&habit, Stage::Spell, Place::Apart).exhausted());
    learned(
        &habit,
        Lesson {
            level: TOP,
            ..MIDDLE
        },
    );
}

#[test]
fn success_after_giving_way_counts_the_turn_and_trusts_the_core_again() {
    let habit = habit_of(Lesson {
        turn: 62,
        exponent: 2,
        ..MIDDLE
    });
    for (level, turn, exponent) in [(4, 63, 1), (5, 0, 0), (6, 1, 0)] {
        waiting(&habit, Stage::Offered, Place::Together).rewarded();
        learned(
            &habit,
            Lesson {
                level,
                turn,
                exponent,
                place: Place::Together,
                ..MIDDLE
            },
        );
    }
    // While offers are left out there is no trust.
    let habit = habit_of(Lesson {
        exponent: 10,
        skips: 1,
        ..MIDDLE
    });
    waiting(&habit, Stage::Offered, Place::Apart).rewarded();
    learned(
        &habit,
        Lesson {
            level: 4,
            turn: 1,
            exponent: 10,
            skips: 1,
            ..MIDDLE
        },
    );
}

#[test]
fn what_was_there_at_once_and_what_another_way_of_waiting_brought_teaches_nothing() {
    let habit = habit_of(MIDDLE);
    habit.begin(Wait::Adaptive, None).rewarded();
    for wait in [Wait::Park, Wait::Spin, Wait::Yield] {
        let mut patience = Patience {
            looks: 1,
            ..habit.begin(wait, None)
        };
        patience.rewarded();
        patience.sleeps();
        assert!(patience.started.is_none());
        patience.started = Some(Instant::now());
        patience.woken();
    }
    learned(&habit, MIDDLE);
}

#[test]
fn a_spent_budget_shrinks_by_a_level_unless_the_core_was_wanted_by_others() {
    let habit = habit_of(Lesson { level: 1, ..MIDDLE });
    for (contended, level) in [(true, 1), (false, 0), (false, 0)] {
        let patience = Patience {
            contended,
            ..waiting(&habit, Stage::Spell, Place::Apart)
        };
        assert!(!patience.exhausted());
        learned(&habit, Lesson { level, ..MIDDLE });
    }
}

#[test]
fn a_budget_is_that_of_its_level_and_ends_with_the_deadline() {
    for (level, budget) in (0..).zip(BUDGET) {
        let habit = habit_of(Lesson { level, ..MIDDLE });
        let mut patience = waiting(&habit, Stage::Free, Place::Apart);
        patience.open(habit.lesson());
        assert_eq!(patience.limit, Duration::from_nanos(budget.into()));
        let started = patience.started.expect("it was opened");
        assert_eq!(patience.read, Some(started));
        let end = started + patience.limit;
        assert!(patience.spent(end) && patience.spent(end + Duration::from_nanos(1)));
        assert!(level == 0 || !patience.spent(end - Duration::from_nanos(1)));
    }
    let habit = habit_of(MIDDLE);
    let deadline = Instant::now();
    for has_woken in [false, true] {
        let mut patience = Patience {
            deadline: Some(deadline),
            has_woken,
            ..waiting(&habit, Stage::Free, Place::Apart)
        };
        patience.open(habit.lesson());
        assert!(patience.spent(deadline));
        patience.started = Some(deadline - Duration::from_nanos(1));
        assert!(!patience.spent(deadline - Duration::from_nanos(1)));
    }
}

#[test]
fn a_wait_offers_the_core_so_many_times_and_no_more() {
    let habit = habit_of(MIDDLE);
    for (offers, spent) in [(0, false), (63, false), (64, true), (65, true)] {
        let patience = Patience {
            offers,
            ..waiting(&habit, Stage::Offered, Place::Apart)
        };
        assert_eq!(patience.spent(Instant::now()), spent, "{offers}");
    }
}

#[test]
fn the_time_that_a_core_was_away_tells_who_had_it() {
    let started = Instant::now();
    let (short, lost) = (Duration::from_nanos(700), LOST);
    let moment = Duration::from_nanos(1);
    // After how long it came back, whether this program had it: whether it was contended, whether the time is
    // forgiven, whether the peer is taken to be here.
    for (away, was_ours, contended, forgiven, together) in [
        (short, true, false, false, false),
        (short + moment, false, true, true, true),
        (lost, false, true, true, true),
        (lost + moment, true, true, true, false),
        (lost + moment, false, true, false, false),
    ] {
        for peer in [0, 1] {
            let habit = habit_of(MIDDLE);
            habit.peer.store(peer, Relaxed);
            let mut patience = Patience {
                started: Some(started),
                ..waiting(&habit, Stage::Offered, Place::Apart)
            };
            patience.came_back(away, away > short, || was_ours);
            assert_eq!(patience.contended, contended, "{away:?}");
            let expected = if forgiven { started + away } else { started };
            assert_eq!(patience.started, Some(expected), "{away:?}");
            // A peer that has said where it is was not met here.
            let expected = together && peer == 0;
            assert_eq!(patience.place == Place::Together, expected, "{away:?}");
            assert_eq!(habit.lesson().skips > 0, away > lost && !was_ours);
        }
    }
    // An offer that came back at once: the peer is on another core, whatever was thought.
    let habit = habit_of(MIDDLE);
    let mut patience = waiting(&habit, Stage::Offered, Place::Together);
    patience.came_back(short, false, || false);
    assert!(patience.place == Place::Apart);
}

#[test]
fn a_core_lost_to_a_stranger_is_not_offered_for_long_and_longer_each_time() {
    let habit = habit_of(MIDDLE);
    let mut patience = waiting(&habit, Stage::Offered, Place::Apart);
    for (exponent, skips) in [(10, 1_023), (16, 65_535), (16, 65_535)] {
        patience.came_back(Duration::from_millis(3), true, || false);
        learned(
            &habit,
            Lesson {
                exponent,
                skips,
                ..MIDDLE
            },
        );
    }
}

#[test]
fn the_length_of_a_sleep_tells_whether_it_was_worth_it() {
    let short = Duration::from_micros(50);
    let moment = Duration::from_nanos(1);
    // Slept, level and skips before: level and skips after.
    for (slept, before, after) in [
        (Some(short), (1, 0), (3, 0)),
        (Some(short), (5, 0), (6, 0)),
        (Some(Duration::ZERO), (0, 0), (2, 0)),
        (Some(SHORT_SLEEP - moment), (0, 0), (2, 0)),
        (Some(SHORT_SLEEP), (0, 0), (0, 0)),
        (None, (2, 0), (2, 0)),
        // While offers are left out, a sleep that woke an idle core counts for many of them.
        (Some(short), (1, 60_000), (1, 60_000 - 4_096)),
        (Some(short), (1, 100), (1, 0)),
        (Some(IDLE_WAKE), (1, 60_000), (1, 59_999)),
        (Some(IDLE_WAKE + moment), (1, 60_000), (1, 55_904)),
        (Some(SHORT_SLEEP - moment), (1, 60_000), (1, 55_904)),
        (Some(SHORT_SLEEP), (1, 60_000), (1, 59_999)),
        (None, (1, 1), (1, 0)),
    ] {
        let lesson = |(level, skips)| Lesson {
            level,
            skips,
            ..MIDDLE
        };
        let habit = habit_of(lesson(before));
        waiting(&habit, Stage::Spell, Place::Apart).woken_after(slept);
        learned(&habit, lesson(after));
    }
}

#[test]
fn a_wait_is_longer_for_a_wake_up_and_where_it_is_trusted_if_no_other_thread_takes_the_core() {
    let habit = habit_of(MIDDLE);
    let word = Futex::new(0);
    let moment = Duration::from_nanos(1);
    // What was woken before this test.
    has_woken();
    for (level, wakes, crowded, longer) in [
        (3, false, false, Duration::ZERO),
        (3, true, false, WAKE),
        // That was for one wait.
        (TOP, false, false, Duration::ZERO),
        (TOP, true, true, Duration::ZERO),
        (TRUST, false, false, WAKE),
        (TRUST, true, false, 2 * WAKE),
        (TRUST, true, true, Duration::ZERO),
    ] {
        let said = format!("{level} {wakes} {crowded}");
        if wakes {
            word.wake_one(Scope::Private);
        }
        let mut patience = habit.begin(Wait::Adaptive, None);
        patience.look_again();
        patience.open(Lesson { level, ..MIDDLE });
        // What is shorter may have been held up by itself.
        patience.came_back(TAKEN - moment, true, || false);
        if crowded {
            patience.came_back(TAKEN, true, || false);
        }
        let started = patience.started.unwrap();
        let budget = BUDGET[level.min(TOP) as usize];
        let limit = Duration::from_nanos(budget.into()) + longer;
        assert!(!patience.spent(started + limit - moment), "{said}");
        assert!(patience.spent(started + limit), "{said}");
        // One in 32 of the sleeps that a wake-up may have made long is followed by a trial.
        let is_for_it = wakes && !crowded;
        for (slept, tries) in [
            (SHORT_SLEEP + 16 * moment, is_for_it),
            (SHORT_SLEEP + 17 * moment, false),
            (SHORT_SLEEP + WAKE - 32 * moment, is_for_it),
            (SHORT_SLEEP + WAKE, false),
        ] {
            habit.word.store(MIDDLE.pack(), Relaxed);
            patience.woken_after(Some(slept));
            let level = if tries { TOP } else { MIDDLE.level };
            assert_eq!(habit.lesson().level, level, "{said} {slept:?}");
        }
    }
}

#[test]
fn that_a_stranger_has_gone_shows_also_where_two_wait_for_each_others_wake_ups() {
    let skips = |left| Lesson {
        skips: left,
        ..MIDDLE
    };
    let longest = SHORT_SLEEP + WAKE;
    for (slept, is_crowded, left) in [
        (longest - Duration::from_nanos(1), false, 60_000 - 4_096),
        (longest, false, 59_999),
        (SHORT_SLEEP, true, 59_999),
    ] {
        let habit = habit_of(skips(60_000));
        let patience = Patience {
            has_woken: true,
            is_crowded,
            ..waiting(&habit, Stage::Spell, Place::Apart)
        };
        patience.woken_after(Some(slept));
        learned(&habit, skips(left));
    }
}

#[test]
fn a_sleep_beside_the_peer_counts_as_a_turn() {
    for (place, turn, expected) in [
        (Place::Together, 0, 1),
        (Place::Together, 7, 7),
        (Place::Apart, 0, 0),
    ] {
        let habit = habit_of(Lesson { turn, ..MIDDLE });
        waiting(&habit, Stage::Free, place).woken_after(None);
        assert_eq!(habit.lesson().turn, expected, "{turn}");
    }
}

#[test]
fn a_sleep_is_timed_from_the_beginning_of_its_wait_and_seldom_while_sleeping_is_the_rule() {
    for (skips, timed) in [(0, true), (1, false), (63, false), (64, true), (65, false)] {
        let habit = habit_of(Lesson { skips, ..MIDDLE });
        let mut patience = waiting(&habit, Stage::Free, Place::Apart);
        patience.sleeps();
        assert_eq!(patience.started.is_some(), timed, "{skips}");
    }
    let habit = habit_of(MIDDLE);
    let began = Instant::now();
    let mut patience = Patience {
        started: Some(began),
        ..waiting(&habit, Stage::Spell, Place::Apart)
    };
    patience.sleeps();
    assert_eq!(patience.started, Some(began));
}

#[test]
fn the_peer_is_where_it_says_and_else_where_it_was_met() {
    let habit = habit_of(MIDDLE);
    for place in [Place::Apart, Place::Together] {
        let lesson = Lesson { place, ..MIDDLE };
        habit.peer.store(0, Relaxed);
        assert!(habit.place(lesson, 2, false) == place);
        habit.peer.store(2, Relaxed);
        assert!(habit.place(lesson, 2, false) == Place::Together);
        assert!(habit.place(lesson, 3, false) == Place::Apart);
    }
}

/// A processor on which this thread surely does not run.
const ELSEWHERE: u32 = u32::MAX;

#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "Miri does not say on which processor a thread runs")]
fn one_who_brings_something_says_where_it_runs() {
    let habit = habit_of(MIDDLE);
    habit.peer.store(ELSEWHERE, Relaxed);
    habit.meet();
    assert!(![0, ELSEWHERE].contains(&habit.peer.load(Relaxed)));

    // Among others it corrects them only if that is news, or if it has not said so for long.
    let said = Cell::new(ELSEWHERE);
    habit.peer.store(ELSEWHERE, Relaxed);
    habit.meet_among_others(&said, false);
    assert_ne!(habit.peer.load(Relaxed), ELSEWHERE);
    assert_eq!(said.get(), habit.peer.load(Relaxed));
    // The thread may be moved between two calls; then try again.
    let silent = (0..1000).any(|_| {
        habit.peer.store(ELSEWHERE, Relaxed);
        habit.meet_among_others(&said, false);
        habit.peer.load(Relaxed) == ELSEWHERE
    });
    assert!(silent);
    habit.meet_among_others(&said, true);
    assert_ne!(habit.peer.load(Relaxed), ELSEWHERE);
}

#[test]
fn the_first_looks_read_no_clock() {
    // The peer was met on another core. So many looks that their pauses are worth 72.
    for (rest, free) in [(6, 12), (24, 3), (1, 72)] {
        let habit = habit_of(MIDDLE);
        let mut patience = habit.begin(Wait::Adaptive, None).resting(rest);
        for _ in 0..free {
            assert!(patience.look_again());
            assert!(patience.stage == Stage::Free && patience.started.is_none());
        }
        assert!(patience.look_again());
        assert!(patience.stage == Stage::Spell && patience.started.is_some());
    }
}

#[test]
fn two_who_take_turns_on_one_core_give_way_and_read_the_clock_at_every_sixteenth_wait() {
    let together = Lesson {
        place: Place::Together,
        ..MIDDLE
    };
    // What was learned: whether the first look in vain gives way, and whether it reads the clock.
    for (lesson, gives_way, reads) in [
        (
            Lesson {
                turn: 1,
                ..together
            },
            true,
            false,
        ),
        (
            Lesson {
                turn: 15,
                ..together
            },
            true,
            false,
        ),
        (
            Lesson {
                turn: 16,
                ..together
            },
            true,
            true,
        ),
        // One sleeps, which may take it to another core.
        (
            Lesson {
                turn: 0,
                ..together
            },
            false,
            false,
        ),
        // Strangers were met lately.
        (
            Lesson {
                turn: 1,
                exponent: 1,
                ..together
            },
            true,
            true,
        ),
        (
            Lesson {
                turn: 1,
                skips: 1,
                ..together
            },
            false,
            false,
        ),
        (
            Lesson {
                turn: 1,
                level: 0,
                ..together
            },
            false,
            false,
        ),
    ] {
        let habit = habit_of(lesson);
        let mut patience = habit.begin(Wait::Adaptive, None);
        assert_eq!(patience.look_again(), gives_way);
        assert_eq!(patience.stage == Stage::Offered, gives_way);
        assert_eq!(patience.started.is_some(), reads);
        assert_eq!(patience.offers, u32::from(reads));
    }
    // In vain: from the second time on the clock is read, and each offer counts.
    let habit = habit_of(Lesson {
        turn: 1,
        ..together
    });
    let mut patience = habit.begin(Wait::Adaptive, None);
    assert!(patience.look_again() && patience.look_again());
    assert!(patience.started.is_some());
    assert_eq!(patience.offers, 1);
}

#[test]
fn a_spell_ends_with_an_offer_of_the_core_and_the_next_is_twice_as_long() {
    let hour = Duration::from_secs(3600);
    let now = Instant::now();
    let in_spell = |habit| Patience {
        started: Some(now),
        read: Some(now),
        limit: 2 * hour,
        next_spell: hour,
        ..waiting(habit, Stage::Spell, Place::Apart)
    };
    let habit = habit_of(MIDDLE);
    let mut patience = in_spell(&habit);
    assert!(patience.look_again() && patience.stage == Stage::Spell);
    assert_eq!((patience.offers, patience.next_spell), (0, hour));

    // An offer may go to a stranger, from which the habit learns: so each begins anew.
    let moment = Duration::from_nanos(1);
    patience.next_spell = moment;
    assert!(patience.look_again() && patience.stage == Stage::Offered);
    assert_eq!((patience.offers, patience.next_spell), (1, 2 * moment));
    assert_ne!(patience.read, Some(now));

    // Where others want the core, spells stay short.
    let habit = habit_of(MIDDLE);
    let mut patience = Patience {
        contended: true,
        next_spell: moment,
        ..in_spell(&habit)
    };
    assert!(patience.look_again());
    assert_eq!((patience.offers, patience.next_spell), (1, moment));

    // Where offers went to a stranger, one is left out instead.
    let habit = habit_of(Lesson { skips: 7, ..MIDDLE });
    let mut patience = Patience {
        next_spell: moment,
        ..in_spell(&habit)
    };
    assert!(patience.look_again() && patience.stage == Stage::Spell);
    assert_eq!(patience.offers, 0);
    learned(&habit, Lesson { skips: 6, ..MIDDLE });

    // The budget is spent.
    let mut patience = Patience {
        next_spell: moment,
        limit: moment,
        ..in_spell(&habit)
    };
    assert!(!patience.look_again());
    assert_eq!(habit.lesson().level, MIDDLE.level - 1);
}

#[test]
fn after_an_offer_in_vain_who_shares_the_core_offers_again_and_others_look() {
    let hour = Duration::from_secs(3600);
    let now = Instant::now();
    for (place, offers) in [(Place::Together, 1), (Place::Apart, 0)] {
        let habit = habit_of(MIDDLE);
        let offered = Patience {
            started: Some(now),
            read: Some(now),
            limit: hour,
            ..waiting(&habit, Stage::Offered, place)
        };
        let mut patience = offered;
        assert!(patience.look_again());
        assert_eq!(patience.offers, offers);
        assert_eq!(patience.stage == Stage::Spell, place == Place::Apart);
        let mut patience = Patience {
            limit: Duration::ZERO,
            stage: Stage::Offered,
            ..patience
        };
        patience.contended = false;
        assert!(!patience.look_again());
    }
}

#[test]
fn staying_awake_looks_at_the_clock_of_a_deadline_now_and_then() {
    let habit = habit_of(MIDDLE);
    let past = Some(Instant::now());
    let looks = |mut patience: Patience<'_>| (1..).find(|_| !patience.look_again());
    assert_eq!(looks(habit.begin(Wait::Spin, past)), Some(16));
    assert_eq!(looks(habit.begin(Wait::Yield, past)), Some(1));
    // At a look at which the core is offered, too.
    let patience = Patience {
        looks: 511,
        ..habit.begin(Wait::Spin, past)
    };
    assert_eq!(looks(patience), Some(1));
    for wait in [Wait::Spin, Wait::Yield] {
        let mut patience = habit.begin(wait, Some(Instant::now() + Duration::from_secs(3600)));
        assert!((0..1000).all(|_| patience.look_again()));
    }
}

/// Miri says of no thread where it runs.
#[cfg(not(miri))]
#[test]
fn a_thread_that_has_said_last_where_it_is_does_not_take_itself_for_the_peer() {
    let is_near = |has_said_last| {
        let habit = Habit::new();
        if has_said_last {
            habit.meet_by_turns();
        } else {
            habit.meet();
        }
        let mut patience = habit.begin(Wait::Adaptive, None);
        patience.look_again();
        patience.place == Place::Together
    };
    // By a thread that waits elsewhere it is told of a peer; but it may be moved before it looks.
    assert!((0..1_000).any(|_| is_near(false)));
    assert!((0..100).all(|_| !is_near(true)));
}
