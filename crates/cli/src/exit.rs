//! How the command ends: the exit codes, and failures by who is to blame.

use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::sync::Once;

use crosstie_lab::LabError;
use crosstie_report::WriteError;
use crosstie_study::ResultsError;
use crosstie_study::trace::TraceError;

use crate::{console, interrupt};

/// What a verb has to say when it could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Done, or "yes".
    Yes,
    /// A check that was asked for failed.
    No,
    /// Stopped by Ctrl-C with what was finished kept.
    Interrupted,
    /// What a program that was run has to say.
    #[cfg_attr(not(unix), allow(dead_code))]
    Code(u8),
}

/// Why a verb could not do its work, by who is to blame.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The arguments, files or folders of the user.
    User(String),
    /// A defect of Crosstie.
    Ours(String),
}

/// What a verb returns.
pub type Exit = Result<Answer, Failure>;

impl Failure {
    /// The user's to mend; the error says what is wrong and what to do.
    pub fn user(error: impl Display) -> Failure {
        Failure::User(console::harmless(&format!("error: {error}")))
    }

    /// The user's to mend, as text with its own head and source lines.
    pub fn rendered(text: String) -> Failure {
        Failure::User(text)
    }

    /// A broken promise between two parts of Crosstie.
    pub fn ours(error: impl Display) -> Failure {
        Failure::Ours(error.to_string())
    }
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Failure {
        match error {
            ResultsError::Io { .. }
            | ResultsError::Busy { .. }
            | ResultsError::Taken { .. }
            | ResultsError::Damaged { .. } => Failure::user(error),
            ResultsError::Study(mistake) => Failure::rendered(mistake.render(false)),
            // Results that the study cannot have: one part of Crosstie misled another.
            ResultsError::NoSuchPoint { .. }
            | ResultsError::NotFinite { .. }
            | ResultsError::Foreign { .. } => Failure::ours(error),
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Failure {
        Failure::user(error)
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        match error {
            LabError::Results(error) => error.into(),
            error if error.is_the_users() => Failure::user(error),
            error => Failure::ours(error),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Failure {
        match error {
            WriteError::Results(error) => error.into(),
            refused => Failure::user(refused),
        }
    }
}

/// The exit code, and what is left to say on stderr.
fn last_words(exit: Exit) -> (u8, Option<String>) {
    match exit {
        Ok(Answer::Yes) => (0, None),
        Ok(Answer::No) => (1, None),
        Ok(Answer::Interrupted) => (interrupt::CODE, None),
        Ok(Answer::Code(code)) => (code, None),
        Err(Failure::User(text)) => (2, Some(text)),
        Err(Failure::Ours(text)) => (3, Some(bug(&text))),
    }
}

/// Runs the command to its exit code. A panic, on any thread, is a defect and told as one.
pub fn conclude(command: impl FnOnce() -> Exit) -> ExitCode {
    // A thread that panics makes the one that waits for it panic too; the first is the one to tell.
    let first = Once::new();
    panic::set_hook(Box::new(move |info| {
        first.call_once(|| console::complain(&bug(&told(info))));
    }));
    ExitCode::from(guarded(|| {
        let (code, words) = last_words(command());
        words.inspect(|words| console::complain(words));
        code
    }))
}

/// The code of a command, 3 if it panics.
fn guarded(command: impl FnOnce() -> u8) -> u8 {
    // Nothing is used after a panic but the exit code.
    panic::catch_unwind(AssertUnwindSafe(command)).unwrap_or(3)
}

/// What a panic said, and where.
fn told(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("a panic without a message");
    match info.location() {
        Some(place) => format!("{message}\n  at {}:{}", place.file(), place.line()),
        None => message.to_owned(),
    }
}

fn bug(message: &str) -> String {
    format!(
        "crosstie {} went wrong: {message}\n\
         This is a bug in Crosstie, not in your input. Please report it, with the command line and \
         the files it read, at {}/issues",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_REPOSITORY"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_code() {
        for (exit, code, words) in [
            (Ok(Answer::Yes), 0, None),
            (Ok(Answer::No), 1, None),
            (Ok(Answer::Interrupted), 130, None),
            (Ok(Answer::Code(7)), 7, None),
            (Err(Failure::user("no such file")), 2, Some("error: no such file".to_owned())),
            (Err(Failure::ours("lost")), 3, Some(bug("lost"))),
        ] {
            assert_eq!(last_words(exit), (code, words));
        }
    }

    #[test]
    fn a_panic_is_our_bug() {
        assert_eq!(guarded(|| panic!("the queue was empty")), 3);
        let text = bug("the queue was empty");
        assert!(text.contains("the queue was empty\nThis is a bug in Crosstie"), "{text}");
        assert!(text.contains("/issues"), "{text}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_the_users_to_mend() {
        let path = "results".into();
        assert!(matches!(ResultsError::Busy { path }.into(), Failure::User(_)));
        assert!(matches!(
            ResultsError::NoSuchPoint { point: 7, points: 7 }.into(),
            Failure::Ours(_)
        ));
    }
}
