//! Lines of tens of thousands, without a database.

use uuid::Uuid;

use super::*;
use crate::geo::Region;
use crate::matchmaking::{Affinity, PlayerContext};
use crate::presence::{Registration, Role, ServerInfo, Software};
use crate::values::Identifier;
use crate::waiting_lines::order::Standing;

const NOW: Millis = 1_000_000;

fn name(text: &str) -> Identifier {
    text.parse().unwrap()
}

fn player(number: u32) -> PlayerId {
    PlayerId(Uuid::from_u128(u128::from(number) + 1))
}

fn register(presence: &mut NetworkPresence, id: &str, server_type: &str, max_players: u32) {
    let info = ServerInfo {
        server_id: name(id),
        server_type: name(server_type),
        game_type: None,
        role: Role::Game,
        display_name: None,
        max_players,
        host: "10.0.0.1".to_owned(),
        port: 25_565,
        region: Region::unknown(),
        country: None,
        software: Software::default(),
    };
    presence.register(Registration { info, game_state: None, players_to_start: 0, worlds: vec![] }, NOW, 1_000_000);
}

fn ticket(seq: Seq, server_type: &str) -> Ticket {
    let leader = player(seq as u32);
    let mode = Mode::Server { server_type: name(server_type) };
    Ticket {
        id: Uuid::from_u128(seq as u128 + (1 << 64)),
        seq,
        player: leader,
        player_name: None,
        line: LineName::of(&mode),
        mode,
        affinity: Affinity::default(),
        context: PlayerContext {
            id: Some(leader),
            party: vec![],
            geo_routing: false,
            region: None,
            owner_world: None,
            withheld: None,
            now: NOW,
        },
        body: String::new(),
        priority: 0,
        since: NOW,
        state: TicketState::Waiting,
        returned: false,
        matched: None,
        answer: None,
        ended_at: None,
        offline_since: None,
        passed_at: None,
        keeps: false,
        kept: None,
        is_constant: false,
        due: None,
        told: None,
        told_at: 0,
    }
}

#[derive(Debug)]
struct Quiet;

impl crate::presence::Watcher for Quiet {
    fn wake(&self) {}
}

/// Tickets of players on `lobby`, spread over lines.
fn lines(count: Seq, lines: Seq) -> (Lines, NetworkPresence) {
    let mut presence = NetworkPresence::default();
    presence.set_watcher(Some(Arc::new(Quiet)));
    register(&mut presence, "lobby", "lobby", 0);
    for line in 0..lines {
        register(&mut presence, &format!("arena-{line}"), &format!("arena-{line}"), 1);
        presence.join(&name(&format!("arena-{line}")), player(9_000_000 + line as u32), None, NOW).unwrap();
    }
    let tickets = (1..=count).map(|seq| ticket(seq, &format!("arena-{}", seq % lines))).collect();
    for seq in 1..=count {
        presence.join(&name("lobby"), player(seq as u32), None, NOW).unwrap();
    }
    let mut state = Lines::default();
    state.restore(tickets, vec![], &mut presence, NOW);
    (state, presence)
}

#[test]
fn fifty_thousand_wait_in_one_line() {
    let (mut lines, mut presence) = lines(50_000, 1);
    let ids = Ids::seeded(1);
    while lines.run(&mut presence, NOW, true, &ids) {}
    assert_eq!(lines.waiting(), 50_000);
    for seq in 1..=50_000 {
        assert_eq!(lines.view(seq, NOW).unwrap().position, Some(seq as usize));
    }
    // One slot: the first gets it, and everyone is one place ahead.
    presence.leave(player(9_000_000), None, NOW + 1);
    while lines.run(&mut presence, NOW + 1, true, &ids) {}
    assert_eq!(lines.ticket(1).unwrap().state, TicketState::Matched);
    assert_eq!(lines.view(50_000, NOW + 1).unwrap().position, Some(49_999));
    let page = lines.tickets_of(&lines.ticket(1).unwrap().line.clone(), &presence, NOW, 49_900, 50);
    assert_eq!((page.0[0].position, page.1), (Some(49_901), 49_999));
    assert_eq!(lines.all().filter(|ticket| ticket.state == TicketState::Matched).count(), 1);
}

#[test]
fn lines_in_which_nothing_happens_have_nothing_due() {
    let (mut lines, mut presence) = lines(1_000, 50);
    let ids = Ids::seeded(1);
    while lines.run(&mut presence, NOW, true, &ids) {}
    assert!(lines.touched.is_empty() && presence.take_watched().servers.is_empty());
    // The next change that time brings: points that no longer rise.
    assert_eq!(lines.next_due(), Some(Standing { priority: 0, since: NOW, seq: 1, leads: false }.constant_from()));
    assert!(!lines.run(&mut presence, NOW + 1, true, &ids));
    assert_eq!(lines.take_place_changes(NOW + 10_000).len(), 1_000);
    assert!(lines.take_place_changes(NOW + 20_000).is_empty());
}
