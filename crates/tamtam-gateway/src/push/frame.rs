//! Values as messages: notifications of JSON-RPC, binary frames with packed rows, events of a server.

use std::fmt::Write;

use super::log::Due;
use super::wish::Policy;

/// What stands before packed rows in a binary frame: the subscription, the number and how many were missed before it, each
/// as 8 bytes, the lowest first.
pub(crate) const HEADER_BYTES: usize = 24;

/// A notification with one value, or with those of a batch.
pub(crate) fn message(subscription: u64, policy: Policy, due: &[Due]) -> String {
    let bytes: usize = due.iter().map(|due| due.encoded.json.len() + 1).sum();
    let mut text = String::with_capacity(bytes + 140);
    let (number, missed) = numbers(due);
    // Writing to memory does not fail.
    let _ = write!(
        text,
        r#"{{"jsonrpc":"2.0","method":"value","params":{{"subscription":{subscription},"number":{number},"missed":{missed},"#
    );
    if policy == Policy::Batches {
        text.push_str("\"values\":");
    } else {
        text.push_str("\"value\":");
    }
    values(policy, due, &mut text);
    text.push_str("}}");
    text
}

/// Says that a subscription has ended, since it was too far behind.
pub(crate) fn closed_message(subscription: u64, missed: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"closed","params":{{"subscription":{subscription},"reason":"behind","missed":{missed}}}}}"#
    )
}

/// A binary frame with packed rows.
pub(crate) fn packed_message(subscription: u64, due: &Due, rows: &[u8], carried: u64) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER_BYTES + rows.len());
    for word in [subscription, due.number, due.missed + carried] {
        frame.extend_from_slice(&word.to_le_bytes());
    }
    frame.extend_from_slice(rows);
    frame
}

/// Events of a server: one for each value, or for those of a batch between which none was missed; before each, if values were missed there, one that
/// says how many.
pub(crate) fn events(run: &str, policy: Policy, due: &[Due], text: &mut String) {
    let is_batch = policy == Policy::Batches;
    for due in due.chunk_by(|_, next| is_batch && next.missed == 0) {
        event(run, policy, due, text);
    }
}

fn event(run: &str, policy: Policy, due: &[Due], text: &mut String) {
    let (number, missed) = numbers(due);
    // Writing to memory does not fail.
    if missed > 0 {
        // It has the number of the last one that was missed: a page that comes back with that is not told of them again.
        let last = due.first().map_or(0, |first| first.number - 1);
        let _ = write!(text, "id: {run}.{last}\nevent: missed\ndata: {missed}\n\n");
    }
    let _ = write!(text, "id: {run}.{number}\ndata: ");
    let begin = text.len();
    values(policy, due, text);
    // JSON that was written elsewhere may have line breaks between its parts. Each line of an event has a name of its own.
    if text[begin..].contains(['\n', '\r']) {
        let lines = text.split_off(begin);
        let mut lines = lines.split(['\n', '\r']);
        text.push_str(lines.next().unwrap_or_default());
        for line in lines {
            text.push_str("\ndata: ");
            text.push_str(line);
        }
    }
    text.push_str("\n\n");
}

/// The number of the last value, and how many were missed before the first one.
fn numbers(due: &[Due]) -> (u64, u64) {
    let number = due.last().map_or(0, |due| due.number);
    (number, due.iter().map(|due| due.missed).sum())
}

fn values(policy: Policy, due: &[Due], text: &mut String) {
    let is_batch = policy == Policy::Batches;
    if is_batch {
        text.push('[');
    }
    for (place, due) in due.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        // JSON is text.
        text.push_str(std::str::from_utf8(&due.encoded.json).unwrap_or("null"));
    }
    if is_batch {
        text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::log::Encoded;
    use super::*;

    fn due(number: u64, missed: u64, json: &'static str) -> Due {
        Due {
            number,
            missed,
            encoded: Encoded {
                json: Bytes::from_static(json.as_bytes()),
                packed: None,
            },
        }
    }

    #[test]
    fn an_event_whose_value_has_lines_has_a_name_before_each() {
        for (values, policy, expected) in [
            (vec!["[1,2]"], Policy::All, "id: run.7\ndata: [1,2]\n\n"),
            (
                vec!["{\n \"a\": 1\n}"],
                Policy::All,
                "id: run.7\ndata: {\ndata:  \"a\": 1\ndata: }\n\n",
            ),
            (
                vec!["[1,\r2]", "3"],
                Policy::Batches,
                "id: run.7\ndata: [[1,\ndata: 2],3]\n\n",
            ),
        ] {
            let due: Vec<Due> = values.into_iter().map(|json| due(7, 0, json)).collect();
            let mut text = String::new();
            events("run", policy, &due, &mut text);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn what_was_missed_stands_before_the_value_behind_it_and_has_a_number_to_come_back_with() {
        let due = [due(4, 2, "4"), due(5, 0, "5"), due(9, 3, "9")];
        let missed =
            |last: u64, count: u64| format!("id: run.{last}\nevent: missed\ndata: {count}\n\n");
        let value = |number: u64, data: &str| format!("id: run.{number}\ndata: {data}\n\n");
        for (policy, values) in [
            (Policy::All, value(4, "4") + &value(5, "5")),
            (Policy::Batches, value(5, "[4,5]")),
        ] {
            let last = if policy == Policy::All { "9" } else { "[9]" };
            let expected = missed(3, 2) + &values + &missed(8, 3) + &value(9, last);
            let mut text = String::new();
            events("run", policy, &due, &mut text);
            assert_eq!(text, expected);
        }
    }
}
