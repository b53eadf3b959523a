//! Why a property's readers can do without barriers: the protocol of `src/property/README.md` on a
//! machine with store buffers.
//!
//! Between a reader's store and its next load stands nothing but a compiler fence, and the writer makes
//! up for it with a barrier on behalf of all threads. loom knows no such barrier. So here is a machine
//! that does: each thread has a queue of stores that only it can see (x86's total store order: Sewell
//! and others, "x86-TSO", 2010), which drains at any time; and a *barrier for all* drains those of the
//! other threads one by one, each at any time before it is over. Every interleaving is tried.
//!
//! The machine runs the protocol's steps, not its code. Each test with a flaw leaves out one step that
//! the argument needs, and shows that the machine finds out.

use std::collections::HashSet;

const READERS: usize = 2;
/// The readers, the writer, and the one who calms the property down.
const THREADS: usize = READERS + 2;
const WRITER: usize = READERS;
const CALMER: usize = READERS + 1;

// Where things are in memory. A value is a number from 1 on; 0 is null.
const CURRENT: usize = 0;
const MODE: usize = 1;
const HELD: usize = 2;
const PAID: usize = HELD + READERS;
const PLACES: usize = PAID + READERS;

const QUIET: u8 = 0;
const BUSY: u8 = 1;

/// Sets that the writer makes at most.
const SETS: usize = 3;

/// What is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flaw {
    Nothing,
    /// A reader trusts the mode that it read before it wrote its slot.
    ModeReadTooEarly,
    /// A busy reader has no barrier after writing its slot.
    BusyReaderWithoutBarrier,
    /// The writer that turns busy relies on barriers that the readers begin to have only now.
    TurningBusyWithoutBarrier,
    /// A quiet writer has no barrier between replacing and looking.
    QuietWriterWithoutBarrier,
    /// A quiet writer has no barrier between paying and looking again.
    PayingWithoutBarrier,
    /// A reader does not look whether its value is current still.
    NoSecondLook,
    /// The writer does not look whether those that it paid are still there.
    NothingTakenBack,
    /// A reader that was too late does not look for its share.
    RetreatWithoutShare,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Stores {
    queue: [(u8, u8); 8],
    length: u8,
}

impl Stores {
    fn push(&mut self, place: usize, value: u8) {
        self.queue[self.length as usize] = (place as u8, value);
        self.length += 1;
    }

