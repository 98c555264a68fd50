//! A line of the protocol: a command, and what it says by name.

/// A line such as `cmd=get_result rc=0 value=17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// What is asked for, or answered.
    pub command: &'a str,
    /// The words behind it.
    rest: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line, without its end; `None` if it has no command.
    pub fn parse(text: &'a str) -> Option<Line<'a>> {
        let text = text.trim_matches(' ').strip_prefix("cmd=")?;
        let (command, rest) = text.split_once(' ').unwrap_or((text, ""));
        (!command.is_empty()).then_some(Line { command, rest })
    }

    /// What the line says under a name.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let values = self.rest.split(' ').filter_map(|word| word.split_once('='));
        values.into_iter().find_map(|(other, value)| (other == name).then_some(value))
    }

    /// The number under a name.
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.get(name)?.parse().ok()
    }

    /// Everything behind a name to the end of the line, blanks too.
    pub fn tail(&self, name: &str) -> Option<&'a str> {
        let starts = self.rest.match_indices(name);
        let mut found = starts.filter_map(|(at, _)| {
            let begins = at == 0 || self.rest.as_bytes()[at - 1] == b' ';
            begins.then(|| self.rest[at + name.len()..].strip_prefix('=')).flatten()
        });
        found.next()
    }

    /// Why what was asked for has not been done; `None` if it has.
    pub fn refusal(&self) -> Option<&'a str> {
        match self.get("rc") {
            None | Some("0") => None,
            Some(code) => Some(self.get("msg").unwrap_or(code)),
        }
    }
}

/// Whether a text can be a value: every reader takes it for one word.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Somebody's text as it can be shown to people: short, on one line, without control characters.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line = Line::parse("cmd=get_result rc=0 msg=success value=a=b,(c)").unwrap();
        assert_eq!(line.command, "get_result");
        assert_eq!(line.get("value"), Some("a=b,(c)"));
        assert_eq!(line.number("rc"), Some(0));
        assert_eq!(line.number::<u32>("value"), None);
        assert_eq!(line.get("valu"), None);
        assert_eq!(line.get("cmd"), None);
        assert_eq!(line.refusal(), None);
        assert_eq!(Line::parse("cmd=finalize ").unwrap().command, "finalize");
    }

    #[test]
    fn a_refusal_has_its_reason() {
        let reason = |text| Line::parse(text).unwrap().refusal().map(str::to_owned);
        assert_eq!(reason("cmd=put_result rc=-1 msg=full").as_deref(), Some("full"));
        assert_eq!(reason("cmd=get_result rc=1").as_deref(), Some("1"));
        assert_eq!(reason("cmd=barrier_out"), None);
    }

    #[test]
    fn a_message_may_have_blanks() {
        let line = Line::parse("cmd=abort exitcode=3 message=no message=of that kind").unwrap();
        assert_eq!(line.tail("message"), Some("no message=of that kind"));
        assert_eq!(line.tail("essage"), None);
        assert_eq!(line.tail("reason"), None);
    }

    #[test]
    fn a_line_without_a_command_is_none() {
        for text in ["", "cmd", "cmd=", "cmd= x=1", "x=1 cmd=get", "mcmd=spawn", "CMD=get"] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }

    #[test]
    fn text_of_others_is_shown_without_harm() {
        assert_eq!(shown("a\x1b[2J\nb"), "a\\u{1b}[2J\\nb");
        assert_eq!(shown(&"x".repeat(500)).len(), 123);
    }

    proptest! {
        #[test]
        fn any_text_can_be_asked(text: String, name in "[a-z]{0,3}") {
            if let Some(line) = Line::parse(&text) {
                let _ = (line.get(&name), line.tail(&name), line.refusal());
            }
        }

        #[test]
        fn what_is_written_is_found(words in prop::collection::vec(("[a-z]{1,4}", "[!-~]{1,9}"), 0..6)) {
            let mut text = "cmd=x".to_owned();
            for (name, value) in &words {
                text += &format!(" {name}={value}");
            }
            let line = Line::parse(&text).unwrap();
            for (name, _) in &words {
                // The first of its name counts.
                let first = words.iter().find(|(other, _)| other == name).unwrap();
                prop_assert_eq!(line.get(name), Some(first.1.as_str()));
            }
        }
    }
}
