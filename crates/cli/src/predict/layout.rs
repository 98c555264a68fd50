//! One prediction in the terminal.

use std::fmt::Write;

use crosstie_lab::predict::{
    Candidate, Flow, Form, ManyToOne, PacketCosts, Prediction, RailShare, Rule, Subject,
};
use crosstie_units::Time;

/// Microseconds.
pub fn us(time: Time) -> String {
    format!("{:.3}", time.ps() as f64 / 1e6)
}

/// Millions of bytes per second.
pub fn rate(bytes: u64, time: Time) -> String {
    match time {
        Time::ZERO => "-".to_owned(),
        time => format!("{:.2}", bytes as f64 / time.seconds() / 1e6),
    }
}

/// So many of something, in words.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// What this is about.
pub fn head(subject: Subject, nodes: u32, machine: &str, title: &str) -> String {
    format!("# {}, {nodes} nodes on {machine}\n# {title}\n", subject.name())
}

/// All that is known for one size.
pub fn one(subject: Subject, prediction: &Prediction) -> String {
    let mut text = String::new();
    let Prediction { size, packets, packet, ranking, .. } = prediction;
    if let Some(size) = size {
        let packets = counted(*packets, "packet");
        writeln!(text, "# {size} B: {packets}, times in us").ok();
    } else {
        writeln!(text, "# times in us").ok();
    }
    text += &parameters(packet);
    text.push('\n');
    match subject.is_collective() {
        false => text += &single(subject, prediction, &ranking[0]),
        true => text += &ranked(ranking),
    }
    if let Some(form) = &prediction.form {
        text += if subject.is_collective() { "\n" } else { "" };
        text += &formula(form);
    }
    text + &port(subject, prediction) + &path(prediction)
}

/// What a packet takes.
pub fn parameters(packet: &PacketCosts) -> String {
    let mut text = format!("\na packet of {} B\n", packet.bytes);
    for (symbol, meaning, time) in [
        ("O_s", "processor, to send", packet.send),
        ("g_s", "NIC, between packets sent", packet.send_gap),
        ("L", "from memory to memory", packet.latency),
        ("g_r", "NIC, between packets received", packet.receive_gap),
        ("O_r", "processor, to receive", packet.receive),
        ("U_r", "processor, to pick up", packet.pickup),
    ] {
        writeln!(text, "  {symbol:<4} {meaning:<30} {:>12}", us(time)).ok();
    }
    if let Some((frames, place)) = packet.buffer() {
        let place = match place {
            "shared" => "frames kept, all in all".to_owned(),
            place => format!("frames kept at each {place}"),
        };
        writeln!(text, "  B_L  {place:<30} {frames:>8}").ok();
    }
    let duplex = &packet.full_duplex;
    let sign = |holds| if holds { "<" } else { ">=" };
    let word = match (duplex.host_keeps_up(), duplex.network_is_filled()) {
        (true, true) => "yes",
        (false, true) => "no, processors are slower than g",
        (true, false) => "no, g is not less than L",
        (false, false) => "no, processors are slower than g, and g is not less than L",
    };
    writeln!(
        text,
        "  full duplex: {word}: O_s + O_r + U_r = {} {} g = {} {} L = {}",
        us(duplex.host),
        sign(duplex.host_keeps_up()),
        us(duplex.gap),
        sign(duplex.network_is_filled()),
        us(duplex.latency)
    )
    .ok();
    text
}

fn single(subject: Subject, prediction: &Prediction, way: &Candidate) -> String {
    let size = prediction.size.unwrap_or(0);
    let each = if subject == Subject::Exchange { " each way" } else { "" };
    format!(
        "time           {} = host {} + gap {} + wire {}\n\
         bandwidth      {} MB/s{each}\n\
         bottleneck     {}\n{}",
        us(way.time),
        us(way.host),
        us(way.gap),
        us(way.wire),
        rate(size, way.time),
        bottleneck(way),
        rails(way),
    )
}

/// What each of several rails carries, a line each.
fn rails(way: &Candidate) -> String {
    let mut text = String::new();
    for (number, RailShare { bytes, share, busy }) in way.rails.iter().enumerate() {
        let (rail, share) = (format!("rail {number}"), 100.0 * share);
        writeln!(text, "{rail:<14} {bytes} B, {share:.1} %, sent in {}", us(*busy)).ok();
    }
    text
}

/// The share of each of several rails, in percent: `80.0/20.0`.
pub fn shares(way: &Candidate) -> String {
    let shares = way.rails.iter().map(|rail| format!("{:.1}", 100.0 * rail.share));
    shares.collect::<Vec<_>>().join("/")
}

