//! How ranks exchange messages: the profile that a file names, and what it says otherwise.

use crosstie_protocol::channel::Recommended;
use crosstie_protocol::{self as protocol, ChannelKind, Headers, Profile, ProfileKind};
use crosstie_units::Bytes;
use toml::de::DeTable;

use super::{Message, Nic, Patience, Spec, usual_channel};
use crate::document;

/// The keys of a file that a profile has defaults for.
pub(super) struct Written {
    pub message: Option<Message>,
    pub channel: Option<ChannelKind>,
    pub nic: Nic,
}

/// The same, completed.
pub(super) struct Settings {
    pub message: Option<Message>,
    pub channel: ChannelKind,
    pub nic: Nic,
}

impl Written {
    /// Fills in what `root` does not say. Without a profile nothing depends on one.
    pub fn complete(self, profile: Option<ProfileKind>, root: &DeTable<'_>) -> Settings {
        let Written { message, channel, mut nic } = self;
        let channel = channel.unwrap_or_else(|| usual_channel(profile));
        let Some(kind) = profile else { return Settings { message: None, channel, nic } };
        let lacks = |key: &str| !document::has(root, key);
        let usual = Message::of(kind);
        let mut message = message.unwrap_or_else(|| usual.clone());
        if lacks("message.eager") {
            message.eager = usual.eager;
        }
        if lacks("message.envelope") {
            message.envelope = usual.envelope;
        }
        if lacks("message.strict") {
            message.strict = usual.strict;
        }
        if lacks("message.fin") {
            message.fin = usual.fin;
        }
        if lacks("message.synchronous") {
            message.synchronous = usual.synchronous;
        }
        let Profile { headers, patience, .. } = Profile::of(kind);
        if lacks("nic.overhead") {
            nic.overhead = Bytes::new(headers.overhead().into());
        }
        if lacks("nic.control") {
            nic.control = control(&headers);
        }
        // A raw channel has no acknowledgements to wait for.
        let patience = patience.filter(|_| channel != ChannelKind::Raw {});
        if let Some(protocol::Patience { round_trips, least, give_up, .. }) = patience {
            let own = nic.patience.get_or_insert(Patience { round_trips, least, give_up });
            if lacks("nic.patience.round-trips") {
                own.round_trips = round_trips;
            }
            if lacks("nic.patience.least") {
                own.least = least;
            }
            if lacks("nic.patience.give-up") {
                own.give_up = give_up;
            }
        }
        Settings { message: Some(message), channel, nic }
    }
}

/// The shortest packet that NICs send to each other.
fn control(headers: &Headers) -> Bytes {
    Bytes::new(headers.pack.into())
}

impl Spec {
    /// How its ranks exchange messages, in full; `None`: they do not. `network` is what their
    /// network recommends for keys of channels that are not written.
    pub fn profile(&self, network: &Recommended) -> Option<Profile> {
        let (kind, message) = (self.profile?, self.message.as_ref()?);
        let usual = Profile::of(kind);
        let profile = usual.with_eager(message.eager.get());
        let profile = message.credit.map_or(profile, |credit| profile.with_credit(credit.get()));
        let patience = self.nic.patience.map(|Patience { round_trips, least, give_up }| {
            protocol::Patience { round_trips, least, give_up, ..Default::default() }
        });
        let recommended = kind.recommended().map_or(*network, |own| own.on(network));
        Some(
            profile
                .with_synchronous(message.synchronous)
                .with_order(message.strict, message.fin)
                .with_patience(patience)
                .with_channel_of(self.channel, &recommended)
                .with_headers(self.headers(usual.headers, message)),
        )
    }

    /// What packets have besides messages.
    fn headers(&self, usual: Headers, message: &Message) -> Headers {
        // The ranges of the experiment file lie within the types.
        let bytes = |size: Bytes| size.get() as u32;
        let overhead = bytes(self.nic.overhead);
        let datagram = usual.datagram.min(overhead);
        let headers = Headers {
            network: overhead - datagram,
            datagram,
            envelope: bytes(message.envelope),
            ..usual
        };
        let control = bytes(self.nic.control);
        match control == usual.pack {
            true => headers,
            false => Headers { pack: control, sack: control, greeting: control, ..headers },
        }
    }

    /// The profile of its ranks for people: each setting by name, its value, and what it is by the
    /// profile's name where the file overrides it.
    pub fn settings_of_profile(&self) -> Vec<(&'static str, String, Option<String>)> {
        let Some(profile) = self.profile(&Recommended::LIVE) else { return Vec::new() };
        let usual = Profile::of(profile.kind).settings();
        let settings = profile.settings().into_iter().zip(usual);
        settings
            .map(|((name, value), (_, usual))| {
                // Without a network it is not known what stands for keys that are not written.
                let is_open = name == "channel" && profile.kind.recommended().is_none();
                let value = if is_open { self.channel.name().to_owned() } else { value };
                let usual = if is_open { profile.kind.channel().name().to_owned() } else { usual };
                let overridden = (value != usual).then_some(usual);
                (name, value, overridden)
            })
            .collect()
    }
}
