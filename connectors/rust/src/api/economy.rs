//! Money, and leaderboards. Do not read a balance to decide whether to take from it: two servers would both sell.
//! [`HubClient::spend`] and [`HubClient::make_transaction`] decide and take in one step.

use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::model::{
    BalanceModification, BalanceOperation, BalanceTransaction, CurrencyBalance, CurrencyLeaderboard, ModifiedBalance,
    StatisticLeaderboard, StatisticPeriod, TransactionReceipt,
};
use crate::{Amount, HubClient, HubError};

impl HubClient {
    /// All balances of an owner, such as of type `player` with the UUID as key.
    pub async fn list_balances(&self, owner_type: &str, owner_key: &str) -> Result<Vec<CurrencyBalance>, HubError> {
        self.plugin(Method::GET, &["economy", owner_type, owner_key, "currencies"]).send().await
    }

    /// Adds to a balance, or takes from it, as far as the currency's bounds allow: `applied` has the actual change. For what must
    /// not be cut, see [`HubClient::modify_balance_exactly`]. The reason is for the ledger.
    pub async fn modify_balance(
        &self,
        owner_type: &str,
        owner_key: &str,
        currency: &str,
        amount: Amount,
        reason: Option<&str>,
    ) -> Result<ModifiedBalance, HubError> {
        self.modify(owner_type, owner_key, currency, amount, reason, false).await
    }

    /// Adds to a balance, or takes from it, all or nothing. Fails with `insufficient_funds` or `over_maximum`, and then nothing has
    /// changed.
    pub async fn modify_balance_exactly(
        &self,
        owner_type: &str,
        owner_key: &str,
        currency: &str,
        amount: Amount,
        reason: Option<&str>,
    ) -> Result<ModifiedBalance, HubError> {
        self.modify(owner_type, owner_key, currency, amount, reason, true).await
    }

    /// Takes money from a player for a purchase, or fails with `insufficient_funds`.
    pub async fn spend(
        &self,
        player: Uuid,
        currency: &str,
        price: Amount,
        reason: Option<&str>,
    ) -> Result<ModifiedBalance, HubError> {
        self.modify("player", &player.to_string(), currency, -price, reason, true).await
    }

    async fn modify(
        &self,
        owner_type: &str,
        owner_key: &str,
        currency: &str,
        amount: Amount,
        reason: Option<&str>,
        exact: bool,
    ) -> Result<ModifiedBalance, HubError> {
        let request = self.plugin(Method::POST, &["economy", owner_type, owner_key, "currencies", "modify"]);
        let body = BalanceModification {
            currency: currency.to_owned(),
            amount,
            reason: reason.map(str::to_owned),
            exact: Some(exact),
            fence: None,
        };
        request.json(&body).send().await
    }

    /// Applies 1 to 16 changes, all or none. Fails with `insufficient_funds` or `over_maximum`; the error's `details` have
    /// `operation`, the index of the first change that was not possible.
    pub async fn make_transaction(
        &self,
        operations: &[BalanceOperation],
        reason: Option<&str>,
    ) -> Result<TransactionReceipt, HubError> {
        let request = self.plugin(Method::POST, &["economy", "transactions"]);
        let reason = reason.map(str::to_owned);
        request.json(&BalanceTransaction { operations: operations.to_vec(), reason, fence: None }).send().await
    }

    /// Moves money from one player to another, or fails with `insufficient_funds`.
    pub async fn pay(
        &self,
        from: Uuid,
        to: Uuid,
        currency: &str,
        amount: Amount,
        reason: Option<&str>,
    ) -> Result<TransactionReceipt, HubError> {
        let change = |player: Uuid, amount| BalanceOperation {
            owner_type: "player".to_owned(),
            owner_key: player.to_string(),
            currency: currency.to_owned(),
            amount,
        };
        self.make_transaction(&[change(from, -amount), change(to, amount)], reason).await
    }

    /// The owners of a type, such as `player`, who have most of a currency: up to 100.
    pub async fn get_currency_leaderboard(
        &self,
        owner_type: &str,
        currency: &str,
        limit: u32,
    ) -> Result<CurrencyLeaderboard, HubError> {
        let request = self.plugin(Method::GET, &["economy", "currencies", "leaderboard"]);
        request.query("ownerType", owner_type).query("currency", currency).query("limit", limit).send().await
    }

    /// The owners of a type, such as `player`, with the highest values of a statistic: up to 100. Without a game mode: `global`.
    pub async fn get_statistic_leaderboard(
        &self,
        owner_type: &str,
        game_mode: Option<&str>,
        name: &str,
        period: StatisticPeriod,
        limit: u32,
    ) -> Result<StatisticLeaderboard, HubError> {
        let request = self.plugin(Method::GET, &["economy", "leaderboard"]).query_if("gameMode", game_mode);
        let request = request.query("ownerType", owner_type).query("name", name).query("period", period);
        request.query("limit", limit).send().await
    }
}

/// For owners that are no players.
impl HubClient {
    /// Adds to an owner's statistic. Without a game mode: `global`.
    pub async fn increment_owner_statistic(
        &self,
        owner_type: &str,
        owner_key: &str,
        name: &str,
        amount: f64,
        game_mode: Option<&str>,
    ) -> Result<crate::model::IncrementedStatistic, HubError> {
        let request = self.plugin(Method::POST, &["economy", owner_type, owner_key, "statistics", "increment"]);
        request.json(&json!({"name": name, "gameMode": game_mode, "amount": amount})).send().await
    }
}
