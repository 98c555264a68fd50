//! How ranks exchange messages, as one value: what real ranks run, and what simulated ones can.

use crosstie_units::Time;

use crate::Patience;
use crate::channel::{ChannelKind, ChannelSpec, Recommended, SelectiveSpec};
use crate::message::MessageSpec;

/// What a rank does with messages, and with the packets of which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Eager and rendezvous, order, credit, probes.
    pub message: MessageSpec,
    /// How what a network loses is sent again.
    pub channel: ChannelSpec,
    /// How long rails and ranks may be silent; `None`: for ever.
    pub patience: Option<Patience>,
    /// The queue that is kept ahead of a rail, as the time that the rail takes for it: a rank may
    /// be busy for so long with something else. Packets grow as long as they are a small part of
    /// it; see [`Ahead`](crate::Ahead).
    pub ahead: Time,
}

impl Profile {
    /// How long a rail may be silent before its packets go again on others: longer than a rank that
    /// computes lets its peers wait.
    const SILENCE: Time = Time::from_ns(20_000_000);

    /// How long there may be no way to a rank before it is given up.
    const GIVE_UP: Time = Time::from_ns(5_000_000_000);

    /// The longest message that is sent without asking.
    const EAGER: u64 = 16 << 10;

    /// What real ranks run. Messages are opened as they come, since order matters only for what is
    /// matched, and receivers see themselves that data are in place.
    pub fn live() -> Profile {
        Profile {
            message: MessageSpec { strict: false, fins: false, ..MessageSpec::new(Profile::EAGER) },
            channel: SelectiveSpec::LIVE.into(),
            patience: Some(Patience {
                round_trips: 4,
                least: Profile::SILENCE,
                ..Patience::default()
            }),
            ahead: SelectiveSpec::LIVE.ahead,
        }
        .giving_up(Profile::GIVE_UP)
    }

    /// The same with messages of up to so many bytes sent without asking, and the credit that goes
    /// with them.
    pub fn with_eager(self, eager: u64) -> Profile {
        let MessageSpec { credit, .. } = MessageSpec::new(eager);
        Profile { message: MessageSpec { eager, credit, ..self.message }, ..self }
    }

    /// The same with another channel. Keys that it leaves out are as recommended between real
    /// hosts; `raw` is no channel, and changes nothing.
    pub fn with_channel(self, kind: &ChannelKind) -> Profile {
        Profile { channel: kind.spec(&Recommended::LIVE).unwrap_or(self.channel), ..self }
    }

    /// The same, but a rank to which there is no way is given up after so long. Ranks that wait for
    /// one to which nothing is under way probe it ten times meanwhile.
    pub fn giving_up(self, after: Time) -> Profile {
        let patience = self.patience.map(|patience| Patience { give_up: after, ..patience });
        let probe = patience.map(|_| Time::from_ps(after.ps() / 10));
        Profile { message: MessageSpec { probe, ..self.message }, patience, ..self }
    }

    /// The same without end: nobody is given up or probed, and no rail is taken for dead.
    pub fn patient(self) -> Profile {
        Profile { message: MessageSpec { probe: None, ..self.message }, patience: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_override_what_real_ranks_run() {
        let live = Profile::live();
        assert_eq!(live.message.credit, MessageSpec::new(16 << 10).credit);
        assert_eq!(live.message.probe, Some(Time::from_ns(500_000_000)));
        let short = live.with_eager(0);
        assert_eq!((short.message.eager, short.message.credit), (0, 1 << 16));
        assert!(!short.message.strict && !short.message.fins);
        let window =
            ChannelKind::GoBackN { window: 11, timeout: None, acknowledge: Default::default() };
        assert_eq!(live.with_channel(&window).channel.widest(), 11);
        assert_eq!(live.with_channel(&ChannelKind::Raw {}), live);
        let soon = live.giving_up(Time::from_ns(1000));
        let (probe, give_up) = (soon.message.probe, soon.patience.map(|it| it.give_up));
        assert_eq!((probe, give_up), (Some(Time::from_ns(100)), Some(Time::from_ns(1000))));
        assert_eq!(soon.patient().giving_up(Time::from_ns(1)), live.patient());
    }
}
