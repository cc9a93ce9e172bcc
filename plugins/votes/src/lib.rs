//! Coins and deliveries for votes on listings of servers.

mod config;

use config::Config;
use network_hub_module::effects::{self, Deliver, Effect};
use network_hub_module::endpoints::{Endpoints, Failure, Request, Response};
use network_hub_module::{CallContext, config, state};
use serde::{Deserialize, Serialize};

/// A vote, as the listing sends it.
#[derive(Debug, Deserialize)]
struct Vote {
    id: String,
    /// Name of the player.
    player: Option<String>,
    uuid: Option<String>,
    /// Name of the listing.
    service: Option<String>,
}

/// Answer to a vote, and to the question for a player's votes.
#[derive(Debug, Serialize)]
struct Count {
    votes: u64,
}

/// Payload of the delivery.
#[derive(Debug, Serialize)]
struct Voted<'a> {
    service: &'a str,
    votes: u64,
}

/// Rewards votes.
struct Votes;

#[network_hub_module::export]
impl Endpoints for Votes {
    fn answer(context: &CallContext, request: &Request) -> Result<Response, Failure> {
        if request.endpoint == "votes" {
            let votes = votes_of(&key_of(request.parameter("player").unwrap_or_default()))?;
            return Ok(Response::json(200, &Count { votes }));
        }
        match request.json() {
            Ok(vote) => reward(&config(context), &vote),
            Err(answer) => Ok(answer),
        }
    }
}

/// The entry of a player's votes, by name or UUID.
fn key_of(player: &str) -> String {
    format!("votes:{}", player.to_lowercase())
}

fn votes_of(key: &str) -> Result<u64, Failure> {
    Ok(state::get(key)?.and_then(|votes| votes.parse().ok()).unwrap_or(0))
}

/// Pays a vote. The hub calls once for each id, however often the listing sends it.
fn reward(config: &Config, vote: &Vote) -> Result<Response, Failure> {
    let Some(player) = vote.uuid.as_ref().or(vote.player.as_ref()) else {
        return Ok(Response::error(400, "invalid_request", "`uuid` or `player` must be there"));
    };
    let key = key_of(player);
    let votes = votes_of(&key)? + 1;
    state::set(&key, &votes.to_string(), None)?;
    let service = vote.service.as_deref().unwrap_or("a listing");
    let mut done = vec![];
    if let Some(uuid) = vote.uuid.as_ref().filter(|_| config.reward > 0.0) {
        done.push(effects::modify_currency(uuid, &config.currency, config.reward, &format!("vote on {service}")));
    }
    if !config.delivery.is_empty() {
        done.push(delivery(&config.delivery, vote, &Voted { service, votes }));
    }
    if config.announce {
        let name = vote.player.as_deref().unwrap_or("A player");
        done.push(effects::announce(format!("{name} has voted on {service}. Thank you!")).optional());
    }
    Ok(Response::json(200, &Count { votes }).with(done))
}

/// A delivery, which waits for players that are offline.
fn delivery(kind: &str, vote: &Vote, voted: &Voted<'_>) -> Effect {
    Deliver {
        player_uuid: vote.uuid.clone(),
        player_name: vote.player.clone().filter(|_| vote.uuid.is_none()),
        kind: kind.into(),
        payload: effects::json(voted),
        server_type: None,
        server_id: None,
        not_before_ms: None,
        expires_at_ms: None,
        reference: Some(format!("vote-{}", vote.id)),
        on_lost: None,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::{HostError, testing};

    fn answer(config: &str, body: &str) -> Response {
        let context = testing::handler_context(0, config);
        Votes::answer(&context, &testing::endpoint_request("vote", body)).unwrap()
    }

    #[test]
    fn a_vote_is_paid_by_uuid_and_delivered_by_name() {
        let config = r#"{"delivery": "vote-crate", "announce": true}"#;
        let by_uuid = answer(config, r#"{"id": "1", "uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5"}"#);
        assert_eq!(by_uuid.effects.len(), 3);
        let by_name = answer(config, r#"{"id": "2", "player": "Notch"}"#);
        assert_eq!(by_name.effects.len(), 2);
        assert_eq!(answer(config, r#"{"id": "3"}"#).status, 400);
    }

    #[test]
    fn a_name_is_counted_in_any_case() {
        for (name, votes) in [("Notch", 1), ("notch", 2)] {
            let answer = answer("{}", &format!(r#"{{"id": "1", "player": "{name}"}}"#));
            assert_eq!(String::from_utf8_lossy(&answer.body), format!(r#"{{"votes":{votes}}}"#));
        }
    }

    #[test]
    fn a_hub_without_data_is_a_failure() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        let context = testing::handler_context(0, "{}");
        let request = testing::endpoint_request("vote", r#"{"id": "1", "player": "Notch"}"#);
        assert!(matches!(Votes::answer(&context, &request), Err(Failure::Retry(_))));
    }
}
