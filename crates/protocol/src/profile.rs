//! How ranks exchange messages, as one value: what real ranks run, what simulated ones run by the
//! same name, and what papers have instead.

use std::fmt;

use crosstie_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::channel::{ChannelKind, ChannelSpec, GoBackNSpec, Recommended, SelectiveSpec};
use crate::message::MessageSpec;
use crate::{Ahead, Headers, Patience};

/// The name of a profile, as files spell it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileKind {
    /// What real ranks run.
    #[default]
    Live,
    /// What Liu et al. describe.
    Liu,
    /// Tagged ports of Elans.
    Tports,
}

impl ProfileKind {
    /// All of them.
    pub const ALL: [ProfileKind; 3] = [ProfileKind::Live, ProfileKind::Liu, ProfileKind::Tports];

    /// The name, as files spell it.
    pub fn name(self) -> &'static str {
        match self {
            ProfileKind::Live => "live",
            ProfileKind::Liu => "liu",
            ProfileKind::Tports => "tports",
        }
    }

    /// What it is, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            ProfileKind::Live => {
                "What real ranks run: CTS are opened as they come, receivers see themselves that data \
                 are in place, a selective channel makes good what rails lose, and packets grow with \
                 the rate of their path."
            }
            ProfileKind::Liu => {
                "Ranks on adapters that lose nothing and write data where they belong: all envelopes \
                 are opened in order, and FINs tell that data are in place [liu, 4]."
            }
            ProfileKind::Tports => {
                "Tagged ports of Elans, whose NICs match messages: events tell that data are in \
                 place, and only what is matched has an order."
            }
        }
    }

    /// Returns true if a paper has it, and not what real ranks run.
    pub fn is_of_paper(self) -> bool {
        match self {
            ProfileKind::Live => false,
            ProfileKind::Liu | ProfileKind::Tports => true,
        }
    }

    /// The channel where none is named.
    pub fn channel(self) -> ChannelKind {
        match self {
            ProfileKind::Live => ChannelKind::Selective { least: None, ahead: None, after: None },
            ProfileKind::Liu | ProfileKind::Tports => ChannelKind::Raw {},
        }
    }

    /// What stands for keys of channels that are not given; `None`: what the network recommends.
    pub fn recommended(self) -> Option<Recommended> {
        match self {
            ProfileKind::Live => Some(Recommended::LIVE),
            ProfileKind::Liu | ProfileKind::Tports => None,
        }
    }
}

/// Which packets carry acknowledgements for those that go the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rides {
    /// All of them.
    All,
    /// Messages in one datagram. Others have no room for it.
    Whole,
}

/// Datagrams that leave together, as one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Train {
    /// The most of them.
    pub datagrams: u32,
    /// The most bytes of all of them.
    pub bytes: u32,
}

impl Train {
    /// What real rails take at once, where the kernel cuts a train into its datagrams.
    pub const LIVE: Train = Train { datagrams: 64, bytes: 65_000 };

    /// One datagram, however long it is.
    pub const ONE: Train = Train { datagrams: 1, bytes: u32::MAX };
}

/// What a rank does with messages, and with the packets of which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// What it is called, single settings aside.
    pub kind: ProfileKind,
    /// Eager and rendezvous, order, credit, probes.
    pub message: MessageSpec,
    /// How what a network loses is sent again; `None`: it is lost.
    pub channel: Option<ChannelSpec>,
    /// How long rails and ranks may be silent; `None`: for ever.
    pub patience: Option<Patience>,
    /// How often a rank to which nothing is under way is probed by one that waits for it, before it
    /// is given up.
    pub probes: u32,
    /// The queue that is kept ahead of a rail, as the time that the rail takes for it: a rank may
    /// be busy for so long with something else. Packets grow as long as they are a small part of
    /// it; see [`Ahead`].
    pub ahead: Time,
    /// How long packets become at most.
    pub train: Train,
    /// Which packets carry acknowledgements.
    pub rides: Rides,
    /// True if the first packet on a path waits for the answer to a greeting.
    pub greets: bool,
    /// What packets have besides the bytes of messages.
    pub headers: Headers,
}

