//! The words for the rows of `grid`, whose names are put together.

/// "4 senders and 1 receiver, messages of 8 bytes, room for 16" for `4to1-8B-cap16`; `None` for a name that is no row's.
#[must_use]
pub(super) fn describe(extra: &str) -> Option<String> {
    if let Some(said) = of_others(extra) {
        return Some(said);
    }
    let mut words = extra.split('-');
    let (senders, receivers) = words.next()?.split_once("to")?;
    let senders: u32 = senders.parse().ok()?;
    let receivers: u32 = receivers.parse().ok()?;
    let count = |number: u32, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    let mut said = vec![format!(
        "{} and {}",
        count(senders, "sender"),
        count(receivers, "receiver")
    )];
    said.extend(words.map(word));
    Some(said.join(", "))
}

/// The words for a row that is not about the ends of one channel.
fn of_others(extra: &str) -> Option<String> {
    let said = match extra {
        "birth" => "an actor is born, told once, and ends",
        "ask-handler" => "a question of another actor",
        "ask-thread" => "a question of a plain thread",
        "ask-task" => "a question of a task",
        "flood" => {
            "1,000 quiet actors beside one that is flooded: how late 99 of 100 messages are at most"
        }
        "topic-once" => "a delivery to one of 1,000 subscribers, up to 1,000 messages at once",
        "topic-turns" => "a delivery to one of 1,000 subscribers, one message after the other",
        "timers-set" => "a timer set",
        "timers-cancel" => "a timer cancelled",
        "timers-fire" => "a timer fired, of as many at one moment",
        _ => {
            let (word, count) = extra.split_once('-')?;
            return match (word, count.split_once('-')) {
                ("ring", None) => Some(format!("100 messages round {count} actors")),
                ("random", None) => Some(format!(
                    "100 messages among {count} actors, each to one at random"
                )),
                ("select", Some((count, "fresh"))) => Some(format!(
                    "one receiver for {count} channels, a select made for each message"
                )),
                ("select", Some((count, "kept"))) => Some(format!(
                    "one receiver for {count} channels, a select that is kept"
                )),
                _ => None,
            };
        }
    };
    Some(said.to_owned())
}

fn word(word: &str) -> String {
    let said = match word {
        "batches" => "up to 256 at a time",
        "async1" => "tasks of one thread",
        "async2" => "tasks of two threads",
        "8B" => "messages of 8 bytes",
        "64B" => "messages of 64 bytes",
        "1KiB" => "messages of 1 KiB",
        "16KiB" => "messages of 16 KiB",
        "String" => "a string of 32 letters in each message",
        "Box" => "64 bytes in a box in each message",
        "unbounded" => "any number of messages",
        other => {
            return match other.strip_prefix("cap") {
                Some(messages) => format!("room for {messages}"),
                None => other.to_owned(),
            };
        }
    };
    said.to_owned()
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_rows_name_is_read_as_it_is_put_together() {
        for (name, words) in [
            (
                "1to1-String-unbounded",
                "1 sender and 1 receiver, a string of 32 letters in each message, any number of messages",
            ),
            (
                "16to16-async2-8B-cap1",
                "16 senders and 16 receivers, tasks of two threads, messages of 8 bytes, room for 1",
            ),
            (
                "select-8-kept",
                "one receiver for 8 channels, a select that is kept",
            ),
            (
                "random-1000",
                "100 messages among 1000 actors, each to one at random",
            ),
            ("timers-set", "a timer set"),
        ] {
            assert_eq!(describe(name).as_deref(), Some(words));
        }
        for name in ["stream-16B", "token", "atob-8B", ""] {
            assert_eq!(describe(name), None, "{name}");
        }
    }
}