    /// The value that the owner sees, if it has stored one.
    fn own(&self, place: usize) -> Option<u8> {
        self.queue[..self.length as usize]
            .iter()
            .rev()
            .find(|(at, _)| *at as usize == place)
            .map(|&(_, value)| value)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    // A reader.
    Guess,
    FirstLook,
    WriteSlot,
    ReadMode,
    SecondLook,
    Use,
    ClearSlot,
    ReadModeAgain,
    LookForShare,
    // The writer.
    Lock,
    ChooseMode,
    Replace,
    Look,
    Pay,
    LookAgain,
    Unlock,
    DropOwn,
    // Who calms down.
    TryLock,
    BecomeQuiet,
    Release,
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Thread {
    next: Step,
    /// Reads or sets still to come, this one included.
    left: u8,
    /// A reader: what it saw first, and then holds. The writer: what it replaced.
    value: u8,
    busy: bool,
    /// A reader that was too late.
    retreats: bool,
    /// The writer: which slot it looks at.
    slot: u8,
    /// Threads that its barrier for all has not reached yet.
    barrier: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    memory: [u8; PLACES],
    stores: [Stores; THREADS],
    threads: [Thread; THREADS],
    /// The shares of each value.
    shares: [i8; SETS + 2],
    locked: bool,
}

/// One program to try: reads of each reader, sets with the pace of each, and whether somebody calms
/// the property down meanwhile.
#[derive(Clone, Copy)]
struct Program {
    reads: [u8; READERS],
    /// For each set, whether it comes a short time after the one before.
    often: &'static [bool],
    calms: bool,
    flaw: Flaw,
}

impl State {
    fn new(program: &Program) -> Self {
        let thread = |next, left: u8| Thread {
            next: if left == 0 { Step::Done } else { next },
            left,
            value: 0,
            busy: false,
            retreats: false,
            slot: 0,
            barrier: 0,
        };
        let mut memory = [0; PLACES];
        memory[CURRENT] = 1;
        memory[MODE] = QUIET;
        let mut shares = [0; SETS + 2];
        shares[1] = 1;
        State {
            memory,
            stores: [Stores::default(); THREADS],
            threads: [
                thread(Step::Guess, program.reads[0]),
                thread(Step::Guess, program.reads[1]),
                thread(Step::Lock, program.often.len() as u8),
                thread(Step::TryLock, u8::from(program.calms)),
            ],
            shares,
            locked: false,
        }
    }

    fn load(&self, thread: usize, place: usize) -> u8 {
        self.stores[thread].own(place).unwrap_or(self.memory[place])
    }

    fn store(&mut self, thread: usize, place: usize, value: u8) {
        self.stores[thread].push(place, value);
    }

    fn drain_one(&mut self, thread: usize) {
        let stores = &mut self.stores[thread];
        let (place, value) = stores.queue[0];
        stores.queue.copy_within(1.., 0);
        stores.queue[7] = (0, 0);
        stores.length -= 1;
        self.memory[place as usize] = value;
    }

    /// A barrier of the thread's own, as locked instructions have.
    fn drain(&mut self, thread: usize) {
        while self.stores[thread].length > 0 {
            self.drain_one(thread);
        }
    }

    fn begin_barrier_for_all(&mut self, thread: usize) {
        self.drain(thread);
        self.threads[thread].barrier = ((1 << THREADS) - 1) & !(1 << thread);
    }

    /// A compare-and-swap to null.
    fn take(&mut self, thread: usize, place: usize, expected: u8) -> bool {
        self.drain(thread);
        let found = self.memory[place] == expected;
        if found {
            self.memory[place] = 0;
        }
        found
    }

    /// All states that may follow.
    fn successors(&self, program: &Program, found: &mut Vec<State>) {
        for thread in 0..THREADS {
            if self.stores[thread].length > 0 {
                let mut next = *self;
                next.drain_one(thread);
                found.push(next);
            }
            let pending = self.threads[thread].barrier;
            for other in (0..THREADS).filter(|other| pending & (1 << other) != 0) {
                let mut next = *self;
                next.drain(other);
                next.threads[thread].barrier &= !(1 << other);
                found.push(next);
            }
            if pending == 0 && self.threads[thread].next != Step::Done {
                let mut next = *self;
                if next.step(thread, program) {
                    found.push(next);
                }
            }
        }
    }

    /// The thread's next step; `false` if it has to wait.
    fn step(&mut self, me: usize, program: &Program) -> bool {
        let mut own = self.threads[me];
        match own.next {
            Step::Guess => {
                own.busy = self.load(me, MODE) == BUSY;
                own.retreats = false;
                own.next = Step::FirstLook;
            }
            Step::FirstLook => {
                own.value = self.load(me, CURRENT);
                own.next = Step::WriteSlot;
            }
            Step::WriteSlot | Step::ClearSlot => {
                let enters = own.next == Step::WriteSlot;
                self.store(me, HELD + me, if enters { own.value } else { 0 });
                if own.busy && program.flaw != Flaw::BusyReaderWithoutBarrier {
                    self.drain(me);
                }
                own.next = match (enters, own.busy || program.flaw == Flaw::ModeReadTooEarly) {
                    (true, true) => Step::SecondLook,
                    (true, false) => Step::ReadMode,
                    (false, true) => Step::LookForShare,
                    (false, false) => Step::ReadModeAgain,
                };
            }
            Step::ReadMode | Step::ReadModeAgain => {
                own.busy = self.load(me, MODE) == BUSY;
                if own.busy && program.flaw != Flaw::BusyReaderWithoutBarrier {
                    self.drain(me);
                }
                own.next = match own.next {
                    Step::ReadMode => Step::SecondLook,
                    _ => Step::LookForShare,
                };
            }
            Step::SecondLook => {
                own.retreats =
                    program.flaw != Flaw::NoSecondLook && self.load(me, CURRENT) != own.value;
                own.next = if own.retreats {
                    Step::ClearSlot
                } else {
                    Step::Use
                };
            }
            Step::Use => {
                // Checked in every state in which a reader is here.
                own.next = Step::ClearSlot;
            }
            Step::LookForShare => {
                let skips = own.retreats && program.flaw == Flaw::RetreatWithoutShare;
                if !skips
                    && self.load(me, PAID + me) == own.value
                    && self.take(me, PAID + me, own.value)
                {
                    self.shares[own.value as usize] -= 1;
                }
                if !own.retreats {
                    own.left -= 1;
                }
                own.value = 0;
                own.next = if own.left == 0 {
                    Step::Done
                } else {
                    Step::Guess
                };
            }

            Step::Lock => {
                if self.locked {
                    return false;
                }
                self.drain(me);
                self.locked = true;
                own.next = Step::ChooseMode;
            }
            Step::ChooseMode => {
                let often = program.often[program.often.len() - own.left as usize];
                let was = self.load(me, MODE);
                own.busy = often;
                own.next = Step::Replace;
                if often && was == QUIET {
                    self.store(me, MODE, BUSY);
                    if program.flaw == Flaw::TurningBusyWithoutBarrier {
                        self.drain(me);
                    } else {
                        self.threads[me] = own;
                        self.begin_barrier_for_all(me);
                        return true;
                    }
                } else if !often && was == BUSY {
                    self.store(me, MODE, QUIET);
                }
            }
            Step::Replace => {
                self.drain(me);
                own.value = self.memory[CURRENT];
                self.memory[CURRENT] += 1;
                self.shares[own.value as usize + 1] = 1;
                own.slot = 0;
                own.next = Step::Look;
                if !own.busy && program.flaw != Flaw::QuietWriterWithoutBarrier {
                    self.threads[me] = own;
                    self.begin_barrier_for_all(me);
                    return true;
                }
            }
            Step::Look => {
                if self.load(me, HELD + own.slot as usize) == own.value {
                    own.slot = 0;
                    own.next = Step::Pay;
                } else {
                    own.slot += 1;
                    if own.slot as usize == READERS {
                        own.next = Step::Unlock;
                    }
                }
            }
            Step::Pay => {
                let slot = own.slot as usize;
                if self.load(me, HELD + slot) == own.value {
                    assert_eq!(self.load(me, PAID + slot), 0, "paid twice");
                    self.shares[own.value as usize] += 1;
                    self.store(me, PAID + slot, own.value);
                    self.drain(me);
                }
                own.slot += 1;
                if own.slot as usize == READERS {
                    own.slot = 0;
                    own.next = Step::LookAgain;
                    if !own.busy && program.flaw != Flaw::PayingWithoutBarrier {
                        self.threads[me] = own;
                        self.begin_barrier_for_all(me);
                        return true;
                    }
                }
            }
            Step::LookAgain => {
                let slot = own.slot as usize;
                if program.flaw != Flaw::NothingTakenBack
                    && self.load(me, PAID + slot) == own.value
                    && self.load(me, HELD + slot) != own.value
                    && self.take(me, PAID + slot, own.value)
                {
                    self.shares[own.value as usize] -= 1;
                }
                own.slot += 1;
                if own.slot as usize == READERS {
                    own.next = Step::Unlock;
                }
            }
            Step::Unlock => {
                self.drain(me);
                self.locked = false;
                own.next = Step::DropOwn;
            }
            Step::DropOwn => {
                self.shares[own.value as usize] -= 1;
                own.left -= 1;
                own.next = if own.left == 0 {
                    Step::Done
                } else {
                    Step::Lock
                };
            }

            Step::TryLock => {
                // Waiting for it covers trying it at every moment.
                if self.locked {
                    return false;
                }
                self.locked = true;
                own.next = Step::BecomeQuiet;
            }
            Step::BecomeQuiet => {
                self.store(me, MODE, QUIET);
                own.next = Step::Release;
            }
            Step::Release => {
                self.drain(me);
                self.locked = false;
                own.next = Step::Done;
            }
            Step::Done => unreachable!("asked only of threads that go on"),
        }
        self.threads[me] = own;
        true
    }

    /// What must hold in every state.
    fn check(&self) -> Result<(), &'static str> {
        for reader in &self.threads[..READERS] {
            if reader.next == Step::Use && self.shares[reader.value as usize] <= 0 {
                return Err("a reader holds a value that was dropped");
            }
        }
        if self.shares.iter().any(|&shares| shares < 0) {
            return Err("a share was dropped twice");
        }
        Ok(())
    }

    /// What must hold in the end.
    fn check_end(&self) -> Result<(), &'static str> {
        if self.threads.iter().any(|thread| thread.next != Step::Done) {
            return Err("the threads wait for each other");
        }
        if self.memory[PAID..].iter().any(|&paid| paid != 0) {
            return Err("a share was left behind");
        }
        let current = self.memory[CURRENT] as usize;
        if self.shares[1..current].iter().any(|&shares| shares != 0) {
            return Err("a replaced value was not dropped");
        }
        if self.shares[current] != 1 {
            return Err("the current value is not there");
        }
        Ok(())
    }
}

