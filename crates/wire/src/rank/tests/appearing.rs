//! Devices that appear while ranks run.

use super::*;
use crate::rail::absent::Absent;
use crate::rail::{Device, Provider, Providers, RailError};
use lookout::{Lookout, Slot};

/// The devices of a host, which change.
struct Host {
    air: Arc<Mutex<Storm>>,
    rank: u16,
    devices: Mutex<Vec<Device>>,
}

const NETWORKS: [&str; 2] = ["x", "y"];

fn device(rank: u16, rail: usize) -> Device {
    Device {
        name: format!("e{rail}"),
        station: format!("{rank}"),
        network: NETWORKS[rail].to_owned(),
        routed: false,
        longest: 1472,
    }
}

impl Provider for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn devices(&self) -> Result<Vec<Device>, RailError> {
        Ok(self.devices.lock().unwrap().clone())
    }

    fn open(&self, device: &Device, _crowded: bool) -> Result<Box<dyn Rail>, RailError> {
        let rail = NETWORKS.iter().position(|network| *network == device.network).unwrap();
        Ok(wings(&self.air, self.rank, 2).swap_remove(rail))
    }
}

/// Ranks of which each has the first of two rails, and these the second.
fn sky(with: &[bool]) -> (Sky, Vec<Arc<Host>>) {
    let ranks = with.len() as u16;
    let policy = PolicyKind::recommended();
    let mut sky = Sky::new(1, ranks, &[100, 100], Harm::default(), selective(), policy);
    let is_rail = with.iter().filter(|with| **with).count() > 1;
    let mut hosts = Vec::new();
    for (rank, &here) in (0..ranks).zip(with) {
        let mut devices = vec![device(rank, 0)];
        devices.extend(here.then(|| device(rank, 1)));
        let (air, devices) = (Arc::clone(&sky.air), Mutex::new(devices));
        let host = Arc::new(Host { air, rank, devices });
        let providers = Providers::new(vec![host.clone()]);
        let found = providers.choose(None).unwrap();
        let used = |rank: u16, rail| rail == 0 || is_rail && with[usize::from(rank)];
        let slot = |rail: usize| Slot {
            network: ("host".to_owned(), NETWORKS[rail].to_owned()),
            longest: 1472,
            device: used(rank, rail).then(|| device(rank, rail)),
            address: used(rank, rail).then(|| Address::new(&[rail as u8])).flatten(),
            peers: (0..ranks)
                .map(|to| (to != rank && used(to, rail)).then(|| vec![rail as u8]))
                .collect(),
        };
        let engine = &mut sky.ranks[usize::from(rank)];
        if !used(rank, 1) {
            engine.queues.replace(1, Box::new(Absent::new("y", 1472)));
        }
        for to in (0..ranks).filter(|&to| to != rank && !(used(rank, 1) && used(to, 1))) {
            engine.has_no_way(to, 1);
        }
        let slots = [0, 1].map(slot).into();
        engine.look_out_by(Lookout::new(rank, (providers, None), &found, slots));
        hosts.push(host);
    }
    (sky, hosts)
}

/// Lets all ranks send long messages to all others. Returns the bytes that each has sent on the
/// second rail, as far as statistics tell of it.
fn all_to_all(sky: &mut Sky) -> Vec<Option<u64>> {
    let ranks = sky.ranks.len() as u16;
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
    let message = |(from, to)| Message { from, to, tag: 0, bytes: vec![1; 400_000] };
    let all: Vec<Message> = pairs.filter(|(from, to)| from != to).map(message).collect();
    let sent = |sky: &Sky| -> Vec<Option<u64>> {
        let sent = |rank: &Rank| rank.statistics().get(1).map(|rail| rail.count.sent_bytes);
        sky.ranks.iter().map(sent).collect()
    };
    let before = sent(sky);
    let until = sky.now() + ms(60_000);
    assert_eq!(exchange(sky, &all, |_| (), until), Ok(()));
    let since = |(after, before): (Option<u64>, Option<u64>)| {
        after.map(|after| after - before.unwrap_or(0))
    };
    sent(sky).into_iter().zip(before).map(since).collect()
}

/// A network in which one rank has a device, or two of three have: the last one comes hours later.
#[test]
fn a_device_that_appears_hours_later_is_used_at_both_ends() {
    for with in [&[true, false][..], &[false, true], &[true, false, true], &[false, true, true]] {
        let (mut sky, hosts) = sky(with);
        let is_rail = with.len() > 2;
        let sent = all_to_all(&mut sky);
        for (rank, (&with, sent)) in with.iter().zip(&sent).enumerate() {
            let used = sent.is_some_and(|sent| sent > 100_000);
            assert_eq!((used, sent.is_some()), (with && is_rail, is_rail), "rank {rank}: {sent:?}");
        }
        sky.run(sky.now() + ms(3 * 3_600_000));
        let late = with.iter().position(|with| !with).unwrap();
        hosts[late].devices.lock().unwrap().push(device(late as u16, 1));
        sky.run(sky.now() + ms(2_000));
        let sent = all_to_all(&mut sky);
        assert!(sent.iter().all(|sent| sent.is_some_and(|sent| sent > 100_000)), "{sent:?}");
        assert!(sky.ranks.iter().all(|rank| rank.lookout.as_ref().unwrap().open().is_empty()));
    }
}

/// What a rank says of where it is may be lost, and what is said of slots that there are not, or
/// is no address, is ignored.
#[test]
fn tellings_may_be_lost_or_wrong() {
    let (mut sky, hosts) = sky(&[true, false]);
    sky.air.lock().unwrap().losses.fill(600);
    hosts[1].devices.lock().unwrap().push(device(1, 1));
    sky.run(ms(60_000));
    sky.air.lock().unwrap().losses.fill(0);
    let sent = all_to_all(&mut sky);
    assert!(sent.iter().all(|sent| sent.is_some_and(|sent| sent > 100_000)), "{sent:?}");
    for (rail, address) in [(2, &[1][..]), (255, &[1]), (1, &[7; 32]), (0, &[])] {
        let told = Told { rail, asks: true, address: Address::new(address) };
        let now = sky.now();
        sky.ranks[0].told(now, (1, 0), told);
        sky.run(now + ms(10));
    }
    assert!(all_to_all(&mut sky).iter().all(Option::is_some));
}
