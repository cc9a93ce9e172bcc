//! Ranks and deliveries for purchases in a Tebex shop.

mod config;
mod ranks;
mod tebex;

use config::{Config, Product};
use network_hub_module::effects::{self, Deliver, Effect};
use network_hub_module::endpoints::{Endpoints, Failure, Request, Response};
use network_hub_module::{CallContext, config, state, warn};
use ranks::Ranks;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tebex::{Item, Payment, Subscription, Username, Webhook};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Longer than payments can be disputed.
const KEPT_MS: u64 = 540 * DAY_MS;
/// Configured packages of one payment, and players who receive them: both stay within 64 effects and 16 host calls.
const MAX_ITEMS: usize = 28;
const MAX_PLAYERS: usize = 6;

/// State of a payment, which is the same whatever order the shop's webhooks come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    /// Never heard of.
    #[default]
    New,
    Paid,
    /// Disputed: its ranks are taken away.
    Disputed,
    /// Disputed, and decided for the shop.
    Won,
    /// Refunded, or lost.
    Returned,
}

/// A payment as it is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    status: Status,
    /// True once its deliveries were created.
    delivered: bool,
    /// UUIDs of players who have ranks of it, whatever the configuration says by now.
    players: Vec<String>,
}

/// Answers the shop.
struct Shop;

#[network_hub_module::export]
impl Endpoints for Shop {
    fn answer(context: &CallContext, request: &Request) -> Result<Response, Failure> {
        let webhook: Webhook = match request.json() {
            Ok(webhook) => webhook,
            Err(answer) => return Ok(answer),
        };
        let done = match webhook.kind.as_str() {
            "payment.completed" => pay(context, subject(&webhook), Status::Paid),
            "payment.refunded" | "payment.dispute.lost" => pay(context, subject(&webhook), Status::Returned),
            "payment.dispute.opened" => pay(context, subject(&webhook), Status::Disputed),
            "payment.dispute.won" => pay(context, subject(&webhook), Status::Won),
            "recurring-payment.started" | "recurring-payment.renewed" => {
                let last = subject(&webhook).map(|subscription: Subscription| subscription.last_payment);
                pay(context, last, Status::Paid)
            }
            // With the test that the shop sends first, and kinds of which nothing is to be done.
            _ => Ok(Ok(vec![])),
        };
        Ok(match done? {
            Ok(effects) => Response::json(200, &serde_json::json!({"id": webhook.id})).with(effects),
            Err(answer) => answer,
        })
    }
}

fn subject<T: DeserializeOwned>(webhook: &Webhook) -> Result<T, Response> {
    let read = T::deserialize(&webhook.subject);
    read.map_err(|error| Response::error(400, "invalid_request", &format!("subject: {error}")))
}

/// Brings a payment to a status.
fn pay(
    context: &CallContext,
    payment: Result<Payment, Response>,
    status: Status,
) -> Result<Result<Vec<Effect>, Response>, Failure> {
    let payment = match payment {
        Ok(payment) => payment,
        Err(answer) => return Ok(Err(answer)),
    };
    let key = format!("payment:{}", payment.transaction_id);
    let kept = state::get(&key)?;
    let kept: Kept = kept.and_then(|kept| serde_json::from_str(&kept).ok()).unwrap_or_default();
    // Each status comes once, and none leads back.
    let is_next = match (kept.status, status) {
        (Status::New, _) | (_, Status::Returned) => kept.status != status,
        (Status::Paid, Status::Disputed | Status::Won) | (Status::Disputed, Status::Won) => true,
        _ => false,
    };
    if !is_next {
        return Ok(Ok(vec![]));
    }
    let has_ranks = |status| matches!(status, Status::Paid | Status::Won);
    let purchase = match Purchase::of(context, &payment) {
        Ok(purchase) => purchase,
        Err(answer) => return Ok(Err(answer)),
    };
    let mut done = vec![];
    let mut players = kept.players;
    if has_ranks(status) && players.is_empty() {
        (players, done) = purchase.give_ranks()?;
    } else if !has_ranks(status) {
        for player in std::mem::take(&mut players) {
            let mut ranks = Ranks::of(&player, context.now_ms)?;
            ranks.take(&payment.transaction_id);
            done.extend(ranks.save()?);
        }
    }
    let delivers = has_ranks(status) && !kept.delivered;
    if delivers {
        done.extend(purchase.deliveries(false));
        done.push(purchase.told("purchase"));
        done.extend(purchase.announcement());
    } else if !has_ranks(status) && kept.status != Status::New {
        if status == Status::Returned && kept.delivered {
            done.extend(purchase.deliveries(true));
        }
        done.push(purchase.told(if status == Status::Returned { "refund" } else { "dispute" }));
    }
    let kept = Kept { status, delivered: kept.delivered || delivers, players };
    state::set(&key, &effects::json(&kept), Some(KEPT_MS))?;
    Ok(Ok(done))
}

