//! The paper of Liu et al.: one machine for all parts, and measures on rows that agree and differ.

use crosstie_lab::Preset;
use crosstie_lab::paper::{Evidence, Paper, Scale};
use crosstie_study::paper::Agreement;
use crosstie_study::{ChannelRow, Point, Row, Setting, Spec, Status, Study, TimelineRow, Work};

fn paper() -> &'static Paper {
    Paper::named("liu-multirail-mpi").unwrap()
}

fn points(part: &str) -> Vec<Point> {
    let study = paper().part(part).unwrap().study(Scale::Usual);
    study.unwrap_or_else(|mistake| panic!("{mistake}")).points().to_vec()
}

/// Nothing is fitted to one figure: but for what a part is about, every part has the machine of the
/// preset.
#[test]
fn every_part_has_the_machine_of_the_preset() {
    let text = Preset::find("infiniband-4x-pcix").unwrap().text;
    let study = Study::parse("preset", &format!("work.ping.size = '8 B'\n{text}"));
    let study = study.unwrap_or_else(|mistake| panic!("{mistake}"));
    let preset = &study.points()[0].spec;
    for part in paper().parts {
        for Point { spec, .. } in points(part.name) {
            let machine = |spec: &Spec| {
                (spec.world, spec.link.clone(), spec.nic.clone(), spec.switch.clone())
            };
            assert_eq!(machine(&spec), machine(preset), "{}", part.name);
            assert_eq!(spec.message, preset.message, "{}", part.name);
            assert_eq!(spec.frame.switch, preset.frame.switch, "{}", part.name);
            assert_eq!(spec.frame.mtu(), preset.frame.mtu(), "{}", part.name);
            assert!(spec.node == preset.node || part.name == "ports", "{}", part.name);
            assert!(spec.fabric == preset.fabric || part.name == "paths");
        }
    }
}

/// A point of a part, as models ask about it.
struct At<'a> {
    part: &'a str,
    point: &'a Point,
}

impl At<'_> {
    fn text(&self, key: &str) -> String {
        let setting = self.point.settings.iter().find(|(name, _)| name == key);
        setting.map(|(_, value)| Setting::to_string(value)).unwrap_or_default()
    }

    fn size(&self) -> f64 {
        let size = self.point.settings.iter().find(|(name, _)| name.ends_with(".size"));
        size.and_then(|(_, value)| value.number()).unwrap_or(1048576.0)
    }

    fn is_one(&self) -> bool {
        self.point.spec.cluster.rails.count() == 1
    }

    fn is(&self, policy: &str) -> bool {
        self.text("policy") == policy
    }

    fn is_both_ways(&self) -> bool {
        matches!(&self.point.spec.work, Work::Stream(stream) if stream.both_ways)
    }

    fn is_unequal(&self) -> bool {
        ["fig17", "fig18", "fig19", "weights"].contains(&self.part)
    }
}

/// What a point of the published machine carries in MB/s, for large messages.
fn as_published(at: &At<'_>) -> f64 {
    let (single, double) = if at.is_both_ways() { (943.0, 1877.0) } else { (884.0, 1723.0) };
    match at.part {
        "fig17" | "fig18" | "fig19" => match (at.is_both_ways(), at.text("policy").as_str()) {
            (false, "even-striping") => 500.0,
            (false, _) => 1250.0,
            (true, "even-striping") => 1000.0,
            (true, "weighted-striping") => 1250.0,
            (true, _) => 1500.0,
        },
        "fig09" | "fig10" if at.is_one() => 943.0,
        "fig09" if at.is("binding") => 1768.0,
        "fig09" | "fig10" => 1886.0,
        "ports" if at.text("node.bus") == "asymmetric" && at.text("cluster.rails").len() > 1 => {
            single
        }
        "paths" if at.text("frame.uplink.rate") == "1000 MB/s" => 884.0,
        _ if at.is_one() => single,
        _ => double,
    }
}

/// The time of a message at a bandwidth, short ones by one rail; in us.
fn time(at: &At<'_>, bandwidth: f64) -> f64 {
    let short = at.size() <= 16384.0;
    6.0 + at.size() / if short { 884.0 } else { bandwidth }
}

