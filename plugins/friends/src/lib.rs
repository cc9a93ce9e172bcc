//! Lists of friends, with requests.

mod config;
mod people;

use config::Config;
use network_hub_module::effects::{self, DeleteDocument, Effect, PutDocument};
use network_hub_module::endpoints::{Endpoints, Failure, Request, Response};
use network_hub_module::{CallContext, config, state};
use people::{Other, Person, has, key, save, take};
use serde_json::json;

/// Keeps friends.
struct Friends;

#[network_hub_module::export]
impl Endpoints for Friends {
    fn answer(context: &CallContext, request: &Request) -> Result<Response, Failure> {
        let config: Config = config(context);
        let Some(player) = uuid(request, "player") else { return Ok(invalid("player")) };
        if request.endpoint == "list" {
            let person = Person::read(state::get(&key(&player))?, &config, context.now_ms)?;
            return Ok(Response::json(200, &person));
        }
        let Some(friend) = uuid(request, "friend") else { return Ok(invalid("friend")) };
        if player == friend {
            return Ok(Response::error(400, "invalid_request", "`friend` must be another player"));
        }
        let mut both = Both::read(context, config, player, friend)?;
        match request.endpoint.as_str() {
            "request" => both.request(),
            "accept" => both.accept(),
            "decline" => both.decline(),
            _ => both.remove(),
        }
    }
}

/// A parameter that is a player's UUID, in the form of the hub.
fn uuid(request: &Request, name: &str) -> Option<String> {
    let text = request.parameter(name)?.to_lowercase();
    let fits = |(at, letter): (usize, u8)| match at {
        8 | 13 | 18 | 23 => letter == b'-',
        _ => letter.is_ascii_hexdigit(),
    };
    (text.len() == 36 && text.bytes().enumerate().all(fits)).then_some(text)
}

fn invalid(name: &str) -> Response {
    Response::error(400, "invalid_request", &format!("`{name}` must be a UUID"))
}

/// Two players. What one has of the other, the other has of the one.
struct Both {
    config: Config,
    now: u64,
    player: String,
    friend: String,
    /// Data of the player.
    mine: Person,
    /// Data of the friend.
    theirs: Person,
}

impl Both {
    fn read(context: &CallContext, config: Config, player: String, friend: String) -> Result<Self, Failure> {
        let mut stored = state::get_many(&[key(&player), key(&friend)])?.into_iter();
        let mut next = || Person::read(stored.next().flatten(), &config, context.now_ms);
        let (mine, theirs) = (next()?, next()?);
        Ok(Self { config, now: context.now_ms, player, friend, mine, theirs })
    }

    /// The answer, where nothing is changed: a repeat is one of these.
    fn is(state: &str) -> Response {
        Response::json(200, &json!({"state": state}))
    }

    fn save(&self, state: &str, effects: Vec<Effect>) -> Result<Response, Failure> {
        save(&self.player, &self.mine)?;
        save(&self.friend, &self.theirs)?;
        Ok(Self::is(state).with(effects))
    }

    /// An event for the friend, in order with others for them.
    fn tell_friend(&self, name: &str) -> Effect {
        event(name, &self.friend, &self.player)
    }

    fn request(&mut self) -> Result<Response, Failure> {
        if has(&self.mine.friends, &self.friend) {
            return Ok(Self::is("FRIENDS"));
        }
        if has(&self.mine.received, &self.friend) {
            return self.accept();
        }
        if has(&self.mine.sent, &self.friend) {
            return Ok(Self::is("REQUESTED"));
        }
        let most = self.config.max_requests;
        if self.mine.sent.len() >= most {
            return Ok(full("player", "requests", most));
        }
        if self.theirs.received.len() >= most {
            return Ok(full("friend", "requests", most));
        }
        if let Some(full) = self.full_of_friends() {
            return Ok(full);
        }
        self.mine.sent.push(Other { uuid: self.friend.clone(), since: self.now });
        self.theirs.received.push(Other { uuid: self.player.clone(), since: self.now });
        self.save("REQUESTED", vec![self.tell_friend("friend-requested")])
    }

    fn accept(&mut self) -> Result<Response, Failure> {
        if has(&self.mine.friends, &self.friend) {
            return Ok(Self::is("FRIENDS"));
        }
        if !has(&self.mine.received, &self.friend) {
            return Ok(Response::error(409, "no_request", "`friend` has not asked, or too long ago"));
        }
        if let Some(full) = self.full_of_friends() {
            return Ok(full);
        }
        self.forget_requests();
        self.mine.friends.push(Other { uuid: self.friend.clone(), since: self.now });
        self.theirs.friends.push(Other { uuid: self.player.clone(), since: self.now });
        self.save("FRIENDS", self.changed("friend-added"))
    }

    /// Declines the friend's request, or withdraws the player's.
    fn decline(&mut self) -> Result<Response, Failure> {
        let state = if has(&self.mine.friends, &self.friend) { "FRIENDS" } else { "NONE" };
        if !self.forget_requests() {
            return Ok(Self::is(state));
        }
        self.save(state, vec![self.tell_friend("friend-request-ended")])
    }

