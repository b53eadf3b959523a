//! What is asked, and what is answered.
//!
//! A request is a line of words: `hello`, or `look 1 most=40 by=queued`, where 1 is the version of the protocol. An answer is
//! a line of JSON, whose member `tamtam` is that version.

use std::sync::Arc;

use super::super::ledger::Ledger;
use super::super::record::Record;
use super::super::snapshot::{self, ActorSnapshot, HomeSnapshot};
use super::super::watched::{self, WatchedHome};
use super::super::{Order, clock, json::Json};
use super::{below, usage};
use crate::id::ActorId;

/// The version of what is asked and answered.
const VERSION: u32 = 1;
/// At most so many actors are shown.
const MOST_ACTORS: usize = 1_000;
/// Names are shown up to so many letters.
const LONGEST_NAME: usize = 400;

/// What one who asks again and again was told last.
#[derive(Default)]
pub(super) struct Before {
    at: u64,
    /// In the order of their numbers.
    actors: Vec<Done>,
}

/// What an actor had done at a time.
#[derive(Clone, Copy, Default)]
struct Done {
    id: u64,
    handled: u64,
    turn_nanos: u64,
}

impl Before {
    fn of(&self, id: ActorId) -> Done {
        let place = self.actors.binary_search_by_key(&id.get(), |done| done.id);
        place.map(|place| self.actors[place]).unwrap_or_default()
    }
}

/// What actors can be sorted by.
#[derive(Clone, Copy)]
enum By {
    /// By what they have now, or had ever.
    Now(Order),
    /// By what they have handled since the answer before.
    Handled,
    /// By how long they have worked since then.
    Time,
}

struct ServedLook {
    most: usize,
    by: By,
    /// Only actors are shown in whose name or type this is, in small letters.
    named: Option<String>,
}

impl ServedLook {
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, &'static str> {
        let mut look = ServedLook {
            most: 40,
            by: By::Now(Order::Queued),
            named: None,
        };
        for word in words {
            match word.split_once('=') {
                Some(("most", most)) => {
                    let most: usize = most.parse().map_err(|_| "`most` is not a number")?;
                    look.most = most.min(MOST_ACTORS);
                }
                Some(("by", by)) => {
                    look.by = match by {
                        "queued" => By::Now(Order::Queued),
                        "handled" => By::Handled,
                        "time" => By::Time,
                        "longest" => By::Now(Order::LongestTurn),
                        "lost" => By::Now(Order::Lost),
                        "restarts" => By::Now(Order::Restarts),
                        "turn" => By::Now(Order::AtWork),
                        _ => {
                            return Err(
                                "`by` is none of queued, handled, time, longest, lost, restarts, turn",
                            );
                        }
                    }
                }
                Some(("named", text)) => look.named = Some(decode(text).to_lowercase()),
                // Of a later version, which can do without.
                _ => {}
            }
        }
        Ok(look)
    }
}

impl ServedLook {
    fn shows(&self, record: &Record) -> bool {
        let Some(named) = &self.named else {
            return true;
        };
        let has = |text: &str| text.to_lowercase().contains(named);
        has(record.type_name()) || record.name().is_some_and(|name| has(name))
    }
}

