//! Profiles by name, and what files say otherwise.

use crosstie_protocol::channel::Recommended;
use crosstie_protocol::{Headers, Profile, ProfileKind};
use crosstie_study::{ChannelKind, PolicyKind, Spec, Study};
use crosstie_units::{Bytes, Time};

const PING: &str = "title = 'x'\nseed = 1\nfabric.single.hosts = 2\nwork.ping.size = '8 B'\n";

/// The only point of an experiment, which its text and that with every default tell alike.
fn spec(keys: &str) -> Spec {
    let text = format!("{PING}{keys}\n");
    let study = Study::parse("x", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
    let again =
        Study::parse("again", &study.to_toml()).unwrap_or_else(|mistake| panic!("{mistake}"));
    assert_eq!(again.points(), study.points());
    let spec = study.points()[0].spec.clone();
    assert_eq!(Spec::from_toml("spec", &spec.to_toml()).unwrap(), spec);
    spec
}

fn profile(keys: &str) -> Option<Profile> {
    spec(keys).profile(&Recommended::LIVE)
}

#[test]
fn messages_go_by_the_profile_of_real_ranks_in_every_world() {
    assert_eq!(profile(""), None);
    for world in ["wormhole", "frame", "ideal", "model", "live"] {
        for keys in ["profile = 'live'", "message = {}"] {
            let keys = format!("world = '{world}'\n{keys}");
            assert_eq!(profile(&keys), Some(Profile::live()), "{keys}");
            assert_eq!(spec(&keys).policy, PolicyKind::recommended());
        }
    }
    assert_eq!(profile("world = 'live'"), Some(Profile::live()));
}

#[test]
fn a_paper_has_a_profile_of_its_own() {
    for kind in [ProfileKind::Liu, ProfileKind::Tports] {
        let keys = format!("world = 'frame'\nprofile = '{}'", kind.name());
        assert_eq!(profile(&keys), Some(Profile::of(kind)));
        let found = spec(&keys);
        assert_eq!((found.channel, found.nic.patience), (ChannelKind::Raw {}, None));
        assert_eq!((found.nic.overhead, found.nic.control), (Bytes::new(0), Bytes::new(48)));
    }
}

#[test]
fn keys_override_single_settings() {
    let names = |keys: &str| -> Vec<&str> {
        let found = profile(&format!("world = 'frame'\n{keys}")).expect("a profile");
        found.overrides().iter().map(|setting| setting.0).collect()
    };
    assert_eq!(names("message.eager = '1 KiB'"), ["eager", "credit"]);
    assert_eq!(names("message.credit = '1 MiB'"), ["credit"]);
    assert_eq!(names("message.fin = true"), ["fin"]);
    assert_eq!(names("profile = 'liu'\nmessage.fin = false"), ["fin"]);
    assert_eq!(names("message = {}\nnic.overhead = '0 B'"), ["headers"]);
    assert_eq!(names("message.envelope = '32 B'"), ["headers"]);
    assert_eq!(names("message = {}\nnic.control = '64 B'"), ["control packets"]);
    assert_eq!(names("message = {}\nchannel = 'go-back-n'"), ["channel", "packets"]);
    assert_eq!(names("message = {}\nnic.patience.least = '1 ms'"), ["silence"]);
    assert_eq!(names("message = {}\nnic.patience.give-up = '1 s'"), ["give-up", "probe"]);
    // A raw channel has no acknowledgements to wait for.
    let raw = names("message = {}\nchannel = 'raw'");
    assert_eq!(raw, ["channel", "silence", "give-up", "probe", "packets"]);
    let found =
        profile("world = 'frame'\nmessage = {}\nnic = {overhead = '20 B', control = '64 B'}");
    let Headers { network, datagram, pack, sack, greeting, .. } = found.unwrap().headers;
    assert_eq!((network, datagram), (0, 20));
    assert_eq!((pack, sack, greeting), (64, 64, 64));
}

#[test]
fn what_nobody_writes_of_patience_is_as_in_the_profile() {
    let least = |keys: &str| spec(&format!("world = 'frame'\n{keys}")).nic.patience;
    let live = least("message = {}\nnic.patience = {}").unwrap();
    assert_eq!((live.round_trips, live.least), (4, Time::from_ns(20_000_000)));
    assert_eq!(live.give_up, Time::from_ns(5_000_000_000));
    let liu = least("profile = 'liu'\nchannel = 'go-back-n'\nnic.patience = {}").unwrap();
    assert_eq!((liu.round_trips, liu.least), (8, Time::from_ns(1_000_000)));
    assert_eq!(least("profile = 'liu'\nchannel = 'go-back-n'"), None);
}

#[test]
fn a_row_tells_the_profile_unless_a_paper_has_it() {
    use crosstie_study::{Row, Status};
    let row = |keys: &str| {
        let text = format!("{PING}world = 'frame'\n{keys}\n");
        let study = Study::parse("x", &text).unwrap();
        let row = Row::of(&study.points()[0], Status::Completed, String::new(), Vec::new());
        serde_json::to_value(row).unwrap().get("profile").cloned()
    };
    assert_eq!(row("message = {}"), Some("live".into()));
    assert_eq!(row("sweep.product.profile = ['live', 'liu']"), Some("live".into()));
    assert_eq!((row("profile = 'liu'"), row("")), (None, None));
}
