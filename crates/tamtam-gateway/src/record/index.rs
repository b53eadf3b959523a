//! Recorded answers by what was asked.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::journal::{Answer, Entry, Request};
use super::json_rpc;
use super::key::Key;
use crate::protocol::amf::recorded as amf;
use crate::protocol::{rest, xml_rpc};
use crate::{AmfClasses, Fault, Limits, json};

/// What a request asks, in its protocol.
#[derive(Debug)]
pub(super) enum Asked {
    Amf(amf::Request),
    JsonRpc(json_rpc::Request),
    /// Its key and the method.
    XmlRpc(Key, String),
    /// All else: its key and the path.
    Plain(Key, String),
    /// A packet of AMF that cannot be taken apart: its key, the path, and why.
    Packet(Key, String, Fault),
}

impl Asked {
    /// What it asks, found by its type and its body.
    pub(super) fn of(request: &Request, limits: &Limits, classes: &AmfClasses) -> Asked {
        let body = &request.body.0;
        let kind = request.content_type.split(';').next().unwrap_or_default();
        match kind.trim().to_ascii_lowercase().as_str() {
            "application/x-amf" => {
                return match amf::read_request(body, request.is_from_flash_player, limits, classes)
                {
                    Ok(packet) => Asked::Amf(packet),
                    Err(fault) => Asked::Packet(whole(request), request.path.clone(), fault),
                };
            }
            "text/xml" | "application/xml" => {
                if let Ok((method, params)) = xml_rpc::asked(body, limits) {
                    return Asked::XmlRpc(Key::new("xml-rpc", &method, &params), method);
                }
            }
            "application/json" | "application/json-rpc" | "application/jsonrequest" => {
                if let Some(calls) = json_rpc::read_request(body, limits) {
                    return Asked::JsonRpc(calls);
                }
                if let Ok(value) = json::read(body, limits) {
                    let place = format!("{} {}", request.method, request.path);
                    return Asked::Plain(Key::new("json", &place, &value), request.path.clone());
                }
            }
            _ => {}
        }
        Asked::Plain(whole(request), request.path.clone())
    }
}

/// The key of a request that is taken as it is.
fn whole(request: &Request) -> Key {
    let range = request.range.as_deref().unwrap_or_default();
    let parts = [&request.method, &request.path, range].map(str::as_bytes);
    Key::of_parts(&[parts[0], parts[1], parts[2], &request.body.0])
}

/// The key of a call in a packet.
fn of_amf(asked: &amf::Asked) -> Key {
    match &asked.arguments {
        amf::AskedValue::Read(value) => Key::new("amf", &asked.name, value),
        amf::AskedValue::Unread(target, bytes) => {
            Key::of_parts(&[b"amf", target.as_bytes(), bytes])
        }
    }
}

/// One call of an entry, with its answer.
#[derive(Debug)]
pub(super) struct Call {
    /// What was called, for people.
    name: String,
    pub(super) key: Key,
    /// What the client said that it reads: AMF's version, the header `Accept`.
    pub(super) form: String,
    /// Where it was called, if its key does not say that.
    pub(super) path: Arc<str>,
    pub(super) answer: Recorded,
    /// Why its answer cannot be given again, or only to the same bytes.
    pub(super) doubt: Option<Doubt>,
}

/// Why an answer may not be given again.
#[derive(Debug)]
pub(super) struct Doubt {
    /// Whether it is not given to any request.
    is_certain: bool,
    pub(super) reason: String,
}

impl Doubt {
    fn certain(reason: String) -> Doubt {
        Doubt {
            is_certain: true,
            reason,
        }
    }
}

/// An answer, without what is of one request alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Recorded {
    Amf(amf::Answered),
    JsonRpc(json_rpc::Answered),
    /// Several calls may have been answered by it.
    Whole(Arc<Answer>),
}

/// The calls of an entry that want an answer.
pub(super) fn calls(entry: Entry, limits: &Limits, classes: &AmfClasses) -> Vec<Call> {
    let Entry {
        request, answer, ..
    } = entry;
    let answer = Arc::new(answer);
    let mut path: Arc<str> = "".into();
    let (key, name, form, doubt) = match Asked::of(&request, limits, classes) {
        Asked::Amf(packet) => return of_packet(packet, &request, answer, classes),
        Asked::JsonRpc(calls) => return of_json_rpc(&calls, &request, answer),
        Asked::XmlRpc(key, name) => {
            path = request.path.into();
            (key, name, String::new(), None)
        }
        Asked::Plain(key, name) => (key, name, request.accept.unwrap_or_default(), None),
        Asked::Packet(key, name, fault) => {
            let reason = format!(
                "only the same bytes are the same call: {}",
                fault.description()
            );
            let doubt = Doubt {
                is_certain: false,
                reason,
            };
            (key, name, request.accept.unwrap_or_default(), Some(doubt))
        }
    };
    vec![Call {
        name,
        key,
        form,
        path,
        answer: Recorded::Whole(answer),
        doubt,
    }]
}