/// The resource and the stage.
pub fn bottleneck(way: &Candidate) -> String {
    format!("{}: {}", way.bottleneck.resource, way.bottleneck.stage)
}

fn ranked(ranking: &[Candidate]) -> String {
    let name = |way: &Candidate| way.algorithm.clone().unwrap_or_default();
    let widest = ranking.iter().map(|way| name(way).len()).max().unwrap_or(0).max(9);
    let mut text = format!(
        "{:<widest$} {:>12} {:>12} {:>12} {:>12} {:>10}  bottleneck\n",
        "algorithm", "time", "host", "gap", "wire", "compute"
    );
    for way in ranking {
        writeln!(
            text,
            "{:<widest$} {:>12} {:>12} {:>12} {:>12} {:>10}  {}",
            name(way),
            us(way.time),
            us(way.host),
            us(way.gap),
            us(way.wire),
            us(way.compute),
            bottleneck(way)
        )
        .ok();
    }
    for way in ranking {
        if let Some(congestion) = &way.bottleneck.congestion {
            writeln!(text, "{}: {congestion}", name(way)).ok();
        }
    }
    if let Some(best) = ranking.first().filter(|way| !way.rails.is_empty()) {
        write!(text, "\nrails, with {}\n{}", name(best), rails(best)).ok();
    }
    text
}

/// A formula and what it gives.
pub fn formula(form: &Form) -> String {
    let Form { equation, expression, of, time, rule } = form;
    let mut text = format!("formula {equation:<6} {} = {expression}, {of}\n", us(*time));
    if let Some(Rule { left, left_time, sign, right, right_time }) = rule {
        let (left_time, right_time) = (us(*left_time), us(*right_time));
        writeln!(text, "{:<14} {left} is {left_time} {sign} {right}, {right_time}", "because").ok();
    }
    text
}

/// What becomes of many flows into one port, if that is what is done.
pub fn port(subject: Subject, prediction: &Prediction) -> String {
    match &prediction.many_to_one {
        Some(many) => format!("\n{}", many_to_one(many)),
        None if subject == Subject::Collective("gather") && prediction.nodes > 1 => {
            "\nmany to one    not known: the parameters say nothing of B_L\n".to_owned()
        }
        None => String::new(),
    }
}

fn many_to_one(many: &ManyToOne) -> String {
    let ManyToOne { senders, architecture, frames, slot, largest_window, .. } = many;
    let [shortest, longest] = many.timeout_slots;
    let [from, to] = many.timeout.map(us);
    let room = match *architecture {
        "shared" => "in shared memory".to_owned(),
        place => format!("at the {place}"),
    };
    let mut text = format!(
        "many to one    {senders} senders, {frames} frames {room}, a slot of {}\n\
         window         at most {largest_window}, and nothing is lost\n\
         time-out       {shortest:.0} to {longest:.0} slots, {from} to {to} us\n",
        us(*slot)
    );
    if let Some(flow) = &many.flow {
        text += &windows(flow);
    }
    text
}

fn windows(flow: &Flow) -> String {
    let Flow { window, loses, timeout_slots, efficiency, equation, time, unknown, .. } = flow;
    let mut text = format!("a window of {window:<3}");
    match (loses, efficiency, unknown) {
        (false, ..) if flow.outstanding < *window => {
            let block = counted(flow.outstanding.into(), "packet");
            write!(text, "is not filled by a block of {block}, and nothing is lost").ok();
        }
        (false, ..) => text += "loses nothing: the port is busy all the time",
        (true, Some(efficiency), _) => {
            let equation = equation.unwrap_or_default();
            write!(text, "overflows: {efficiency:.4} of the port's rate is left ({equation}").ok();
            if equation == "4.10" {
                write!(text, ", time-out {timeout_slots:.0} slots").ok();
            }
            text.push(')');
        }
        (true, None, why) => {
            write!(text, "overflows: what is left is not known, {}", why.unwrap_or_default()).ok();
        }
    }
    if let Some(time) = time {
        write!(text, "; all blocks take {}", us(*time)).ok();
    }
    text.push('\n');
    text
}

/// The critical path of the fastest way, if it was asked for.
pub fn path(prediction: &Prediction) -> String {
    let way = &prediction.ranking[0];
    let Some(path) = &way.path else { return String::new() };
    let of = way.algorithm.as_ref().map_or(String::new(), |algorithm| format!(", {algorithm}"));
    let size = prediction.size.map_or(String::new(), |size| format!(", {size} B"));
    let mut text = format!("\ncritical path{of}{size}\n");
    for step in path {
        let (from, to) = (us(step.from), us(step.to));
        writeln!(text, "  {from:>12} to {to:>12}  rank {:<5} {}", step.rank, step.what).ok();
    }
    text
}
