//! Words and numbers of a text, byte by byte.

use super::GoalError;

/// A place in the text.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub at: usize,
    line: u32,
    /// Where the line begins.
    begin: usize,
}

/// Goes through a text once. It always stands between two characters.
pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    mark: Mark,
    /// Whether a line has ended within the last comment.
    broken: bool,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Scanner<'a> {
        let mark = Mark { at: 0, line: 1, begin: 0 };
        Scanner { text, bytes: text.as_bytes(), mark, broken: false }
    }

    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// Goes back to a place.
    pub fn return_to(&mut self, mark: Mark) {
        self.mark = mark;
    }

    /// Another one of the same text that stands at a place.
    pub fn from(&self, mark: Mark) -> Scanner<'a> {
        Scanner { mark, ..*self }
    }

    /// The line at which it stands.
    pub fn line(&self) -> u32 {
        self.mark.line
    }

    /// The next byte; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.mark.at).copied().unwrap_or(0)
    }

    /// Whether the text has ended.
    pub fn is_end(&self) -> bool {
        self.mark.at >= self.bytes.len()
    }

    /// Goes over one byte, which is no line break.
    pub fn step(&mut self) {
        self.mark.at += 1;
    }

    /// Goes over blanks and comments within a statement.
    pub fn blanks(&mut self) -> Result<(), GoalError> {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.mark.at += 1,
                b'/' => {
                    if !self.comment()? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Goes over blanks, comments and line breaks between statements.
    pub fn lines(&mut self) -> Result<(), GoalError> {
        loop {
            self.blanks()?;
            if self.peek() != b'\n' {
                self.broken = false;
                return Ok(());
            }
            self.mark.at += 1;
            self.break_line();
        }
    }

    fn break_line(&mut self) {
        self.mark.line = self.mark.line.saturating_add(1);
        self.mark.begin = self.mark.at;
    }

    /// Goes over a comment, if there is one.
    fn comment(&mut self) -> Result<bool, GoalError> {
        let begin = self.mark;
        match self.bytes.get(self.mark.at + 1) {
            Some(b'/') => {
                let rest = &self.bytes[self.mark.at..];
                let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                self.mark.at += length;
                Ok(true)
            }
            Some(b'*') => {
                self.mark.at += 2;
                loop {
                    match self.bytes.get(self.mark.at) {
                        None => {
                            let what = "found a comment that does not end".to_owned();
                            return Err(error(begin, what, "end it with `*/`"));
                        }
                        Some(b'*') if self.bytes.get(self.mark.at + 1) == Some(&b'/') => {
                            self.mark.at += 2;
                            return Ok(true);
                        }
                        Some(b'\n') => {
                            self.mark.at += 1;
                            self.break_line();
                            self.broken = true;
                        }
                        Some(_) => self.mark.at += 1,
                    }
                }
            }
            _ => Ok(false),
        }
    }

    /// Whether the statement has ended: with its line, its block or the text.
    pub fn ended(&mut self) -> Result<bool, GoalError> {
        self.blanks()?;
        Ok(self.broken || matches!(self.peek(), b'\n' | b'}') || self.is_end())
    }

    /// The letters, digits and `_` that follow, which may be none.
    pub fn word(&mut self) -> &'a str {
        let rest = &self.bytes[self.mark.at..];
        let length = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
        let begin = self.mark.at;
        self.mark.at += length;
        &self.text[begin..self.mark.at]
    }

    /// The number whose digits follow, or the largest there is if it is larger; `None`: no digit.
    pub fn digits(&mut self) -> Option<u64> {
        let begin = self.mark.at;
        let mut number = 0u64;
        while let digit @ b'0'..=b'9' = self.peek() {
            let digit = u64::from(digit - b'0');
            number = number.saturating_mul(10).saturating_add(digit);
            self.mark.at += 1;
        }
        (self.mark.at > begin).then_some(number)
    }

    /// Whether the next byte belongs to a word.
    pub fn at_word(&self) -> bool {
        is_word(self.peek())
    }

    /// What stands at a place, for people.
    pub fn found(&self, mark: Mark) -> String {
        let rest = self.text.get(mark.at..).unwrap_or_default();
        match rest.chars().next() {
            None => return "the end of the text".to_owned(),
            Some('\n' | '\r') => return "the end of the line".to_owned(),
            Some(_) => {}
        }
        let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let mut piece: String = rest.chars().take_while(|&c| bare(c)).take(32).collect();
        if piece.is_empty() {
            piece.extend(rest.chars().next());
        }
        format!("`{}`", piece.escape_debug())
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// An error at a place.
pub(super) fn error(mark: Mark, what: String, help: impl Into<String>) -> GoalError {
    // Texts are shorter than 4 GiB.
    let column = (mark.at - mark.begin) as u32 + 1;
    GoalError { line: mark.line, column, what, help: help.into() }
}
