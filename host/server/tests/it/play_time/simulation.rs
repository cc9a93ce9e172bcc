//! A month of some hundred players, a thousand each night, with restarts, kills and moves, against a plain model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hub::presence;
use hub::values::NetworkId;
use serde_json::{Value, json};

use super::{days, patient, play_time_of};
use crate::servers::{beat, register, uuid};
use crate::support::{Client, Hub, NOW, on_each};

/// Number of players, if it is not to be [`PLAYERS`].
const VARIABLE: &str = "HUB_TEST_PLAYERS";
const PLAYERS: u64 = 250;
const DAYS: i64 = 30;
const DAY: i64 = 24 * 3_600_000;
/// Servers with their types.
const SERVERS: [(&str, &str); 4] =
    [("lobby-1", "lobby"), ("lobby-2", "lobby"), ("bw-1", "bedwars"), ("sky-1", "skyblock")];
/// Silence after which a server is offline.
const OFFLINE_AFTER: i64 = 6 * 3_600_000;

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// A stay: server, begin and end.
type Stay = (usize, i64, Option<i64>);

#[derive(Default)]
struct Model {
    stays: BTreeMap<u64, Vec<Stay>>,
    /// Server of each player who is online.
    online: BTreeMap<u64, usize>,
    peaks: BTreeMap<i64, usize>,
}

/// Number of players of this run.
fn player_count() -> u64 {
    std::env::var(VARIABLE).map_or(PLAYERS, |count| count.parse().unwrap())
}

fn day(at: i64) -> i64 {
    at.div_euclid(DAY)
}

impl Model {
    fn end(&mut self, player: u64, at: i64) {
        self.online.remove(&player);
        self.stays.get_mut(&player).unwrap().last_mut().unwrap().2 = Some(at);
    }

    /// The server's list of its players.
    fn beat(&mut self, server: usize, listed: &BTreeSet<u64>, at: i64) {
        let gone: Vec<_> =
            self.online.iter().filter(|(player, on)| **on == server && !listed.contains(player)).collect();
        for player in gone.into_iter().map(|(player, _)| *player).collect::<Vec<_>>() {
            self.end(player, at);
        }
        for player in listed {
            if self.online.get(player) == Some(&server) {
                continue;
            }
            if self.online.contains_key(player) {
                self.end(*player, at);
            }
            self.online.insert(*player, server);
            self.stays.entry(*player).or_default().push((server, at, None));
            let peak = self.peaks.entry(day(at)).or_default();
            *peak = (*peak).max(self.online.len());
        }
    }

    /// Visits run for 15 s on a server that is silent.
    fn play_time(&self, player: u64, now: i64, last_beats: &[i64]) -> Value {
        let (mut types, mut days, mut visits, mut last) =
            (BTreeMap::<_, i64>::new(), BTreeMap::<_, i64>::new(), 0, None);
        for (server, from, to) in &self.stays[&player] {
            let to = to.unwrap_or(now.min(last_beats[*server] + 15_000));
            if last.is_none_or(|last| from - last >= 60_000) {
                visits += 1;
            }
            last = Some(to);
            *types.entry(SERVERS[*server].1).or_default() += to - from;
            for number in day(*from)..=day(to) {
                let ms = to.min((number + 1) * DAY) - (*from).max(number * DAY);
                *days.entry(number).or_default() += ms;
            }
        }
        types.retain(|_, ms| *ms > 0);
        let days = days.into_iter().rev().filter(|(_, ms)| *ms > 0).take(30);
        let days: Vec<_> = days.map(|(number, ms)| json!({"day": text(number), "ms": ms})).collect();
        json!({"totalMs": types.values().sum::<i64>(), "byServerType": types, "days": days, "visits": visits})
    }

    /// Days on which the player was there.
    fn days_of(stays: &[Stay], now: i64) -> BTreeSet<i64> {
        let last = |from: i64, to: Option<i64>| day(to.map_or(now, |to| from.max(to - 1)));
        stays.iter().flat_map(|(_, from, to)| day(*from)..=last(*from, *to)).collect()
    }

    fn day(&self, number: i64, now: i64) -> Value {
        let seen: Vec<_> = self.stays.values().map(|stays| Self::days_of(stays, now)).collect();
        let new: Vec<_> = seen.iter().filter(|days| days.first() == Some(&number)).collect();
        let share = |later: i64| {
            let back = new.iter().filter(|days| days.contains(&(number + later))).count();
            let is_known = number + later < day(now) && !new.is_empty();
            is_known.then(|| (back as f64 / new.len() as f64 * 10_000.0).round() / 10_000.0)
        };
        let midnight = number * DAY;
        let all = || self.stays.values().flatten();
        let spans = |(_, from, to): &&Stay| *from < midnight && to.is_none_or(|to| to > midnight);
        let ms = all().map(|(_, from, to)| (to.unwrap_or(now).min(midnight + DAY) - (*from).max(midnight)).max(0));
        let ms = ms.sum::<i64>();
        let length = if number == day(now) { now - midnight } else { DAY };
        let peak = self.peaks.get(&number).copied().unwrap_or_default();
        json!({
            "day": text(number), "unique": seen.iter().filter(|days| days.contains(&number)).count(), "new": new.len(),
            "peakOnline": peak.max(all().filter(spans).count()), "playtimeMs": ms,
            "averageOnline": (ms as f64 / length as f64 * 100.0).round() / 100.0,
            "retention": {"d1": share(1), "d7": share(7), "d30": share(30)},
        })
    }
}

