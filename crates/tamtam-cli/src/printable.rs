//! Text from elsewhere as it may be shown: without what would steer the terminal.

/// Whether a letter is not shown as it is.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        // What turns the direction of writing, or is not seen.
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Text from elsewhere in one line: a point stands for each letter that would steer the terminal, turn the direction of writing, or not be seen.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| if is_hidden(letter) { '·' } else { letter })
        .collect()
}

/// As [`printable`], of text that may have several lines.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(printable).collect();
    lines.join("\n")
}

/// JSON that says the same, with an escape for each letter in whose place [`printable`] has a point.
#[must_use]
pub fn printable_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        // Blanks between values; in a text they are no JSON.
        if is_hidden(letter) && !letter.is_ascii_whitespace() {
            shown.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{printable, printable_json, printable_lines};

    #[test]
    fn text_from_elsewhere_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{9b}31m\u{7f}\r\n"), "a·[2Jb·31m···");
        assert_eq!(printable("a\u{202e}b"), "a·b");
        assert_eq!(printable("größer – 大"), "größer – 大");
        assert_eq!(printable_lines("one\u{1b}c\n\ntwo\r\n"), "one·c\n\ntwo·\n");
    }

    #[test]
    fn json_says_the_same_without_steering_the_terminal() {
        let json = "{\n\t\"a\u{9b}31m\": [\"\u{7f}\u{202e}\\u001b\", 1]\r\n}";
        let shown = printable_json(json);
        assert_eq!(
            shown,
            "{\n\t\"a\\u009b31m\": [\"\\u007f\\u202e\\u001b\", 1]\r\n}"
        );
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(read(&shown), read(json));
    }
}