impl Profile {
    /// How long a rail may be silent before its packets go again on others: longer than a rank that
    /// computes lets its peers wait.
    const SILENCE: Time = Time::from_ns(20_000_000);

    /// How long there may be no way to a rank before it is given up.
    const GIVE_UP: Time = Time::from_ns(5_000_000_000);

    /// The longest message that is sent without asking.
    const EAGER: u64 = 16 << 10;

    /// The profile of a name.
    pub fn of(kind: ProfileKind) -> Profile {
        let message = MessageSpec::new(Profile::EAGER);
        match kind {
            // Messages are opened as they come, since order matters only for what is matched, and
            // receivers see themselves that data are in place.
            ProfileKind::Live => Profile {
                kind,
                message: MessageSpec { strict: false, fins: false, ..message },
                channel: kind.channel().spec(&Recommended::LIVE),
                patience: Some(Patience {
                    round_trips: 4,
                    least: Profile::SILENCE,
                    ..Patience::default()
                }),
                probes: 10,
                ahead: SelectiveSpec::LIVE.ahead,
                train: Train::LIVE,
                rides: Rides::Whole,
                greets: true,
                headers: Headers::CODEC,
            }
            .giving_up(Profile::GIVE_UP),
            ProfileKind::Liu => Profile {
                kind,
                message,
                channel: None,
                patience: None,
                probes: 1,
                ahead: Time::ZERO,
                train: Train::ONE,
                rides: Rides::All,
                greets: false,
                headers: Headers::ADAPTER,
            },
            ProfileKind::Tports => Profile {
                kind,
                message: MessageSpec { strict: false, fins: false, ..message },
                ..Profile::of(ProfileKind::Liu)
            },
        }
    }

    /// What real ranks run.
    pub fn live() -> Profile {
        Profile::of(ProfileKind::Live)
    }

    /// The same with messages of up to `eager` bytes sent without asking, and the credit that goes
    /// with them.
    pub fn with_eager(self, eager: u64) -> Profile {
        let MessageSpec { credit, .. } = MessageSpec::new(eager);
        Profile { message: MessageSpec { eager, credit, ..self.message }, ..self }
    }

    /// The same with `credit` bytes of short messages that a rank keeps for each other one.
    pub fn with_credit(self, credit: u64) -> Profile {
        Profile { message: MessageSpec { credit, ..self.message }, ..self }
    }

    /// The same, in which every message waits for its receive if `synchronous`.
    pub fn with_synchronous(self, synchronous: bool) -> Profile {
        Profile { message: MessageSpec { synchronous, ..self.message }, ..self }
    }

    /// The same with another order of envelopes, and with or without FINs.
    pub fn with_order(self, strict: bool, fins: bool) -> Profile {
        Profile { message: MessageSpec { strict, fins, ..self.message }, ..self }
    }

    /// The same with another channel. Keys that it leaves out are as recommended between real
    /// hosts.
    pub fn with_channel(self, kind: ChannelKind) -> Profile {
        self.with_channel_of(kind, &Recommended::LIVE)
    }

    /// The same with another channel, on a network that recommends something for keys that it
    /// leaves out.
    pub fn with_channel_of(self, kind: ChannelKind, recommended: &Recommended) -> Profile {
        Profile { channel: kind.spec(recommended), ..self }
    }

    /// The same with another patience, or none.
    pub fn with_patience(self, patience: Option<Patience>) -> Profile {
        let probes = u64::from(self.probes);
        let probe = patience.map(|patience| Time::from_ps(patience.give_up.ps() / probes));
        Profile { message: MessageSpec { probe, ..self.message }, patience, ..self }
    }

    /// The same with other headers.
    pub fn with_headers(self, headers: Headers) -> Profile {
        Profile { headers, ..self }
    }

