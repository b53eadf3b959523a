//! What a run without arguments measures.

/// What a run without arguments measures: a variant, what stands in for it where only one core is to be had, and its
/// contenders: ours beside what all programs have, the standard library's. Five rounds of it stay under a minute.
pub(in crate::lab) const FIRST_LOOK: &[FirstLook] = &[
    FirstLook {
        experiment: "handover",
        variant: "1000/2cores",
        on_one_core: "1000/1core",
        contenders: &[
            "slot",
            "channel",
            "std::sync::mpsc",
            "std::sync::mpsc-unbounded",
            "mutex-condvar",
            "std::thread::park",
            "crossbeam-channel",
            "kanal",
        ],
    },
    FirstLook {
        experiment: "post",
        variant: "5000/2cores/16B-warm",
        on_one_core: "10000000/free/fanin-16B",
        contenders: &[
            "channel",
            "std::sync::mpsc",
            "mutex-condvar",
            "crossbeam-channel",
        ],
    },
    FirstLook {
        experiment: "post",
        variant: "10000000/2cores/stream-16B",
        on_one_core: "10000000/free/fanin-16B",
        contenders: &[
            "channel",
            "std::sync::mpsc",
            "mutex-condvar",
            "crossbeam-channel",
        ],
    },
    FirstLook {
        experiment: "property",
        variant: "10000/2cores/get-writer",
        on_one_core: "10000/1core/get",
        contenders: &["property", "std::sync::RwLock", "std::sync::Mutex"],
    },
    FirstLook {
        experiment: "latch",
        variant: "4875250/2cores",
        on_one_core: "4875250/1core",
        contenders: &["latch", "shared-atomic"],
    },
    FirstLook {
        experiment: "ring",
        variant: "4875250/2cores/last",
        on_one_core: "4875250/1core/last",
        contenders: &["pool"],
    },
    FirstLook {
        experiment: "ask",
        variant: "200000/2cores/thread",
        on_one_core: "200000/1core/thread",
        contenders: &["pool", "std::sync::mpsc"],
    },
    FirstLook {
        experiment: "rows",
        variant: "1000/random",
        on_one_core: "1000/random",
        contenders: FIRST_FORMS,
    },
    FirstLook {
        experiment: "rows",
        variant: "1000/palette",
        on_one_core: "1000/palette",
        contenders: FIRST_FORMS,
    },
];

/// The forms of a first look: ours, the article's, and what most servers answer; and what comes before any form.
const FIRST_FORMS: &[&str] = &[
    "packed",
    "text-by-hand",
    "text-bare+gzip",
    "json-objects",
    "sqlite",
];

/// One line of [`FIRST_LOOK`].
#[derive(Debug)]
pub(in crate::lab) struct FirstLook {
    /// The experiment.
    pub experiment: &'static str,
    /// The variant where two cores are to be had.
    pub variant: &'static str,
    /// The variant where there is only one.
    pub on_one_core: &'static str,
    /// The contenders; those that are not to be had are left out.
    pub contenders: &'static [&'static str],
}
