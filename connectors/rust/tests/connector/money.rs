//! Amounts are exact, and money is neither made nor lost.

use network_hub_client::Amount;
use network_hub_client::model::BalanceOperation;
use uuid::Uuid;

use crate::hub::HubProcess;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

#[test]
fn amounts_are_decimals() {
    for text in ["0", "1", "-1", "0.1", "-0.0001", "12.5", "899999999999999.9999", "-120"] {
        assert_eq!(amount(text).to_string(), text);
        assert_eq!(serde_json::to_string(&amount(text)).unwrap(), text);
        assert_eq!(serde_json::from_str::<Amount>(text).unwrap(), amount(text));
    }
    assert_eq!(amount("1.50000").to_string(), "1.5");
    assert_eq!(amount("0.1") + amount("0.2"), amount("0.3"));
    assert_eq!(Amount::from(5) - amount("0.5"), -amount("-4.5"));
    for text in ["", "-", ".5", "1.", "1e3", "0.00001", "one", "1 ", "--1", "+1", "9999999999999999"] {
        assert!(text.parse::<Amount>().is_err(), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_is_made_whole_or_not_at_all() {
    let hub = HubProcess::start_new();
    let owner = hub.client();
    let (ann, ben) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let given = owner.modify_balance("player", &ann.to_string(), "coins", amount("899999999999999.9999"), None).await;
    assert_eq!(given.unwrap().balance, amount("899999999999999.9999"));
    let paid = owner.pay(ann, ben, "coins", amount("0.0001"), Some("/pay")).await.unwrap();
    assert_eq!(paid.balances[0].balance, amount("899999999999999.9998"));
    assert_eq!(paid.balances[1].applied, amount("0.0001"));

    let change = |player: Uuid, amount: i32| BalanceOperation {
        owner_type: "player".to_owned(),
        owner_key: player.to_string(),
        currency: "coins".to_owned(),
        amount: amount.into(),
    };
    let operations = [change(ann, -5), change(ben, -1)];
    let error = owner.make_transaction(&operations, None).await.unwrap_err();
    assert!(error.is("insufficient_funds"), "{error}");
    assert_eq!(error.refusal().unwrap().details["operation"], 1);
    let balances = owner.list_balances("player", &ann.to_string()).await.unwrap();
    assert_eq!(balances[0].balance, amount("899999999999999.9998"));

    // A cut is reported, and an exact change is not cut.
    let cut = owner.modify_balance("player", &ben.to_string(), "coins", (-1).into(), None).await.unwrap();
    assert_eq!((cut.balance, cut.asked, cut.applied), (Amount::ZERO, (-1).into(), -amount("0.0001")));
    assert!(owner.spend(ben, "coins", amount("0.0001"), None).await.unwrap_err().is("insufficient_funds"));
}
