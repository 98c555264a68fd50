//! Messages over rails and through memory arrive as they were sent.

use crate::stage::{LIMIT, here, live, ranks_with, well};

const TWO: &str = "hosts = 2\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '1 Gbit/s'";
/// Slow enough that other tests on the same cores do not decide what they carry.
const UNEQUAL: &str = "hosts = 2\n[[rail]]\nrate = '200 Mbit/s'\n[[rail]]\nrate = '50 Mbit/s'";

#[test]
fn all_send_to_all_through_memory() {
    let lines = here(4, "exchange 60 300000", &[]);
    assert_eq!(lines[3], "rank 3 of 4, rails []");
}

#[test]
fn and_over_the_rails_of_one_machine() {
    let variables = [("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")];
    let lines = here(3, "exchange 40 300000", &variables);
    assert_eq!(lines[0], "rank 0 of 3, rails [\"lo\"]");
}

#[test]
fn and_over_all_rails_of_a_box_found_by_themselves() {
    let Some(cluster) = live(TWO) else { return };
    let lines = well(&cluster, &[0, 1], "exchange 60 300000", &[]);
    assert_eq!(lines[1], "rank 1 of 2, rails [\"rail0\", \"rail1\"]");
    // Named ones only, in this order.
    let lines = well(&cluster, &[0, 1], "exchange 20 100000", &[("CROSSTIE_RAILS", "rail1")]);
    assert_eq!(lines[0], "rank 0 of 2, rails [\"rail1\"]");
}

#[test]
fn ranks_of_a_host_share_memory_and_others_have_rails() {
    let Some(cluster) = live("hosts = 2\n[[rail]]\n[[rail]]") else { return };
    let lines = well(&cluster, &[0, 1, 0, 1], "exchange 40 100000", &[]);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[2], "rank 2 of 4, rails [\"rail0\", \"rail1\"]");
}

#[test]
fn hosts_with_different_numbers_of_rails_use_those_that_they_share() {
    let Some(cluster) = live("hosts = 3\n[[rail]]\n[[rail]]") else { return };
    let run = |rails: [&str; 3]| {
        let variables = rails.map(|rails| [("CROSSTIE_RAILS", rails)]);
        let (lines, result) =
            ranks_with(LIMIT, &cluster, &[0, 1, 2], "exchange 60 300000", |rank| {
                &variables[rank][..]
            });
        result.unwrap_or_else(|error| panic!("{error}"));
        lines
    };
    let lines = run(["rail1,rail0", "rail0", "rail0,rail1"]);
    assert_eq!(lines[0], "rank 0 of 3, rails [\"rail0\", \"rail1\"]");
    assert!(lines[1].starts_with("rank 1 of 3, rails [\"rail0\", \"no device in "), "{lines:?}");
    assert_eq!(lines[2], "rank 2 of 3, rails [\"rail0\", \"rail1\"]");
}

#[test]
fn every_policy_and_channel_can_be_chosen() {
    let Some(cluster) =
        live("hosts = 3\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '250 Mbit/s'\n[[rail]]")
    else {
        return;
    };
    for policy in crosstie_protocol::PolicyKind::live() {
        if policy.fits(3, 3).is_err() {
            continue;
        }
        for channel in ["selective", "go-back-n:16"] {
            let variables = [("CROSSTIE_POLICY", policy.name()), ("CROSSTIE_CHANNEL", channel)];
            let lines = well(&cluster, &[0, 1, 2], "exchange 12 200000", &variables);
            assert_eq!(lines.len(), 3, "{policy:?} {channel}");
        }
    }
}

#[test]
fn what_nobody_has_asked_for_is_kept_within_bounds() {
    let lines = here(2, "unexpected", &[]);
    assert_eq!(lines, ["done", "done"]);
    let Some(cluster) = live(TWO) else { return };
    assert_eq!(well(&cluster, &[0, 1], "unexpected", &[]), ["done", "done"]);
}

#[test]
fn messages_come_while_a_rank_computes() {
    let Some(cluster) = live(TWO) else { return };
    let lines = well(&cluster, &[0, 1], "overlap", &[]);
    let number = |line: &str| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
    // 3 MiB take 13 ms on two rails. The sender is not kept until the receiver wakes up.
    assert!(number(&lines[0]) < 1000, "{lines:?}");
    assert!(number(&lines[1]) < 200, "{lines:?}");
}

#[test]
fn unequal_rails_are_used_for_what_they_are() {
    let Some(cluster) = live(UNEQUAL) else { return };
    let run = || -> f64 {
        let lines = well(&cluster, &[0, 1], "stream 1048576 1500", &[]);
        let numbers: Vec<f64> = lines[0].split(' ').map(|word| word.parse().unwrap()).collect();
        let &[_, _, _, fast, slow] = numbers.as_slice() else { panic!("{lines:?}") };
        slow / (fast + slow)
    };
    // The slow rail has a fifth of the bandwidth; an even split would give it half of the bytes.
    // The throughput depends on what else the machine does; `cargo bench` measures it.
    let mut shares: Vec<f64> = (0..4).map(|_| run()).collect();
    shares.sort_by(f64::total_cmp);
    assert!(shares[1] > 0.1 && shares[2] < 0.35, "{shares:?}");
}
