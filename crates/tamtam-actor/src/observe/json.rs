//! Writes JSON, on one line.

use core::fmt::{Display, Write};

/// A text of JSON that grows.
#[derive(Default)]
pub(crate) struct Json {
    text: String,
    /// The next member or element is not the first one.
    follows: bool,
}

impl Json {
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn separate(&mut self) {
        if core::mem::replace(&mut self.follows, true) {
            self.text.push(',');
        }
    }

    fn within(&mut self, open: char, close: char, content: impl FnOnce(&mut Self)) {
        self.text.push(open);
        self.follows = false;
        content(self);
        self.text.push(close);
        self.follows = true;
    }

    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.separate();
        self.within('{', '}', members);
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.quote(name);
        self.text.push(':');
        // What comes is this member's.
        self.follows = false;
    }

    /// A member that is a number, `true`, `false` or `null`.
    pub(crate) fn plain(&mut self, name: &str, value: impl Display) {
        self.name(name);
        // Text takes everything.
        let _ = write!(self.text, "{value}");
        self.follows = true;
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.quote(value);
        self.follows = true;
    }

    pub(crate) fn member(&mut self, name: &str, members: impl FnOnce(&mut Self)) {
        self.name(name);
        self.within('{', '}', members);
    }

    pub(crate) fn list(&mut self, name: &str, elements: impl FnOnce(&mut Self)) {
        self.name(name);
        self.within('[', ']', elements);
    }

    fn quote(&mut self, value: &str) {
        self.text.push('"');
        for letter in value.chars() {
            match letter {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                control if control.is_control() => {
                    let mut units = [0; 2];
                    for unit in control.encode_utf16(&mut units) {
                        let _ = write!(self.text, "\\u{unit:04x}");
                    }
                }
                letter => self.text.push(letter),
            }
        }
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn what_is_written_is_json_on_one_line() {
        let mut json = Json::default();
        json.object(|json| {
            json.plain("number", 1.5);
            json.text("text", "a\"b\\c\nd\u{1}\u{7f}é🥁");
            json.list("none", |_| {});
            json.list("two", |json| {
                json.object(|json| json.plain("a", true));
                json.object(|_| {});
            });
            json.member("inside", |json| json.plain("null", "null"));
            json.plain("last", -1);
        });
        assert_eq!(
            json.finish(),
            "{\"number\":1.5,\"text\":\"a\\\"b\\\\c\\nd\\u0001\\u007fé🥁\",\"none\":[],\
             \"two\":[{\"a\":true},{}],\"inside\":{\"null\":null},\"last\":-1}"
        );
    }
}
