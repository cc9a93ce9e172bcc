//! Coins for votes that a listing of servers reports, and each voter's count.

use network_hub_module::effects::{self, Deliver, ModifyCurrency};
use network_hub_module::endpoints::{Endpoints, Failure, Request, Response};
use network_hub_module::{CallContext, config, info, state};
use serde::{Deserialize, Serialize};

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Currency of the reward.
    currency: String,
    /// The reward of a vote.
    reward: f64,
    /// Kind of the delivery for each tenth vote; empty: none.
    tenth: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { currency: "coins".into(), reward: 25.0, tenth: String::new() }
    }
}

/// A vote, as the listing sends it.
#[derive(Debug, Deserialize)]
struct Vote {
    /// The voter's UUID.
    player: String,
}

#[derive(Debug, Serialize)]
struct Count {
    votes: i64,
}

struct Votes;

#[network_hub_module::export]
impl Endpoints for Votes {
    fn answer(context: &CallContext, request: &Request) -> Result<Response, Failure> {
        match request.endpoint.as_str() {
            "vote" => vote(&config(context), request),
            "votes" => Ok(Response::json(200, &Count { votes: votes_of(request.parameter("player").unwrap_or(""))? })),
            other => Err(Failure::Reject(format!("there is no endpoint {other}"))),
        }
    }
}

fn votes_of(player: &str) -> Result<i64, Failure> {
    Ok(state::get(&format!("votes:{player}"))?.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// The hub has checked who sent it, and calls once for each vote however often it is sent.
fn vote(config: &Config, request: &Request) -> Result<Response, Failure> {
    let Ok(Vote { player }) = request.json() else {
        return Ok(Response::error(400, "invalid_request", "a vote has a `player`"));
    };
    let votes = votes_of(&player)? + 1;
    // Committed with the effects and the answer: all or nothing.
    state::set(&format!("votes:{player}"), &votes.to_string(), None)?;
    let reward = ModifyCurrency {
        owner_type: "player".into(),
        owner_key: player.clone(),
        currency: config.currency.clone(),
        amount: effects::amount(config.reward),
        reason: Some("vote".into()),
        exact: false,
    };
    let mut done = vec![reward.into()];
    if votes % 10 == 0 && !config.tenth.is_empty() {
        info!("vote {votes} of {player}");
        let kind = config.tenth.clone();
        done.push(
            Deliver {
                player_uuid: Some(player),
                player_name: None,
                kind,
                payload: effects::json(&Count { votes }),
                server_type: None,
                server_id: None,
                not_before_ms: None,
                expires_at_ms: None,
                reference: request.dedupe.clone(),
                on_lost: None,
            }
            .into(),
        );
    }
    Ok(Response::json(200, &Count { votes }).with(done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    #[test]
    fn each_tenth_vote_has_a_delivery() {
        for number in 1..=20 {
            let context = testing::handler_context(0, r#"{"tenth": "crate"}"#);
            let answer = Votes::answer(&context, &testing::endpoint_request("vote", r#"{"player": "p"}"#)).unwrap();
            assert_eq!(answer.effects.len(), if number % 10 == 0 { 2 } else { 1 }, "{number}");
        }
    }

    #[test]
    fn a_body_without_a_player_is_refused() {
        let context = testing::handler_context(0, "{}");
        assert_eq!(Votes::answer(&context, &testing::endpoint_request("vote", "{}")).unwrap().status, 400);
    }
}