    /// The same, but a rank to which there is no way is given up after so long.
    pub fn giving_up(self, after: Time) -> Profile {
        self.with_patience(self.patience.map(|patience| Patience { give_up: after, ..patience }))
    }

    /// The same without end: no peer is given up or probed, and no rail is taken for dead.
    pub fn patient(self) -> Profile {
        self.with_patience(None)
    }

    /// How many datagrams a packet may have where they have up to `longest` bytes, on a rail that
    /// takes such trains. A window that finds itself counts bytes; one that is given counts
    /// packets, each of which is to be a frame.
    pub fn parts(&self, longest: u32, rail: Train) -> u32 {
        if !matches!(self.channel, Some(ChannelSpec::Selective(_))) {
            return 1;
        }
        // Also if it has to be cut into shorter datagrams.
        let fits = rail.bytes.min(self.train.bytes);
        let fits = (fits - fits / 16) / longest.max(1);
        rail.datagrams.min(self.train.datagrams).min(fits).max(1)
    }

    /// What a node keeps ahead of its rails, whose packets may have `parts` datagrams; `None`:
    /// nothing.
    pub fn ahead(&self, parts: u32) -> Option<Ahead> {
        let is_some = self.ahead > Time::ZERO;
        (is_some && self.channel.is_some()).then_some(Ahead { time: self.ahead, most: parts })
    }

    /// Every setting, by name, and its value as text.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let MessageSpec { eager, credit, strict, fins, synchronous, probe, .. } = self.message;
        let bytes = |bytes: u64| Bytes::new(bytes).to_string();
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let time = |time: Option<Time>| time.map_or("never".to_owned(), |time| time.to_string());
        let Headers { network, datagram, envelope, piece, .. } = self.headers;
        let Headers { pack, sack, greeting, .. } = self.headers;
        let patience = |show: fn(&Patience) -> String| {
            self.patience.as_ref().map_or("for ever".to_owned(), show)
        };
        let grows = self.ahead > Time::ZERO && self.parts(1, self.train) > 1;
        let packets = match grows {
            true => format!(
                "up to {} datagrams of {} in all",
                self.train.datagrams,
                bytes(self.train.bytes.into())
            ),
            false => "one datagram".to_owned(),
        };
        vec![
            ("eager", bytes(eager)),
            ("credit", bytes(credit)),
            ("synchronous", yes(synchronous)),
            ("strict", yes(strict)),
            ("fin", yes(fins)),
            ("channel", self.channel.map_or("none".to_owned(), |channel| channel.to_string())),
            ("silence", patience(|it| format!("{} round trips, {}", it.round_trips, it.least))),
            ("give-up", patience(|it| it.give_up.to_string())),
            ("probe", time(probe)),
            ("ahead", self.ahead.to_string()),
            ("packets", packets),
            (
                "acknowledgements ride on",
                match self.rides {
                    Rides::All => "every packet",
                    Rides::Whole => "messages in one datagram",
                }
                .to_owned(),
            ),
            ("greeting", yes(self.greets)),
            (
                "headers",
                format!(
                    "{} and {}, envelope {}, piece {}",
                    bytes(network.into()),
                    bytes(datagram.into()),
                    bytes(envelope.into()),
                    bytes(piece.into())
                ),
            ),
            (
                "control packets",
                format!(
                    "pack {}, sack {}, greeting {}",
                    bytes(pack.into()),
                    bytes(sack.into()),
                    bytes(greeting.into())
                ),
            ),
        ]
    }

    /// The settings in which it is not what its name says.
    pub fn overrides(&self) -> Vec<(&'static str, String)> {
        let usual = Profile::of(self.kind).settings();
        self.settings().into_iter().filter(|setting| !usual.contains(setting)).collect()
    }
}

