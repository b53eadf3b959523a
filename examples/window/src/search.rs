//! The worker's actor: searches, and posts to the window what it finds.

use tamtam::{Actor, Address, Context, Reply};

use crate::primes::Sieve;

/// What the worker can be told.
pub(crate) enum Job {
    /// Search up to this number. Ends a search that is under way.
    Search {
        up_to: u64,
    },
    Stop,
    /// The worker to itself: look at the next segment.
    GoOn,
    /// How many messages were posted to the window?
    Posted(Reply<u64>),
}

/// What the worker posts to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Began {
        up_to: u64,
    },
    /// The next prime is farther away than any before.
    Gap {
        after: u64,
        length: u64,
    },
    Progress {
        searched: u64,
        primes: u64,
    },
    Ended {
        complete: bool,
    },
}

pub(crate) struct Search {
    window: Address<News>,
    under_way: Option<UnderWay>,
    /// A `GoOn` is in the mailbox: one is enough, whatever is stopped and begun meanwhile.
    goes_on: bool,
    posted: u64,
}

struct UnderWay {
    sieve: Sieve,
    primes: u64,
    /// The last prime, and the longest way to the next one so far.
    before: Option<u64>,
    longest: u64,
}

impl Search {
    pub(crate) fn new(window: Address<News>) -> Self {
        Search {
            window,
            under_way: None,
            goes_on: false,
            posted: 0,
        }
    }

    fn post(&mut self, news: News) {
        match self.window.tell(news) {
            Ok(()) => self.posted += 1,
            // Nobody looks any more.
            Err(_) => self.under_way = None,
        }
    }

    fn end(&mut self, complete: bool) {
        if self.under_way.take().is_some() {
            self.post(News::Ended { complete });
        }
    }

    /// One segment: some hundred microseconds, in which the worker hears nothing.
    fn look_at_next_segment(&mut self) {
        let Some(search) = &mut self.under_way else {
            return;
        };
        let Some((primes, searched)) = search.sieve.next_segment() else {
            return self.end(true);
        };
        let mut gaps = Vec::new();
        for prime in primes {
            if let Some(after) = search.before.replace(prime)
                && prime - after > search.longest
            {
                let length = prime - after;
                search.longest = length;
                gaps.push(News::Gap { after, length });
            }
            search.primes += 1;
        }
        let primes = search.primes;
        for gap in gaps {
            self.post(gap);
        }
        self.post(News::Progress { searched, primes });
    }
}

impl Actor for Search {
    type Message = Job;

    fn handle(&mut self, job: Job, cx: &mut Context<Self>) {
        match job {
            Job::Search { up_to } => {
                self.end(false);
                self.under_way = Some(UnderWay {
                    sieve: Sieve::new(up_to),
                    primes: 0,
                    before: None,
                    longest: 0,
                });
                self.post(News::Began { up_to });
            }
            Job::Stop => self.end(false),
            Job::GoOn => {
                self.goes_on = false;
                self.look_at_next_segment();
            }
            Job::Posted(reply) => reply.send(self.posted),
        }
        // The next segment is a message of its own, behind what has come meanwhile: so a search can be stopped.
        if self.under_way.is_some() && !self.goes_on {
            self.goes_on = cx.address().tell(Job::GoOn).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::mpsc;

    use tamtam::{Frame, Stepper};

    use super::*;

    /// A searcher, and what it has posted.
    fn searcher(stepper: &Stepper) -> (Address<Job>, mpsc::Receiver<News>) {
        let (sender, posted) = mpsc::channel();
        let window = stepper.spawn_fn(move |news, _| sender.send(news).unwrap());
        (stepper.spawn(Search::new(window)), posted)
    }

    #[test]
    fn a_search_reports_all_gaps_in_order() {
        let stepper = Stepper::new();
        let (search, posted) = searcher(&stepper);
        search.tell(Job::Search { up_to: 100_000 }).unwrap();
        stepper.run();
        let posted: Vec<News> = posted.try_iter().collect();
        assert_eq!(posted.first(), Some(&News::Began { up_to: 100_000 }));
        assert_eq!(posted.last(), Some(&News::Ended { complete: true }));
        let progress = News::Progress {
            searched: 100_000,
            primes: 9_592,
        };
        assert!(posted.contains(&progress));
        let gaps: Vec<u64> = posted
            .iter()
            .filter_map(|news| match news {
                News::Gap { length, .. } => Some(*length),
                _ => None,
            })
            .collect();
        assert_eq!(gaps, [1, 2, 4, 6, 8, 14, 18, 20, 22, 34, 36, 44, 52, 72]);
    }

    #[test]
    fn a_stopped_search_is_over_and_a_new_one_begins_afresh() {
        let stepper = Stepper::new();
        let (search, posted) = searcher(&stepper);
        search
            .tell(Job::Search {
                up_to: u64::from(u32::MAX),
            })
            .unwrap();
        for _ in 0..10 {
            assert!(stepper.step());
        }
        search.tell(Job::Stop).unwrap();
        search.tell(Job::Search { up_to: 10 }).unwrap();
        search.tell(Job::Search { up_to: 20 }).unwrap();
        stepper.run();
        let posted: Vec<News> = posted.try_iter().collect();
        let ends: Vec<&News> = posted
            .iter()
            .filter(|news| matches!(news, News::Ended { .. }))
            .collect();
        assert_eq!(
            ends,
            [
                &News::Ended { complete: false },
                &News::Ended { complete: false },
                &News::Ended { complete: true },
            ]
        );
        let progress = News::Progress {
            searched: 20,
            primes: 8,
        };
        assert_eq!(posted[posted.len() - 2], progress);
        assert_eq!(stepper.ask(&search, Job::Posted), Ok(posted.len() as u64));
    }

    #[test]
    fn a_search_ends_when_the_window_is_gone() {
        let mut frame = Frame::new();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&seen);
        let window = frame.spawn_fn(move |news: News, _| heard.borrow_mut().push(news));
        let stepper = Stepper::new();
        let search = stepper.spawn(Search::new(window));
        search
            .tell(Job::Search {
                up_to: u64::from(u32::MAX),
            })
            .unwrap();
        assert!(stepper.step());
        frame.pump(tamtam::actor::Budget::unlimited());
        assert_eq!(seen.borrow().len(), 1);
        drop(frame);
        // Otherwise this would take a minute.
        stepper.run();
        assert_eq!(stepper.ask(&search, Job::Posted), Ok(1));
    }
}