fn text(number: i64) -> String {
    let date = jiff::civil::Date::constant(1970, 1, 1).saturating_add(jiff::Span::new().days(number));
    date.to_string()
}

/// Stops or kills the hub, and starts it again later.
async fn interrupt(hub: Hub, client: &Client, is_killed: bool, passed: u64) -> (Hub, Client) {
    let later = Duration::from_millis(passed);
    let hub = if is_killed {
        // Its loops end where they are; nothing more is saved.
        hub.app.begin_stop();
        hub.abandon(later).await
    } else {
        hub.restart(later).await
    };
    let client = hub.with_key(client.key.as_deref().unwrap()).for_network(client.network.unwrap());
    (hub, client)
}

/// The owner forgets the network, and the next one reads it from the database. An owner that died saved nothing.
async fn move_to_another_owner(hub: &Hub, network: NetworkId, is_alive: bool) {
    let states = hub.app.components().network_states();
    for state in states.iter().filter(|_| is_alive) {
        state.save(&hub.app, network).await.unwrap();
    }
    for state in states {
        state.evict(&hub.app, network);
    }
    for state in states {
        state.restore(&hub.app, network).await.unwrap();
    }
}

on_each! { a_month_is_counted_as_the_model_says(super::patient) }

async fn a_month_is_counted_as_the_model_says(mut hub: Hub) {
    let mut client = hub.network().await;
    let (mut model, mut dice, mut now) = (Model::default(), Dice(0x2545_F491_4F6C_DD1D), NOW);
    let mut last_beats = [NOW; SERVERS.len()];
    // Servers that died, until the step at which they come back.
    let mut dead = [0_u64; SERVERS.len()];
    for (id, kind) in SERVERS {
        register(&client, id, json!({"serverType": kind, "maxPlayers": 0})).await;
    }
    let mut step = 0_u64;
    while now < NOW + DAYS * DAY {
        step += 1;
        let passed = 1_800_000 + dice.below(17_000) * 1_000 + dice.below(1_000);
        now += passed as i64;
        (hub, client) = match step % 48 {
            12 | 36 => interrupt(hub, &client, step % 48 == 36, passed).await,
            24 => {
                hub.advance_ms(passed);
                move_to_another_owner(&hub, client.network.unwrap(), step % 96 == 24).await;
                (hub, client)
            }
            _ => {
                hub.advance_ms(passed);
                (hub, client)
            }
        };
        presence::service::save_all(&hub.app).await.unwrap();
        for (server, (id, kind)) in SERVERS.iter().enumerate() {
            if now - last_beats[server] >= OFFLINE_AFTER {
                let lost: Vec<_> = model.online.iter().filter(|(_, on)| **on == server).map(|(it, _)| *it).collect();
                for player in lost {
                    model.end(player, last_beats[server]);
                }
                if step >= dead[server] {
                    register(&client, id, json!({"serverType": kind, "maxPlayers": 0})).await;
                    last_beats[server] = now;
                }
            }
        }
        // Everybody decides anew, except on servers that are silent.
        let is_silent = |server: usize| step < dead[server] || now - last_beats[server] >= OFFLINE_AFTER;
        let silent: Vec<_> = (0..SERVERS.len()).map(is_silent).collect();
        let mut wanted: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); SERVERS.len()];
        for player in 0..player_count() {
            let server = match (model.online.get(&player), dice.below(100)) {
                (Some(at), _) if silent[*at] => continue,
                (Some(at), 0..50) => *at,
                (Some(_), 50..70) | (None, 0..3) => dice.below(SERVERS.len() as u64) as usize,
                _ => continue,
            };
            // A few never come before the second week.
            if !silent[server] && (player % 7 != 0 || now > NOW + 10 * DAY) {
                wanted[server].insert(player);
            }
        }
        for (server, (id, _)) in SERVERS.iter().enumerate() {
            if silent[server] {
                continue;
            }
            let players: Vec<_> = wanted[server].iter().map(|player| json!({"uuid": uuid(*player)})).collect();
            beat(&client, id, json!({"players": players})).await;
            model.beat(server, &wanted[server], now);
            last_beats[server] = now;
            if dice.below(100) == 0 && now < NOW + (DAYS - 1) * DAY {
                dead[server] = step + 4;
            }
        }
        presence::service::save_all(&hub.app).await.unwrap();
        if step.is_multiple_of(60) {
            compare_players(&client, &model, (now, &last_beats), &mut dice, 5).await;
        }
    }
    compare_players(&client, &model, (now, &last_beats), &mut dice, 100).await;
    let today = day(now);
    let rows = days(&client, &format!("from={}&limit=200", text(day(NOW)))).await;
    assert_eq!(rows.len() as i64, today - day(NOW) + 1);
    for (number, row) in (day(NOW)..=today).rev().zip(&rows) {
        assert_eq!(row, &model.day(number, now));
    }
    assert!(rows.iter().any(|row| row["retention"]["d7"].as_f64().is_some_and(|share| share > 0.0)));
}

async fn compare_players(
    client: &Client,
    model: &Model,
    (now, last_beats): (i64, &[i64]),
    dice: &mut Dice,
    count: usize,
) {
    for _ in 0..count {
        let player = dice.below(player_count());
        if !model.stays.contains_key(&player) {
            continue;
        }
        let mut answer = play_time_of(client, player).await;
        for field in ["firstSeen", "lastSeen"] {
            answer.as_object_mut().unwrap().remove(field);
        }
        assert_eq!(answer, model.play_time(player, now, last_beats), "player {player} at {now}");
    }
}