/// Tries every interleaving; the number of states, or what went wrong.
fn explore(program: &Program) -> Result<usize, &'static str> {
    let first = State::new(program);
    let mut known = HashSet::from([first]);
    let mut open = vec![first];
    let mut next = Vec::new();
    while let Some(state) = open.pop() {
        state.check()?;
        state.successors(program, &mut next);
        if next.is_empty() {
            state.check_end()?;
        }
        open.extend(next.drain(..).filter(|state| known.insert(*state)));
    }
    Ok(known.len())
}

/// Programs of one or two readers, with sets at each pace, and with and without somebody who calms
/// down. Two readers have a thousand times the states of one: all of them only in a soak.
fn programs(flaw: Flaw) -> impl Iterator<Item = Program> {
    const PACES: [&[bool]; 8] = [
        &[false],
        &[true],
        &[false, false],
        &[false, true],
        &[true, false],
        &[true, true],
        &[false, true, false],
        &[true, true, true],
    ];
    let all = std::env::var_os("TAMTAM_SOAK_SECONDS").is_some();
    let alone = PACES
        .into_iter()
        .flat_map(|often| [false, true].map(|calms| ([2, 0], often, calms)));
    let both = PACES
        .into_iter()
        .filter(move |&often| all || often == [false] || often == [true, true])
        .flat_map(move |often| {
            let calms: &[bool] = if all { &[false, true] } else { &[false] };
            calms.iter().map(move |&calms| ([1, 1], often, calms))
        });
    alone.chain(both).map(move |(reads, often, calms)| Program {
        reads,
        often,
        calms,
        flaw,
    })
}