/// An entry whose answer, as a whole or that to the call of this name, cannot be given again.
fn not_given(name: &str, request: &Request, answer: Arc<Answer>, reason: String) -> Call {
    Call {
        name: name.to_owned(),
        key: Key::of_parts(&[name.as_bytes(), &request.body.0]),
        form: String::new(),
        path: "".into(),
        answer: Recorded::Whole(answer),
        doubt: Some(Doubt::certain(reason)),
    }
}

fn of_packet(
    packet: amf::Request,
    request: &Request,
    whole: Arc<Answer>,
    classes: &AmfClasses,
) -> Vec<Call> {
    let mut wanted = packet
        .calls
        .into_iter()
        .filter(|asked| asked.response.is_some());
    let mut answers = match amf::read_answer(&whole.body.0, classes) {
        Ok(answers) => answers,
        Err(fault) => {
            let reason = format!("of the answer: {}", fault.description());
            let first = wanted.next();
            let calls = first.map(|first| not_given(&first.name, request, whole, reason));
            return calls.into_iter().collect();
        }
    };
    let form = packet.version.number().to_string();
    let path: Arc<str> = request.path.as_str().into();
    let calls = wanted.map(|asked| {
        let to = asked.response.as_deref();
        let Some(index) = answers.iter().position(|answer| Some(&*answer.to) == to) else {
            let reason = format!("{}: none has come", asked.name);
            return not_given(&asked.name, request, Arc::clone(&whole), reason);
        };
        let mut answer = answers.swap_remove(index);
        answer.to.clear();
        let is_given = asked.note_in(&mut answer);
        let doubt = if asked.is_new_each_time() {
            Some("its arguments have a form that only a class of its program knows, and stand before the id of its message")
        } else if !is_given {
            Some("it has a form that only a class of its program knows, and the id of its message is not found in it")
        } else {
            None
        };
        let doubt = doubt.map(|reason| Doubt::certain(format!("{}: {reason}", asked.name)));
        Call {
            key: of_amf(&asked),
            name: asked.name,
            form: form.clone(),
            path: Arc::clone(&path),
            answer: Recorded::Amf(answer),
            doubt,
        }
    });
    calls.collect()
}

fn of_json_rpc(calls: &json_rpc::Request, request: &Request, whole: Arc<Answer>) -> Vec<Call> {
    let answers = json_rpc::read_answers(calls, &whole.body.0);
    let path: Arc<str> = request.path.as_str().into();
    let wanted = calls
        .calls
        .iter()
        .zip(answers)
        .filter(|(asked, _)| asked.wants_answer());
    let calls = wanted.map(|(asked, answer)| match answer {
        Some(answer) => Call {
            name: asked.method.clone(),
            key: Key::new("json-rpc", &asked.method, &asked.params),
            form: String::new(),
            path: Arc::clone(&path),
            answer: Recorded::JsonRpc(answer),
            doubt: None,
        },
        None => {
            let reason = format!("{}: none has come", asked.method);
            not_given(&asked.method, request, Arc::clone(&whole), reason)
        }
    });
    calls.collect()
}

/// All recorded answers.
#[derive(Debug, Default)]
pub(super) struct Index {
    answers: HashMap<Key, Vec<Kept>>,
    /// With how many different arguments each name was called.
    names: HashMap<String, usize>,
    /// How many calls have answers that cannot be given, and their names.
    not_given: usize,
    names_not_given: HashSet<String>,
}

/// An answer to a call, in one form, at one place.
#[derive(Debug)]
struct Kept {
    form: String,
    path: Arc<str>,
    answer: Recorded,
}

/// Why there is no answer.
enum Missing {
    /// None was recorded.
    Unknown,
    /// Those that were recorded at other paths differ.
    Ambiguous,
}

/// What goes back.
#[derive(Debug)]
pub(super) enum Reply<'i> {
    Amf(Vec<u8>),
    /// Nothing, if no answer is wanted.
    JsonRpc(Option<Vec<u8>>),
    Whole(&'i Answer),
    XmlRpc(Vec<u8>),
    Fault(Fault),
}

impl Index {
    /// Adds a call. The latest answer counts.
    pub(super) fn add(&mut self, call: Call) {
        if call.doubt.is_some_and(|doubt| doubt.is_certain) {
            self.not_given += 1;
            self.names_not_given.insert(call.name);
            return;
        }
        let forms = self.answers.entry(call.key).or_insert_with(|| {
            *self.names.entry(call.name).or_default() += 1;
            Vec::new()
        });
        forms.retain(|kept| kept.form != call.form || kept.path != call.path);
        forms.push(Kept {
            form: call.form,
            path: call.path,
            answer: call.answer,
        });
    }

    /// How many different calls have an answer.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// How many calls were recorded whose answers cannot be given.
    pub(super) fn not_given(&self) -> usize {
        self.not_given
    }

