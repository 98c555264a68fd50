//! Work on real ranks: how the machines of `crosstie-work` are played, whatever carries their
//! messages.

use crosstie_units::Time;
use crosstie_work::{Action, Application, Input, Note, Rank, Request, Step, Turn};

/// What a rank has written down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Played {
    /// How long iterations took.
    pub iterations: Vec<Time>,
    /// What else was measured.
    pub notes: Vec<Note>,
}

/// Who does what a rank has to do.
pub(crate) trait Player {
    /// Why it cannot be done.
    type Error;

    /// The time it is.
    fn now(&self) -> Time;

    /// Begins an operation.
    fn begin(&mut self, request: Request, step: Step) -> Result<(), Self::Error>;

    /// Waits until an operation is done, or until a time; which.
    fn next_done(&mut self, until: Option<Time>) -> Result<Option<Request>, Self::Error>;
}

/// Does what an application has a rank do, until it says that the rank has finished.
pub(crate) fn play<P: Player>(
    player: &mut P,
    rank: Rank,
    application: &mut dyn Application,
) -> Result<Played, P::Error> {
    let mut played = Played::default();
    application.handle(player.now(), Input::Begin { rank });
    loop {
        let now = player.now();
        while let Some(action) = application.poll_action(now) {
            match action {
                Action::Begin { rank: who, request, op, watched, turn } if who == rank => {
                    player.begin(request, op.step)?;
                    if watched {
                        application.handle(player.now(), Input::Started { rank, request, turn });
                    }
                }
                Action::Iteration { rank: who, took } if who == rank => {
                    played.iterations.push(took);
                }
                Action::Note { rank: who, note } if who == rank => played.notes.push(note),
                Action::Finish { rank: who } if who == rank => return Ok(played),
                // Of other ranks: an application may play all of them.
                _ => {}
            }
        }
        if let Some(request) = player.next_done(application.poll_timeout())? {
            let turn = Turn::default();
            application.handle(player.now(), Input::Done { rank, request, turn });
        } else {
            application.handle_timeout(player.now());
        }
    }
}