#[test]
fn readers_without_barriers_hold_what_they_read() {
    let mut states = 0;
    for program in programs(Flaw::Nothing) {
        states += explore(&program).unwrap_or_else(|error| {
            panic!(
                "{error}: reads {:?}, sets {:?}, calms {}",
                program.reads, program.often, program.calms
            )
        });
    }
    println!("{states} states");
    assert!(states > 100_000, "the machine has hardly moved: {states}");
}

#[test]
fn each_step_that_is_left_out_is_found() {
    for flaw in [
        Flaw::ModeReadTooEarly,
        Flaw::BusyReaderWithoutBarrier,
        Flaw::TurningBusyWithoutBarrier,
        Flaw::QuietWriterWithoutBarrier,
        Flaw::PayingWithoutBarrier,
        Flaw::NoSecondLook,
        Flaw::NothingTakenBack,
        Flaw::RetreatWithoutShare,
    ] {
        // The first program that shows it is enough.
        let found = programs(flaw).find_map(|program| explore(&program).err());
        println!("{flaw:?}: {found:?}");
        assert!(found.is_some(), "{flaw:?} goes unnoticed");
    }
}

/// The threads of the machine are who this file says they are.
#[test]
fn the_machine_has_its_threads() {
    let program = Program {
        reads: [1, 1],
        often: &[false],
        calms: true,
        flaw: Flaw::Nothing,
    };
    let state = State::new(&program);
    assert_eq!(state.threads[WRITER].next, Step::Lock);
    assert_eq!(state.threads[CALMER].next, Step::TryLock);
}