    fn remove(&mut self) -> Result<Response, Failure> {
        let (mine, theirs) = (take(&mut self.mine.friends, &self.friend), take(&mut self.theirs.friends, &self.player));
        if !mine && !theirs {
            return Ok(Self::is("NONE"));
        }
        self.save("NONE", self.changed("friend-removed"))
    }

    fn forget_requests(&mut self) -> bool {
        let lists = [
            take(&mut self.mine.received, &self.friend),
            take(&mut self.mine.sent, &self.friend),
            take(&mut self.theirs.received, &self.player),
            take(&mut self.theirs.sent, &self.player),
        ];
        lists.contains(&true)
    }

    fn full_of_friends(&self) -> Option<Response> {
        let most = self.config.max_friends;
        let whose = [("player", &self.mine), ("friend", &self.theirs)];
        let (whose, _) = whose.into_iter().find(|(_, person)| person.friends.len() >= most)?;
        Some(full(whose, "friends", most))
    }

    /// Events for both, and their documents.
    fn changed(&self, name: &str) -> Vec<Effect> {
        let mut done = vec![event(name, &self.player, &self.friend), self.tell_friend(name)];
        if !self.config.collection.is_empty() {
            // Refused where no connector has registered the collection.
            done.push(self.document(&self.player, &self.mine).optional());
            done.push(self.document(&self.friend, &self.theirs).optional());
        }
        done
    }

    fn document(&self, id: &str, person: &Person) -> Effect {
        let (collection, id, expected) = (self.config.collection.clone(), id.to_owned(), None);
        if person.friends.is_empty() {
            return DeleteDocument { collection, id, expected }.into();
        }
        let friends: Vec<_> = person.friends.iter().map(|friend| &friend.uuid).collect();
        PutDocument { collection, id, document: effects::json(&json!({"friends": friends})), expected }.into()
    }
}

fn event(name: &str, player: &str, friend: &str) -> Effect {
    effects::emit(name, Some(player), &json!({"player": player, "friend": friend}))
}

fn full(whose: &str, of: &str, most: usize) -> Response {
    Response::error(409, &format!("{of}_full"), &format!("{of} of `{whose}`: at most {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    const DAY_MS: u64 = 86_400_000;

    fn player(number: usize) -> String {
        format!("00000000-0000-0000-0000-{number:012}")
    }

    /// Status, the answer's text, and number of effects.
    fn ask(now: u64, endpoint: &str, player: &str, friend: &str) -> (u16, String, usize) {
        let mut request = testing::endpoint_request(endpoint, "");
        request.parameters = vec![("player".into(), player.into()), ("friend".into(), friend.into())];
        let context = testing::handler_context(now, r#"{"maxFriends": 2, "maxRequests": 3, "requestDays": 1}"#);
        let answer = Friends::answer(&context, &request).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let text = body.get("state").or(body.get("code")).map_or_else(|| body.to_string(), ToString::to_string);
        (answer.status, text.trim_matches('"').to_owned(), answer.effects.len())
    }

    #[test]
    fn friends_are_bounded_on_both_sides() {
        let (me, others): (String, Vec<_>) = (player(0), (1..9).map(player).collect());
        for other in &others[..3] {
            assert_eq!(ask(DAY_MS, "request", &me, other), (200, "REQUESTED".into(), 1));
        }
        assert_eq!(ask(DAY_MS, "request", &me, &others[3]), (409, "requests_full".into(), 0));
        for other in &others[..2] {
            assert_eq!(ask(DAY_MS, "accept", other, &me), (200, "FRIENDS".into(), 2));
        }
        assert_eq!(ask(DAY_MS, "accept", &others[2], &me), (409, "friends_full".into(), 0));
        assert_eq!(ask(DAY_MS, "request", &others[4], &me), (409, "friends_full".into(), 0));
        assert_eq!(ask(DAY_MS, "remove", &others[0], &me), (200, "NONE".into(), 2));
        assert_eq!(ask(DAY_MS, "accept", &others[2], &me), (200, "FRIENDS".into(), 2));
    }

    #[test]
    fn a_request_has_an_end() {
        let (me, other) = (player(0), player(1));
        assert_eq!(ask(0, "request", &me, &other), (200, "REQUESTED".into(), 1));
        assert_eq!(ask(DAY_MS, "accept", &other, &me), (409, "no_request".into(), 0));
        assert_eq!(ask(DAY_MS, "request", &me, &other), (200, "REQUESTED".into(), 1));
        assert_eq!(ask(DAY_MS, "decline", &other, &me), (200, "NONE".into(), 1));
        assert_eq!(ask(DAY_MS, "accept", &other, &me), (409, "no_request".into(), 0));
    }

    #[test]
    fn a_player_is_a_uuid_and_no_friend_of_their_own() {
        assert_eq!(ask(0, "request", "Notch", &player(1)), (400, "invalid_request".into(), 0));
        assert_eq!(ask(0, "request", &player(1), &player(1).replace('-', "0")), (400, "invalid_request".into(), 0));
        assert_eq!(ask(0, "request", &player(1), &player(1)), (400, "invalid_request".into(), 0));
    }
}