type Model = fn(&At<'_>) -> f64;

/// Evidence in which every point carries what a model says.
fn evidence(model: Model) -> Evidence {
    let mut evidence = Evidence::default();
    for part in paper().parts {
        let points = points(part.name);
        let row = |point: &Point| {
            let at = At { part: part.name, point };
            let bandwidth = model(&at);
            let small = at.size() <= 16384.0 && !at.is_unequal();
            let carried = if small { (at.size() / 2.0).min(800.0) } else { bandwidth };
            let compute = point.spec.schedule.compute.ps() as f64 / 1e6;
            let measured = [
                ("bandwidth", carried),
                ("latency", time(&at, bandwidth)),
                ("time_mean", compute + time(&at, bandwidth)),
                ("envelopes", 1000.0),
                ("deferred", 10.0),
            ];
            let measured = measured.map(|(name, value)| (name.to_owned(), value)).to_vec();
            Row::of(point, Status::Completed, String::new(), measured)
        };
        evidence.add(part.name, points.iter().map(row).collect());
        let channels =
            points.iter().flat_map(|point| channels(&At { part: part.name, point }, model));
        evidence.add_channels(part.name, channels.collect());
        let messages =
            points.iter().flat_map(|point| messages(&At { part: part.name, point }, model));
        evidence.add_timeline(part.name, messages.collect());
    }
    evidence
}

/// Packets on each rail: as weights say where a model is faster than even striping.
fn channels(at: &At<'_>, model: Model) -> Vec<ChannelRow> {
    let first = match at.text("policy").as_str() {
        "weighted-striping" => 4000,
        "adaptive-striping" if at.is_both_ways() && model(at) > 0.0 => 2000,
        _ => 1000,
    };
    let channel = |rail: u32| ChannelRow {
        point: at.point.index,
        channel: rail,
        rail,
        from: "0".to_owned(),
        to: "switch".to_owned(),
        kind: "injection".to_owned(),
        flits: if rail == 0 { first } else { 1000 },
        utilisation: 0.5,
        blocked: 0.0,
        waiting: 0.0,
    };
    let kept = if at.part == "weights" { 0..2 } else { 0..0 };
    kept.map(channel).collect()
}

/// Messages of 1 MiB one after another, slower beside the competitor.
fn messages(at: &At<'_>, model: Model) -> Vec<TimelineRow> {
    let mut messages = Vec::new();
    let mut now = 0.0;
    while at.part == "fig20" && now < 200_000.0 {
        let beside = (64_000.0..128_000.0).contains(&now);
        let slowed: f64 = if at.is("even-striping") { 1000.0 } else { 1500.0 };
        let bandwidth = if beside { slowed.min(model(at)) } else { model(at) };
        let (begin, end) = (now, now + 1_048_576.0 / bandwidth);
        let (point, bytes) = (at.point.index, Some(1_048_576));
        messages.push(TimelineRow { point, rank: 0, to: Some(1), bytes, begin, left: end, end });
        now = end;
    }
    messages
}

fn agreements(evidence: &Evidence) -> Vec<(String, Agreement)> {
    let claims = paper().published().unwrap().claims;
    let findings = paper().findings(&claims, evidence, Scale::Usual);
    findings.into_iter().map(|finding| (finding.claim.id.clone(), finding.agreement())).collect()
}

/// On rows that carry what the paper says, all that can be checked agrees, but for what a run
/// without a program in it finds.
#[test]
fn what_was_published_agrees_with_itself() {
    for (id, agreement) in agreements(&evidence(as_published)) {
        let expected = match id.as_str() {
            "app.is.comm" => Agreement::Differs,
            "fig20.sample" | "fig20.competitor" => Agreement::NotCheckable,
            "app.is.run" | "app.vis.comm" | "app.vis.run" => Agreement::NotCheckable,
            _ => Agreement::Agrees,
        };
        assert_eq!(agreement, expected, "{id}");
    }
}

/// Where rails make no difference, what says that they do differs.
#[test]
fn rails_that_gain_nothing_differ() {
    let all = agreements(&evidence(|_| 700.0));
    let differs =
        |id: &str| all.iter().any(|(known, found)| known == id && *found == Agreement::Differs);
    for id in [
        "bus.pcix",
        "fig5.lat.large.ratio",
        "fig5.shape.growth",
        "fig7.peak.original",
        "fig7.peak.multirail",
        "fig7.ratio",
        "fig8.peak.original",
        "fig8.ratio",
        "fig9.shape",
        "fig9.bound.binding",
        "fig10.shape",
        "fig11.shape",
        "fig12.shape",
        "app.ft.comm",
        "fig17.shape.even",
        "fig18.shape.even",
        "fig18.ideal.even",
        "fig19.shape",
        "fig19.ideal.ratio",
        "fig20.shape.during",
        "fig20.ideal.during.adaptive",
        "claim.bw",
        "claim.lat",
        "ways.adapters",
        "ways.ports.pcie",
        "ways.paths.fabric",
        "ours.kernels.share",
    ] {
        assert!(differs(id), "{id}");
    }
}
