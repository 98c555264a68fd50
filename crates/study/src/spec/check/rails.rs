//! Whether rails that differ, their buses, what happens to them and who else uses them fit the
//! rest.

use crosstie_units::Time;

use super::{Clash, Spec, World, clash};
use crate::spec::{Competitor, LinkEvent};

/// Checks all of it.
pub(super) fn check(spec: &Spec) -> Result<(), Clash> {
    ports(spec)?;
    worlds(spec)?;
    for (number, event) in spec.events.iter().enumerate() {
        self::event(spec, number, event)?;
    }
    for (number, competitor) in spec.competitors.iter().enumerate() {
        self::competitor(spec, number, competitor)?;
    }
    Ok(())
}

/// Rails of one port have one link and one NIC.
fn ports(spec: &Spec) -> Result<(), Clash> {
    let (rails, ports) = (spec.cluster.rails.list(), spec.cluster.rails.ports());
    for (number, rail) in rails.iter().enumerate() {
        let before = rails[..number].iter().zip(&ports).filter(|(_, port)| **port == ports[number]);
        for (other, _) in before {
            let at = |key: &str| format!("cluster.rails.{number}.{key}");
            let port = rail.port.unwrap_or_default();
            if let (Some(rate), Some(sooner)) = (rail.rate, other.rate)
                && rate != sooner
            {
                let label = format!(
                    "found {rate}, expected {sooner}, as of the rail before on port {port}"
                );
                return Err(clash(at("rate"), "a port with two rates", label).help(
                    "rails of one port share its links: leave `rate` out, or take another `port`",
                ));
            }
            if let (Some(bus), Some(sooner)) = (rail.bus, other.bus)
                && bus != sooner
            {
                let label =
                    format!("found {bus}, expected {sooner}, as of the rail before on port {port}");
                return Err(clash(at("bus"), "a port on two buses", label)
                    .help("a port belongs to one NIC: leave `bus` out, or take another `port`"));
            }
        }
    }
    Ok(())
}

/// What a world cannot do.
fn worlds(spec: &Spec) -> Result<(), Clash> {
    let elsewhere = match spec.world {
        // Real rails are what they are; of what happens to them `live` tells.
        World::Frame | World::Ideal | World::Live => return Ok(()),
        World::Wormhole => "the wormhole network",
        World::Model => "the model",
    };
    let worlds = "set `world = \"ideal\"` or `world = \"frame\"`";
    // The model prices rails of frames; written parameters are those of every rail.
    let is_priced = spec.world == World::Model;
    if let Some(found) = difference(spec).filter(|_| is_priced && spec.model.is_some()) {
        let title = "rails that differ beside parameters that are written";
        let label = format!("found {found}, expected rails that are alike: each has them");
        return Err(clash("cluster.rails", title, label)
            .help("write the number of rails, or leave `model` out"));
    }
    if let Some(found) = difference(spec).filter(|_| !is_priced) {
        let title = format!("rails that differ in {elsewhere}");
        let label = format!("found {found}, expected rails that are alike");
        return Err(clash("cluster.rails", title, label)
            .help(format!("{worlds}, or write the number of rails")));
    }
    let label = |found: &str| format!("found {found}, expected the ideal network or frames below");
    if spec.node.bus.is_some() && !is_priced {
        let title = format!("`node.bus` in {elsewhere}");
        let help = format!("{worlds}; the wormhole network has `bus`");
        return Err(clash("node.bus", title, label("buses that take packets whole")).help(help));
    }
    if !spec.events.is_empty() {
        let title = format!("links that change in {elsewhere}");
        return Err(clash("event", title, label("events")).help(worlds));
    }
    if !spec.competitors.is_empty() {
        let title = format!("competitors in {elsewhere}");
        return Err(clash("competitor", title, label("a competitor")).help(worlds));
    }
    Ok(())
}