/// A word in which `%20` stands for a space, and so on.
fn decode(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|two| str::from_utf8(two).ok());
        let byte = digits
            .filter(|_| *first == b'%')
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = &others[if byte.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Answers a request.
pub(super) fn answer(request: &str, before: &mut Before) -> String {
    let mut words = request.split_ascii_whitespace();
    let read = match (words.next(), words.next()) {
        (Some("hello"), _) => Ok(None),
        (Some("look"), Some(version)) if version == VERSION.to_string() => {
            ServedLook::read(words).map(Some)
        }
        (Some("look"), _) => Err("this program speaks another version of the protocol"),
        _ => Err("a request is `hello` or `look`"),
    };
    let mut json = Json::default();
    json.object(|json| {
        json.plain("tamtam", VERSION);
        match read {
            Err(error) => json.text("error", error),
            Ok(look) => {
                introduce(json);
                if let Some(look) = look {
                    usage::show(json, std::process::id());
                    show(json, &look, before);
                    below::show(json, request);
                }
            }
        }
    });
    json.finish()
}

/// An answer without a question.
pub(super) fn refusal(why: &str) -> String {
    let mut json = Json::default();
    json.object(|json| {
        json.plain("tamtam", VERSION);
        json.text("error", why);
    });
    json.finish()
}

fn introduce(json: &mut Json) {
    let program = std::env::current_exe().ok();
    let name = program.as_ref().and_then(|program| program.file_name());
    let name = name.map_or("?".into(), |name| name.to_string_lossy());
    json.text("program", short(&name));
    json.plain("pid", std::process::id());
    json.text("version", env!("CARGO_PKG_VERSION"));
}

fn show(json: &mut Json, look: &ServedLook, before: &mut Before) {
    let now = clock::now();
    let homes = watched::all();
    let is_first = before.at == 0;
    let mut done = Vec::with_capacity(before.actors.len());
    let ledgers: Vec<&Arc<Ledger>> = homes.iter().filter_map(|(_, home)| home.ledger()).collect();
    let mut matching = 0_usize;
    let actors = snapshot::first(ledgers.into_iter(), look.most, |record, figures| {
        let id = record.id();
        let last = before.of(id);
        done.push(Done {
            id: id.get(),
            handled: figures.handled,
            turn_nanos: figures.turn_nanos,
        });
        if !look.shows(record) {
            return None;
        }
        matching += 1;
        Some(match look.by {
            By::Now(order) => order.of(figures),
            By::Handled => figures.handled.saturating_sub(last.handled),
            By::Time => figures.turn_nanos.saturating_sub(last.turn_nanos),
        })
    });
    json.plain("now_ns", now);
    // What was done since the answer before can be said from the second one on.
    let since = if is_first { 0 } else { now - before.at };
    json.plain("since_ns", since);
    json.list("homes", |json| {
        for (number, home) in &homes {
            show_home(json, *number, &**home);
        }
    });
    json.plain("actors_observed", done.len());
    if look.named.is_some() {
        json.plain("actors_matching", matching);
    }
    json.list("actors", |json| {
        for actor in &actors {
            show_actor(json, actor, (!is_first).then(|| before.of(actor.id)));
        }
    });
    done.sort_unstable_by_key(|done| done.id);
    *before = Before {
        at: now,
        actors: done,
    };
}

fn show_home(json: &mut Json, number: u64, home: &dyn WatchedHome) {
    // A member that is new here comes as an error of the compiler.
    let HomeSnapshot {
        kind,
        name,
        threads,
        stand_ins,
        blocking_threads,
        left_behind,
        idle_threads,
        due,
        turns,
        steals,
        sleeps,
        entered,
        blocking_asks,
        actors,
    } = home.look();
    json.object(|json| {
        json.plain("number", number);
        json.text("kind", &kind.to_string());
        json.text("name", short(&name));
        json.plain("threads", threads);
        json.plain("stand_ins", stand_ins);
        json.plain("blocking_threads", blocking_threads);
        json.plain("left_behind", left_behind);
        json.plain("idle_threads", idle_threads);
        json.plain("due", due);
        json.plain("turns", turns);
        json.plain("steals", steals);
        json.plain("sleeps", sleeps);
        json.plain("entered", entered);
        json.plain("blocking_asks", blocking_asks);
        if let Some(totals) = actors {
            json.member("actors", |json| {
                json.plain("living", totals.living);
                json.plain("born", totals.born);
                json.plain("handled", totals.handled);
                json.plain("queued", totals.queued);
                json.plain("lost", totals.lost);
                json.plain("restarts", totals.restarts);
                json.plain("turn_ns", totals.turn_time.as_nanos());
                json.plain("long_turns", totals.long_turns);
                json.plain("in_long_turn", totals.in_long_turn);
            });
        }
    });
}

fn show_actor(json: &mut Json, actor: &ActorSnapshot, before: Option<Done>) {
    let turn_nanos = clock::nanos(actor.turn_time);
    json.object(|json| {
        json.plain("id", actor.id.get());
        if let Some(name) = &actor.name {
            json.text("name", short(name));
        }
        json.text("type", short(actor.type_name));
        json.text("message", short(actor.message_type));
        json.text("home", short(&actor.home));
        if actor.may_block {
            json.plain("may_block", true);
        }
        json.plain("handled", actor.handled);
        json.plain("queued", actor.queued);
        json.plain("most_queued", actor.most_queued);
        json.plain("lost", actor.lost);
        json.plain("restarts", actor.restarts);
        json.plain("turns", actor.turns);
        json.plain("turn_ns", turn_nanos);
        json.plain("longest_ns", actor.longest_turn.as_nanos());
        if let Some(at_work) = actor.at_work {
            json.plain("at_work_ns", at_work.as_nanos());
        }
        if let Some(before) = before {
            json.plain(
                "handled_since",
                actor.handled.saturating_sub(before.handled),
            );
            json.plain(
                "turn_ns_since",
                turn_nanos.saturating_sub(before.turn_nanos),
            );
        }
    });
}

/// The first letters of a name.
pub(super) fn short(name: &str) -> &str {
    let end = name.char_indices().nth(LONGEST_NAME);
    end.map_or(name, |(end, _)| &name[..end])
}