    /// The answer to a request, from what was recorded.
    pub(super) fn answer(
        &self,
        request: &Request,
        asked: &Asked,
        classes: &AmfClasses,
    ) -> Reply<'_> {
        match asked {
            Asked::Amf(packet) => {
                let form = packet.version.number().to_string();
                let answers = packet.calls.iter().map(|asked| {
                    let key = of_amf(asked);
                    // Who reads version 3 reads version 0, too.
                    let fits = |known: &str, _: &Recorded| known == form || known == "0";
                    match self.find(&key, &request.path, fits) {
                        Ok(Recorded::Amf(answer)) => (asked, Ok(answer)),
                        other => (asked, Err(self.missing(&asked.name, other))),
                    }
                });
                match amf::write_answers(packet.version, classes, answers) {
                    Ok(body) => Reply::Amf(body),
                    Err(fault) => Reply::Fault(fault),
                }
            }
            Asked::JsonRpc(calls) => {
                let answers = calls.calls.iter().map(|asked| {
                    let key = Key::new("json-rpc", &asked.method, &asked.params);
                    match self.find(&key, &request.path, |_, _| true) {
                        Ok(Recorded::JsonRpc(answer)) => Ok(answer),
                        other => Err(self.missing(&asked.method, other)),
                    }
                });
                Reply::JsonRpc(json_rpc::write_answers(calls, answers))
            }
            Asked::XmlRpc(key, method) => match self.find(key, &request.path, |_, _| true) {
                Ok(Recorded::Whole(answer)) => Reply::Whole(answer),
                other => Reply::XmlRpc(xml_rpc::fault(&self.missing(method, other))),
            },
            Asked::Plain(key, path) | Asked::Packet(key, path, _) => {
                let accept = request.accept.as_deref();
                let is_same = |form: &str, _: &Recorded| form == accept.unwrap_or_default();
                let is_taken = |_: &str, answer: &Recorded| match answer {
                    Recorded::Whole(answer) => {
                        let form = answer.header("content-type").unwrap_or_default();
                        rest::takes(accept, form)
                    }
                    _ => false,
                };
                // The path is in the key. What was asked for in these words comes before what they allow as well.
                let found = self.find(key, "", is_same);
                match found.or_else(|_| self.find(key, "", is_taken)) {
                    Ok(Recorded::Whole(answer)) => Reply::Whole(answer),
                    _ if self.answers.contains_key(key) => {
                        let reason =
                            format!("{path} was recorded, and not in a form that is asked for");
                        Reply::Fault(Fault::new(NEVER_ASKED, reason).status(406))
                    }
                    _ => Reply::Fault(self.never_asked(path)),
                }
            }
        }
    }

    /// The latest that fits and was given at this path; one that was given at another path, if there is none and all of those are the same.
    fn find(
        &self,
        key: &Key,
        path: &str,
        fits: impl Fn(&str, &Recorded) -> bool,
    ) -> Result<&Recorded, Missing> {
        let all = self.answers.get(key).into_iter().flatten().rev();
        let mut fitting = all.filter(|kept| fits(&kept.form, &kept.answer));
        if let Some(kept) = fitting.clone().find(|kept| *kept.path == *path) {
            return Ok(&kept.answer);
        }
        let latest = fitting.next().ok_or(Missing::Unknown)?;
        let elsewhere = &mut fitting.filter(|kept| kept.path != latest.path);
        if elsewhere.all(|kept| kept.answer == latest.answer) {
            Ok(&latest.answer)
        } else {
            Err(Missing::Ambiguous)
        }
    }

    /// What is told of a call that has no answer.
    fn missing(&self, name: &str, found: Result<&Recorded, Missing>) -> Fault {
        match found {
            Err(Missing::Ambiguous) => {
                let shown = shown(name);
                let reason = format!(
                    "{shown} was recorded at other paths than this one, with different answers"
                );
                Fault::new(NEVER_ASKED, reason).status(404)
            }
            _ => self.never_asked(name),
        }
    }

    fn never_asked(&self, name: &str) -> Fault {
        let shown = shown(name);
        let reason = match self.names.get(name) {
            None if self.names_not_given.contains(name) => {
                format!("{shown} was recorded, and in no form that can be given again")
            }
            None => format!("{shown} was never called while its server was recorded"),
            Some(1) => format!("{shown} was recorded with other arguments than these"),
            Some(count) => {
                format!(
                    "{shown} was recorded with {count} other lists of arguments, and not with these"
                )
            }
        };
        Fault::new(NEVER_ASKED, reason).status(404)
    }
}

/// The code of the fault.
const NEVER_ASKED: &str = "Replay.NeverAsked";

/// Characters of a name that are told back, at most.
const MOST_SHOWN: usize = 120;

/// A name as it is told back.
fn shown(name: &str) -> String {
    name.chars().take(MOST_SHOWN).collect()
}