/// How rails differ, if they do.
fn difference(spec: &Spec) -> Option<String> {
    let (rails, link) = (&spec.cluster.rails, spec.link.rate);
    let other = rails.rates().into_iter().flatten().find(|&rate| rate != link);
    let is_shared =
        |numbers: Vec<u32>| numbers.iter().max().is_some_and(|&last| last + 1 < rails.count());
    match other {
        Some(rate) => Some(format!("a rail of {rate} beside links of {link}")),
        None if is_shared(rails.ports()) => Some("rails that share a port".to_owned()),
        None if is_shared(rails.buses()) => Some("rails that share a bus".to_owned()),
        None => None,
    }
}

fn event(spec: &Spec, number: usize, event: &LinkEvent) -> Result<(), Clash> {
    let at = |key: &str| format!("event.{number}.{key}");
    let what = [("rate", event.rate.is_some()), ("down", event.down), ("up", event.up)];
    let said: Vec<&str> = what.iter().filter(|(_, said)| *said).map(|(key, _)| *key).collect();
    match said[..] {
        [] => {
            let label = "expected one of `rate`, `down = true` and `up = true`";
            return Err(clash(format!("event.{number}"), "nothing happens", label));
        }
        [_] => {}
        [first, second, ..] => {
            let label = format!("found `{first}` as well, expected one of `rate`, `down` and `up`");
            return Err(clash(at(second), "two things at once", label)
                .help("write two events, each headed `[[event]]`"));
        }
    }
    rail(spec, &at("rail"), event.rail)?;
    for &host in event.hosts.iter().flat_map(|hosts| hosts.hosts()) {
        self::host(spec, &at("hosts"), host)?;
    }
    if event.up && event.lasts.is_some() {
        let label = "expected it with `rate` or `down`";
        return Err(clash(at("for"), "links that are up for a while", label)
            .help("write when they go down: `down = true`"));
    }
    let path = format!("event.{number}");
    event.recurrence().check().map_err(|misfit| super::at(&path, misfit))
}

fn competitor(spec: &Spec, number: usize, competitor: &Competitor) -> Result<(), Clash> {
    let at = |key: &str| format!("competitor.{number}.{key}");
    let Competitor { from, to, begin, end, .. } = *competitor;
    rail(spec, &at("rail"), competitor.rail)?;
    host(spec, &at("from"), from)?;
    host(spec, &at("to"), to)?;
    if from == to {
        let label = format!("found {to}, as in `from`, expected another host");
        return Err(clash(at("to"), "a competitor that sends to itself", label));
    }
    if end <= begin {
        let label = format!("found {end}, expected more than begin = {begin}");
        return Err(clash(at("end"), "a competitor that ends before it begins", label));
    }
    let (latency, gap) = (spec.ideal.latency(&spec.link), spec.ideal.own_gap());
    if spec.world == World::Ideal && latency == Time::ZERO && gap == Some(Time::ZERO) {
        let label = "found 0, expected more, or `ideal.latency` above 0, beside a competitor";
        return Err(clash("ideal.gap", "a competitor whose packets may take no time", label));
    }
    Ok(())
}

fn rail(spec: &Spec, path: &str, rail: u32) -> Result<(), Clash> {
    let rails = spec.cluster.rails.count();
    if rail >= rails {
        let label = match rails {
            1 => format!("found {rail}, expected 0: there is one rail"),
            rails => format!("found {rail}, expected a rail from 0 to {}", rails - 1),
        };
        return Err(clash(path, "no such rail", label).help("raise `cluster.rails`"));
    }
    Ok(())
}

fn host(spec: &Spec, path: &str, host: u32) -> Result<(), Clash> {
    if let Some(hosts) = spec.fabric.hosts().filter(|hosts| host >= *hosts) {
        let label = format!("found {host}, expected a host from 0 to {}", hosts - 1);
        return Err(clash(path, "no such host", label));
    }
    Ok(())
}