/// The packages of a payment that are configured.
struct Purchase<'a> {
    context: &'a CallContext,
    config: Config,
    payment: &'a Payment,
    /// Positions in the payment, and in the configuration.
    items: Vec<(usize, usize)>,
}

impl<'a> Purchase<'a> {
    /// Checks a payment, or says what is wrong with it, so that the shop sends it again.
    fn of(context: &'a CallContext, payment: &'a Payment) -> Result<Self, Response> {
        let config: Config = config(context);
        let product = |item: &Item| config.products.iter().position(|product| product.id == item.id);
        let items = payment.products.iter().enumerate();
        let items: Vec<_> = items.filter_map(|(at, item)| Some((at, product(item)?))).collect();
        let purchase = Self { context, config, payment, items };
        let mut players: Vec<_> = purchase.items().map(|(item, _, _)| &purchase.receiver(item).id).collect();
        players.sort_unstable();
        players.dedup();
        if purchase.items.len() > MAX_ITEMS || players.len() > MAX_PLAYERS {
            let message = format!("a payment may have {MAX_ITEMS} packages for {MAX_PLAYERS} players");
            return Err(Response::error(422, "payment_too_large", &message));
        }
        let nameless = |(item, product, _): &(&Item, &Product, usize)| {
            !product.rank.is_empty() && purchase.receiver(item).uuid().is_none()
        };
        if let Some((item, product, _)) = purchase.items().find(nameless) {
            let name = &purchase.receiver(item).username;
            warn!("{}: {name} has no UUID and can't have the rank {}", payment.transaction_id, product.rank);
            return Err(Response::error(422, "no_uuid", "a rank needs the player's UUID"));
        }
        Ok(purchase)
    }

    fn items(&self) -> impl Iterator<Item = (&Item, &Product, usize)> {
        self.items.iter().map(|(at, product)| (&self.payment.products[*at], &self.config.products[*product], *at))
    }

    fn receiver<'b>(&'b self, item: &'b Item) -> &'b Username {
        item.username.as_ref().unwrap_or(&self.payment.customer.username)
    }

    /// Gives the ranks, and names those who have them now.
    fn give_ranks(&self) -> Result<(Vec<String>, Vec<Effect>), Failure> {
        let (mut players, mut all): (Vec<String>, Vec<Ranks>) = (vec![], vec![]);
        for (item, product, _) in self.items().filter(|(_, product, _)| !product.rank.is_empty()) {
            let Some(player) = self.receiver(item).uuid() else { continue };
            let known = players.iter().position(|known| *known == player);
            let at = known.unwrap_or(all.len());
            if known.is_none() {
                all.push(Ranks::of(&player, self.context.now_ms)?);
                players.push(player);
            }
            let (ranks, payment) = (&mut all[at], &self.payment.transaction_id);
            match (item.expires_at.as_deref().and_then(tebex::time), product.days) {
                (Some(end), _) if end <= self.context.now_ms => {}
                (Some(end), _) => ranks.give_until(&product.rank, payment, Some(end)),
                (None, 0) => ranks.give_until(&product.rank, payment, None),
                (None, days) => {
                    let times = item.quantity.clamp(1, 100);
                    ranks.give_for(&product.rank, payment, days * times * DAY_MS);
                }
            }
        }
        let mut done = vec![];
        for ranks in all {
            done.extend(ranks.save()?);
        }
        Ok((players, done))
    }

