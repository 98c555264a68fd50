//! Whether real ranks can do what is asked of them.

use crosstie_box::MOST_HOSTS;
use crosstie_protocol::{ChannelKind, PolicyKind, ProfileKind};
use crosstie_units::Bytes;

use super::{Clash, Spec, Work, World, clash};
use crate::spec::Live;

/// The longest message that real ranks send before anybody has asked for it.
const MOST_EAGER: Bytes = Bytes::new(1 << 16);

/// Checks all of it. Where ranks run is checked always, what they are asked for when that is their
/// world.
pub(super) fn check(spec: &Spec) -> Result<(), Clash> {
    place(&spec.live)?;
    if spec.world != World::Live {
        return Ok(());
    }
    let hosts = spec.fabric.hosts().filter(|&hosts| spec.live.own_box && hosts > MOST_HOSTS);
    if let Some(hosts) = hosts {
        let label = format!("found {hosts} hosts in `fabric`, expected at most {MOST_HOSTS}");
        return Err(clash("live.own-box", "more hosts than a box can have", label)
            .help("take a smaller `fabric`, or choose another world"));
    }
    let ports = spec.cluster.rails.ports();
    if spec.live.own_box && ports.iter().max().is_some_and(|&last| last as usize + 1 < ports.len())
    {
        let label = "found rails that share a port, expected one for each";
        return Err(clash("cluster.rails", "a box has no such ports", label)
            .help("leave `port` out, or choose another world"));
    }
    if matches!(spec.work, Work::Traffic(_)) {
        let title = "open-loop traffic on real hosts";
        return Err(clash("world", title, "expected work that ends: ranks do that")
            .help("replace `traffic` by `work`, or choose another world"));
    }
    if !spec.events.is_empty() {
        let title = "links that change on real hosts";
        let label = "found events, expected them in the file of a box";
        return Err(clash("event", title, label)
            .help("write events into the file that `live.box` names, or choose another world"));
    }
    if spec.policy.reserves() {
        let title = "a policy that reserves the NICs of receivers";
        let names: Vec<&str> = PolicyKind::live().map(|kind| kind.name()).collect();
        let label = format!("found {}, which real rails cannot do", spec.policy.name());
        return Err(clash("policy", title, label)
            .help(format!("choose one of {}, or another world", names.join(", "))));
    }
    if let Some(profile) = spec.profile.filter(|&profile| profile != ProfileKind::Live) {
        let title = "a profile that real ranks do not run";
        let label = format!("found {}, expected {}", profile.name(), ProfileKind::Live.name());
        return Err(clash("profile", title, label).help("remove it, or choose another world"));
    }
    if spec.channel == (ChannelKind::Raw {}) {
        let label = "found raw, expected a channel: real rails lose packets";
        return Err(clash("channel", "real ranks without a channel", label)
            .help("choose `selective` or `go-back-n`, or another world"));
    }
    competitors(spec)?;
    if let Some(message) = spec.message.as_ref().filter(|message| message.eager > MOST_EAGER) {
        let label = format!("found {}, expected at most {MOST_EAGER} live", message.eager);
        return Err(clash("message.eager", "short messages that are too long", label));
    }
    Ok(())
}

/// The fewest frames that somebody else's ring holds.
const LEAST_RING: u32 = 8;

/// Somebody else has rails by name, and a ring.
fn competitors(spec: &Spec) -> Result<(), Clash> {
    if spec.competitors.is_empty() {
        return Ok(());
    }
    if !spec.live.own_box && spec.live.boxed.is_none() {
        let label = "found a competitor, expected a box, whose rails are known";
        return Err(clash("competitor", "competitors on machines by name", label)
            .help("set `live.own-box = true`, or choose another world"));
    }
    for (number, competitor) in spec.competitors.iter().enumerate() {
        let window = competitor.window;
        if window < LEAST_RING {
            let label = format!("found {window}, expected at least {LEAST_RING} live");
            let path = format!("competitor.{number}.window");
            return Err(clash(path, "a competitor with too short a ring", label));
        }
    }
    Ok(())
}

/// There is one place to run in, and it has names.
fn place(live: &Live) -> Result<(), Clash> {
    if live.own_box && live.boxed.is_some() {
        let label = "found the file of a box as well";
        return Err(clash("live.own-box", "two boxes to run in", label).help("remove one of them"));
    }
    let Some(hosts) = &live.hosts else { return Ok(()) };
    let path = "live.hosts";
    if live.boxed.is_some() || live.own_box {
        let label = "found a box as well, which has hosts of its own";
        return Err(clash(path, "two places to run in", label).help("remove one of them"));
    }
    if hosts.is_empty() {
        return Err(clash(path, "no host to run on", "expected names of machines")
            .help("leave `hosts` out to run on this machine"));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    for host in hosts {
        if !host.starts_with(|c: char| c.is_ascii_alphanumeric()) || !host.chars().all(fits) {
            let label = format!("found `{host}`, expected the name or the address of a machine");
            return Err(clash(path, "no name of a machine", label));
        }
    }
    Ok(())
}
