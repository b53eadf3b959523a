//! Recorded answers by what was asked.

use std::collections::HashMap;

use super::journal::{Answer, Entry, Request};
use super::json_rpc;
use super::key::Key;
use crate::protocol::amf::recorded as amf;
use crate::protocol::{rest, xml_rpc};
use crate::{Fault, Limits, json};

/// What a request asks, in its protocol.
#[derive(Debug)]
pub(super) enum Asked {
    Amf(amf::Request),
    JsonRpc(json_rpc::Request),
    /// Its key and the method.
    XmlRpc(Key, String),
    /// All else: its key and the path.
    Plain(Key, String),
}

impl Asked {
    /// What it asks, found by its type and its body.
    pub(super) fn of(request: &Request, limits: &Limits) -> Asked {
        let body = &request.body.0;
        let kind = request.content_type.split(';').next().unwrap_or_default();
        match kind.trim().to_ascii_lowercase().as_str() {
            "application/x-amf" => {
                if let Ok(packet) = amf::read_request(body, limits) {
                    return Asked::Amf(packet);
                }
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
        let range = request.range.as_deref().unwrap_or_default();
        let parts = [&request.method, &request.path, range].map(str::as_bytes);
        let key = Key::of_parts(&[parts[0], parts[1], parts[2], body]);
        Asked::Plain(key, request.path.clone())
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
    pub(super) answer: Recorded,
}

/// An answer, without what is of one request alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Recorded {
    Amf(amf::Answered),
    JsonRpc(json_rpc::Answered),
    Whole(Answer),
}

/// The calls of an entry that have an answer.
pub(super) fn calls(entry: Entry, limits: &Limits) -> Vec<Call> {
    let Entry {
        request, answer, ..
    } = entry;
    match Asked::of(&request, limits) {
        Asked::Amf(packet) => {
            let mut answers = amf::read_answer(&answer.body.0).unwrap_or_default();
            let form = packet.version.number().to_string();
            let calls = packet.calls.into_iter().filter_map(|asked| {
                let to = asked.response.as_deref()?;
                let index = answers.iter().position(|answer| answer.to == to)?;
                let mut answer = answers.swap_remove(index);
                answer.to.clear();
                Some(Call {
                    key: Key::new("amf", &asked.name, &asked.arguments),
                    name: asked.name,
                    form: form.clone(),
                    answer: Recorded::Amf(answer),
                })
            });
            calls.collect()
        }
        Asked::JsonRpc(request) => {
            let answers = json_rpc::read_answers(&request, &answer.body.0);
            let calls = request.calls.iter().zip(answers);
            calls
                .filter_map(|(asked, answer)| {
                    Some(Call {
                        name: asked.method.clone(),
                        key: Key::new("json-rpc", &asked.method, &asked.params),
                        form: String::new(),
                        answer: Recorded::JsonRpc(answer?),
                    })
                })
                .collect()
        }
        Asked::XmlRpc(key, name) => vec![Call {
            name,
            key,
            form: String::new(),
            answer: Recorded::Whole(answer),
        }],
        Asked::Plain(key, name) => vec![Call {
            name,
            key,
            form: request.accept.unwrap_or_default(),
            answer: Recorded::Whole(answer),
        }],
    }
}

/// All recorded answers.
#[derive(Debug, Default)]
pub(super) struct Index {
    answers: HashMap<Key, Vec<(String, Recorded)>>,
    /// With how many different arguments each name was called.
    names: HashMap<String, usize>,
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
        let forms = self.answers.entry(call.key).or_insert_with(|| {
            *self.names.entry(call.name).or_default() += 1;
            Vec::new()
        });
        forms.retain(|(form, _)| *form != call.form);
        forms.push((call.form, call.answer));
    }

    /// How many different calls have an answer.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// The answer to a request, from what was recorded.
    pub(super) fn answer(&self, request: &Request, asked: &Asked) -> Reply<'_> {
        match asked {
            Asked::Amf(packet) => {
                let form = packet.version.number().to_string();
                let answers = packet.calls.iter().map(|asked| {
                    let key = Key::new("amf", &asked.name, &asked.arguments);
                    // Who reads version 3 reads version 0, too.
                    let found = self.find(&key, |known, _| known == form || known == "0");
                    match found {
                        Some(Recorded::Amf(answer)) => (asked, Ok(answer)),
                        _ => (asked, Err(self.never_asked(&asked.name))),
                    }
                });
                match amf::write_answers(packet.version, answers) {
                    Ok(body) => Reply::Amf(body),
                    Err(fault) => Reply::Fault(fault),
                }
            }
            Asked::JsonRpc(calls) => {
                let answers = calls.calls.iter().map(|asked| {
                    let key = Key::new("json-rpc", &asked.method, &asked.params);
                    match self.find(&key, |_, _| true) {
                        Some(Recorded::JsonRpc(answer)) => Ok(answer),
                        _ => Err(self.never_asked(&asked.method)),
                    }
                });
                Reply::JsonRpc(json_rpc::write_answers(calls, answers))
            }
            Asked::XmlRpc(key, method) => match self.find(key, |_, _| true) {
                Some(Recorded::Whole(answer)) => Reply::Whole(answer),
                _ => Reply::XmlRpc(xml_rpc::fault(&self.never_asked(method))),
            },
            Asked::Plain(key, path) => {
                let accept = request.accept.as_deref();
                let is_taken = |form: &str, answer: &Recorded| match answer {
                    Recorded::Whole(answer) => {
                        form == accept.unwrap_or_default()
                            || rest::takes(
                                accept,
                                answer.header("content-type").unwrap_or_default(),
                            )
                    }
                    _ => false,
                };
                match self.find(key, is_taken) {
                    Some(Recorded::Whole(answer)) => Reply::Whole(answer),
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

    /// The latest that fits.
    fn find(&self, key: &Key, fits: impl Fn(&str, &Recorded) -> bool) -> Option<&Recorded> {
        let forms = self.answers.get(key)?.iter().rev();
        let mut fitting = forms.filter(|(form, answer)| fits(form, answer));
        fitting.next().map(|(_, answer)| answer)
    }

    fn never_asked(&self, name: &str) -> Fault {
        let shown: String = name.chars().take(MOST_SHOWN).collect();
        let reason = match self.names.get(name) {
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