    fn deliveries(&self, is_refund: bool) -> Vec<Effect> {
        let delivery = |(item, product, at): (&Item, &Product, usize)| {
            let kind = if is_refund { &product.refund_delivery } else { &product.delivery };
            let receiver = self.receiver(item);
            let uuid = receiver.uuid();
            let payment = &self.payment.transaction_id;
            let payload = serde_json::json!({"payment": payment, "package": item.id, "quantity": item.quantity});
            let name = if is_refund { "tebex-refund" } else { "tebex" };
            let deliver = Deliver {
                player_name: uuid.is_none().then(|| receiver.username.clone()),
                player_uuid: uuid,
                kind: kind.clone(),
                payload: effects::json(&payload),
                server_type: None,
                server_id: None,
                not_before_ms: None,
                expires_at_ms: None,
                reference: Some(format!("{name}-{payment}-{at}")),
                on_lost: None,
            };
            (!kind.is_empty()).then(|| deliver.into())
        };
        self.items().filter_map(delivery).collect()
    }

    /// An event for other modules and programs.
    fn told(&self, name: &str) -> Effect {
        let customer = &self.payment.customer.username;
        let packages: Vec<_> = self.items().map(|(item, _, _)| item.id).collect();
        let payload = serde_json::json!({
            "payment": self.payment.transaction_id, "playerUuid": customer.uuid(), "playerName": customer.username,
            "packages": packages,
        });
        effects::emit(name, customer.uuid().as_deref(), &payload)
    }

    fn announcement(&self) -> Option<Effect> {
        let text = format!("{} has bought something in the shop. Thank you!", self.payment.customer.username.username);
        let wanted = self.config.announce && !self.items.is_empty();
        wanted.then(|| effects::announce(text).optional())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::effects::Action;
    use network_hub_module::testing;

    const CONFIG: &str = r#"{"products": [{"id": 1, "rank": "vip", "days": 30},
        {"id": 2, "delivery": "crate", "refundDelivery": "crate-back"}]}"#;

    /// Kinds of the effects of a webhook, and its status.
    fn answer(config: &str, kind: &str, products: &str) -> (u16, Vec<&'static str>) {
        let player = r#"{"id": "069a79f444e94726a5befca90e38aaf5", "username": "Notch"}"#;
        let subject =
            format!(r#"{{"transaction_id": "tbx-1", "customer": {{"username": {player}}}, "products": [{products}]}}"#);
        let body = format!(r#"{{"id": "w", "type": "{kind}", "subject": {subject}}}"#);
        let context = testing::handler_context(0, config);
        let answer = Shop::answer(&context, &testing::endpoint_request("webhook", &body)).unwrap();
        let kind = |effect: &Effect| match &effect.action {
            Action::PutPermission(_) => "rank",
            Action::RemovePermission(_) => "no rank",
            Action::Deliver(deliver) if deliver.kind == "crate" => "crate",
            Action::Deliver(_) => "crate back",
            Action::Emit(_) => "event",
            _ => "other",
        };
        (answer.status, answer.effects.iter().map(kind).collect())
    }

    #[test]
    fn a_payment_has_its_effects_in_any_order_of_webhooks() {
        let both = r#"{"id": 1}, {"id": 2, "quantity": 3}"#;
        assert_eq!(answer(CONFIG, "payment.dispute.opened", both), (200, vec![]));
        assert_eq!(answer(CONFIG, "payment.completed", both), (200, vec![]));
        assert_eq!(answer(CONFIG, "payment.dispute.won", both), (200, vec!["rank", "crate", "event"]));
        assert_eq!(answer(CONFIG, "payment.dispute.opened", both), (200, vec![]));
        assert_eq!(answer(CONFIG, "payment.refunded", both), (200, vec!["no rank", "crate back", "event"]));
        for kind in ["payment.refunded", "payment.completed", "payment.dispute.won", "payment.dispute.lost"] {
            assert_eq!(answer(CONFIG, kind, both), (200, vec![]), "{kind}");
        }
    }

    #[test]
    fn a_rank_is_taken_although_the_shop_sells_it_no_more() {
        assert_eq!(answer(CONFIG, "payment.completed", r#"{"id": 1}"#), (200, vec!["rank", "event"]));
        assert_eq!(answer("{}", "payment.refunded", r#"{"id": 1}"#), (200, vec!["no rank", "event"]));
    }

    #[test]
    fn a_payment_is_bounded() {
        let many = vec![r#"{"id": 2}"#; 29].join(",");
        assert_eq!(answer(CONFIG, "payment.completed", &many), (422, vec![]));
        assert_eq!(answer(CONFIG, "payment.completed", r#"{"id": 9}"#), (200, vec!["event"]));
    }
}
