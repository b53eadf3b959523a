//! A program and its processes as one tree.

use serde_json::Value as Json;

use super::answer::{Actor, Answer, Process};
use super::arguments::By;

/// Processes below processes are looked at so deep.
const DEEPEST: usize = 8;

/// A process of the tree, with what was said of it.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    /// The lines of the tree that lead to it.
    pub(crate) branch: String,
    /// What the process above says of it; none says it of the program itself.
    pub(crate) process: Option<&'a Process>,
    /// What it says itself.
    pub(crate) answer: Option<&'a Answer>,
}

impl Answer {
    /// The program itself and the processes below it, each above those that it has.
    pub(crate) fn tree(&self) -> Vec<Node<'_>> {
        let mut all = vec![Node {
            branch: String::new(),
            process: None,
            answer: Some(self),
        }];
        add_below(self, "", 1, &mut all);
        all
    }

    /// The process of that number in the tree, as it was then.
    pub(crate) fn process(&self, pid: u64) -> Option<Node<'_>> {
        self.tree().into_iter().find(|node| node.pid() == Some(pid))
    }

    /// The actors of all processes with what these are called, in the order that was asked for; at most so many.
    pub(crate) fn all_actors(&self, by: By) -> Vec<(&Actor, Node<'_>)> {
        let mut all = Vec::new();
        let tree = self.tree();
        let has_others = tree.len() > 1;
        for node in tree {
            let actors = node.answer.map_or(&[][..], |answer| &answer.actors).iter();
            all.extend(actors.map(|actor| (actor, node.clone())));
        }
        if has_others {
            // Each process has sorted its own, and those that are equal stay as they are.
            all.sort_by_key(|(actor, _)| std::cmp::Reverse(weight(actor, by)));
        }
        all
    }
}

fn weight(actor: &Actor, by: By) -> u64 {
    match by {
        By::Queued => actor.queued,
        By::Handled => actor.handled_since.unwrap_or(actor.handled),
        By::Time => actor.turn_ns_since.unwrap_or(actor.turn_ns),
        By::Longest => actor.longest_ns,
        By::Restarts => actor.restarts,
        By::Lost => actor.lost,
        By::Turn => actor.at_work_ns.unwrap_or(0),
    }
}

fn add_below<'a>(answer: &'a Answer, stem: &str, depth: usize, all: &mut Vec<Node<'a>>) {
    if depth > DEEPEST {
        return;
    }
    for (place, process) in answer.processes.iter().enumerate() {
        let below = process.below.as_deref();
        let is_last = place + 1 == answer.processes.len();
        let (twig, stem_below) = if is_last {
            ("└ ", "  ")
        } else {
            ("├ ", "│ ")
        };
        all.push(Node {
            branch: format!("{stem}{twig}"),
            process: Some(process),
            answer: below,
        });
        if let Some(below) = below {
            add_below(below, &format!("{stem}{stem_below}"), depth + 1, all);
        }
    }
}

impl Node<'_> {
    pub(crate) fn pid(&self) -> Option<u64> {
        match self.process {
            Some(process) => process.pid,
            None => self.answer.map(|answer| answer.pid),
        }
    }

    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        match self.process {
            Some(process) => process.cpu_ns,
            None => self.answer?.cpu_ns,
        }
    }

    pub(crate) fn memory(&self) -> Option<u64> {
        match self.process {
            Some(process) => process.memory,
            None => self.answer?.memory,
        }
    }

    /// Messages that its actors have handled so far.
    pub(crate) fn handled(&self) -> u64 {
        let homes = self.answer.into_iter().flat_map(|answer| &answer.homes);
        let handled = homes.map(|home| home.actors.as_ref().map_or(0, |totals| totals.handled));
        handled.fold(0, u64::saturating_add)
    }
}

impl Process {
    /// Reads what it has said itself; what cannot be read is as if it had said nothing.
    pub(super) fn read_answer(&mut self, depth: usize) {
        let text = self.answer.take().filter(|_| depth < DEEPEST);
        let below = text.and_then(|text| Answer::read_at(&text, depth + 1).ok());
        self.below = below.map(Box::new);
    }
}

/// The line of JSON with the answers of processes as objects, which stand in it as texts.
pub(crate) fn with_objects(line: &str) -> String {
    let Ok(mut json) = serde_json::from_str::<Json>(line) else {
        return line.to_owned();
    };
    if json.get("processes").is_none() {
        return line.to_owned();
    }
    unfold(&mut json, 0);
    format!("{json}\n")
}

fn unfold(json: &mut Json, depth: usize) {
    let processes = json.get_mut("processes").and_then(Json::as_array_mut);
    for process in processes.into_iter().flatten() {
        let Some(answer) = process.get_mut("answer") else {
            continue;
        };
        let text = answer.as_str().filter(|_| depth < DEEPEST);
        let mut read = text.and_then(|text| serde_json::from_str::<Json>(text).ok());
        if let Some(json) = &mut read {
            unfold(json, depth + 1);
        }
        *answer = read.unwrap_or(Json::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> String {
        let actor = |id: u64, queued: u64| serde_json::json!({"id": id, "type": "Till", "home": "pool", "queued": queued});
        let below = serde_json::json!({
            "tamtam": 1, "pid": 9, "actors": [actor(1, 5)],
            "homes": [{"number": 1, "actors": {"handled": 12}}],
        });
        let damaged = "{\"tamtam\":1";
        let program = serde_json::json!({
            "tamtam": 1, "pid": 7, "actors": [actor(1, 9), actor(2, 1)],
            "processes": [
                {"name": "decoder", "pid": 8, "restarts": 2, "answer": damaged},
                {"name": "resizer", "pid": 9, "answer": below.to_string()},
            ],
        });
        program.to_string()
    }

    #[test]
    fn the_processes_of_a_program_are_below_it_and_one_that_says_nonsense_does_no_harm() {
        let answer = Answer::read(&program()).unwrap();
        let tree = answer.tree();
        let pids: Vec<_> = tree.iter().map(Node::pid).collect();
        assert_eq!(pids, [Some(7), Some(8), Some(9)]);
        assert!(tree[1].answer.is_none());
        assert_eq!((&*tree[1].branch, &*tree[2].branch), ("├ ", "└ "));
        assert_eq!(answer.process(9).unwrap().handled(), 12);
    }

    #[test]
    fn actors_of_all_processes_are_sorted_together() {
        let answer = Answer::read(&program()).unwrap();
        let actors = answer.all_actors(By::Queued);
        let queued: Vec<_> = actors.iter().map(|(actor, _)| actor.queued).collect();
        assert_eq!(queued, [9, 5, 1]);
        assert_eq!(actors[1].1.pid(), Some(9));
    }

    #[test]
    fn as_json_processes_are_objects() {
        let shown: Json = serde_json::from_str(&with_objects(&program())).unwrap();
        assert_eq!(shown["processes"][0]["answer"], Json::Null);
        assert_eq!(shown["processes"][1]["answer"]["pid"], 9);
        assert_eq!(with_objects("{\"tamtam\":1}\n"), "{\"tamtam\":1}\n");
    }

    #[test]
    fn depth_has_an_end() {
        let mut line = "{\"tamtam\":1}".to_owned();
        for _ in 0..12 {
            line = serde_json::json!({"tamtam": 1, "processes": [{"answer": line}]}).to_string();
        }
        let answer = Answer::read(&line).unwrap();
        assert_eq!(answer.tree().len(), DEEPEST + 1);
        with_objects(&line);
    }
}