impl fmt::Display for ChannelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChannelSpec::GoBackN(GoBackNSpec { window, timeout, every, after, simple }) => {
                let name = if *simple { "simple-go-back-n" } else { "go-back-n" };
                write!(
                    f,
                    "{name}, window {window}, time-out {timeout}, acknowledges {every} packets"
                )?;
                if *every > 1 { write!(f, " or after {after}") } else { Ok(()) }
            }
            ChannelSpec::Selective(SelectiveSpec { least, ahead, after, .. }) => {
                write!(
                    f,
                    "selective, least time-out {least}, {ahead} ahead, acknowledges after {after}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::declared;

    #[test]
    fn names_are_those_that_files_use() {
        let names = ProfileKind::ALL.map(ProfileKind::name);
        assert_eq!(declared::choices::<ProfileKind>(), names);
        for kind in ProfileKind::ALL {
            let sentence = kind.sentence();
            assert!(sentence.ends_with('.') && sentence.starts_with(char::is_uppercase));
            let profile = Profile::of(kind);
            assert_eq!(profile.kind, kind);
            assert_eq!(profile.overrides(), []);
            let channel = profile.with_channel(kind.channel());
            assert_eq!(channel, profile, "the channel that nobody has to name");
        }
    }

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
        assert_eq!(live.with_channel(window).channel.map(|channel| channel.widest()), Some(11));
        assert_eq!(live.with_channel(ChannelKind::Raw {}).channel, None);
        let soon = live.giving_up(Time::from_ns(1000));
        let (probe, give_up) = (soon.message.probe, soon.patience.map(|it| it.give_up));
        assert_eq!((probe, give_up), (Some(Time::from_ns(100)), Some(Time::from_ns(1000))));
        assert_eq!(soon.patient().giving_up(Time::from_ns(1)), live.patient());
    }

    #[test]
    fn every_setting_is_told_and_what_is_overridden() {
        let live = Profile::live();
        let told = |profile: &Profile| -> Vec<&str> {
            profile.overrides().iter().map(|(name, _)| *name).collect()
        };
        assert_eq!(told(&live.with_eager(1 << 10)), ["eager", "credit"]);
        assert_eq!(told(&live.with_synchronous(true)), ["synchronous"]);
        assert_eq!(told(&live.with_order(true, false)), ["strict"]);
        assert_eq!(told(&live.with_order(false, true)), ["fin"]);
        assert_eq!(told(&live.patient()), ["silence", "give-up", "probe"]);
        let wide = Headers { network: 48, ..Headers::CODEC };
        assert_eq!(told(&live.with_headers(wide)), ["headers"]);
        let long = Headers { sack: 200, ..Headers::CODEC };
        assert_eq!(told(&live.with_headers(long)), ["control packets"]);
        // Without a channel nothing grows, either.
        assert_eq!(told(&live.with_channel(ChannelKind::Raw {})), ["channel", "packets"]);
        let window =
            ChannelKind::GoBackN { window: 8, timeout: None, acknowledge: Default::default() };
        assert_eq!(told(&live.with_channel(window)), ["channel", "packets"]);
        let rest = Profile { ahead: Time::from_ns(9), rides: Rides::All, greets: false, ..live };
        assert_eq!(told(&rest), ["ahead", "acknowledgements ride on", "greeting"]);
    }

    #[test]
    fn packets_grow_where_a_window_counts_bytes() {
        let live = Profile::live();
        assert_eq!(live.parts(1472, Train::LIVE), 41);
        assert_eq!(live.parts(1472, Train { datagrams: 8, ..Train::LIVE }), 8);
        assert_eq!(live.parts(60_000, Train::LIVE), 1);
        let window =
            ChannelKind::GoBackN { window: 8, timeout: None, acknowledge: Default::default() };
        assert_eq!(live.with_channel(window).parts(1472, Train::LIVE), 1);
        let liu = Profile::of(ProfileKind::Liu);
        assert_eq!((liu.parts(1472, Train::LIVE), liu.ahead(1)), (1, None));
    }
}
