//! Applications on live ranks: how the machines of `crosstie-work` are driven, whatever carries
//! their messages.
//!
//! | file | is |
//! |---|---|
//! | `messages` | the driver whose messages are those of a `Comm` |
//! | `frames` | the driver whose messages are the frames of a raw endpoint |
//! | `patience` | how a rank with a raw endpoint waits |

mod frames;
mod messages;
mod patience;

pub(super) use frames::on_frames;
pub(super) use messages::on_messages;

use crosstie_units::Time;
use crosstie_work::{Action, Application, Input, Note, Rank, Request, Step, Turn};

use super::RankError;

/// What a rank has written down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Played {
    /// How long iterations took.
    pub iterations: Vec<Time>,
    /// What else was measured.
    pub notes: Vec<Note>,
}

/// Does what a rank has to do.
trait Driver {
    /// The time it is.
    fn now(&self) -> Time;

    /// Begins an operation.
    fn begin(&mut self, request: Request, step: Step) -> Result<(), RankError>;

    /// Waits until an operation is done, and returns which; `None` if a time has come before.
    fn next_done(&mut self, until: Option<Time>) -> Result<Option<Request>, RankError>;
}

/// Does what an application has a rank do, until it says that the rank has finished.
fn play(
    driver: &mut impl Driver,
    rank: Rank,
    application: &mut dyn Application,
) -> Result<Played, RankError> {
    let mut played = Played::default();
    application.handle(driver.now(), Input::Begin { rank });
    loop {
        let now = driver.now();
        while let Some(action) = application.poll_action(now) {
            match action {
                Action::Begin { rank: other, request, op, watched, turn } if other == rank => {
                    driver.begin(request, op.step)?;
                    if watched {
                        application.handle(driver.now(), Input::Started { rank, request, turn });
                    }
                }
                Action::Iteration { rank: other, took } if other == rank => {
                    played.iterations.push(took);
                }
                Action::Note { rank: other, note } if other == rank => played.notes.push(note),
                Action::Finish { rank: other } if other == rank => return Ok(played),
                // Of other ranks: an application may play all of them.
                _ => {}
            }
        }
        let until = application.poll_timeout();
        if let Some(request) = driver.next_done(until)? {
            let turn = Turn::default();
            application.handle(driver.now(), Input::Done { rank, request, turn });
        } else {
            assert!(until.is_some(), "an application waits for an operation or for a time");
            application.handle_timeout(driver.now());
        }
    }
}
