//! Transfer commands: whose they are, and how often they are good.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use network_hub_client::connector::{CommandRefusal, TransferVerifier};
use network_hub_client::model::SignedTransferCommand;
use serde_json::json;
use sha2::Sha256;
use uuid::Uuid;

/// A command that is signed with these secrets.
pub(crate) fn command(id: u128, expires_at: i64, secrets: &[&str]) -> SignedTransferCommand {
    let (id, player_uuid) = (Uuid::from_u128(id), Uuid::from_u128(7));
    let text = format!("{id}.{player_uuid}.lobby..10.0.0.1.25565.{expires_at}");
    let sign = |secret: &&str| {
        let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(&text);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    };
    let signature = secrets.iter().map(sign).collect::<Vec<_>>().join(" ");
    let command = json!({
        "transferId": id, "playerUuid": player_uuid, "targetServerId": "lobby", "targetWorldId": null,
        "host": "10.0.0.1", "port": 25565, "issuedAt": 0, "expiresAt": expires_at, "signature": signature,
    });
    serde_json::from_value(command).unwrap()
}

#[test]
fn a_command_is_good_once() {
    let verifier = TransferVerifier::default();
    verifier.set_secret("old", 0);
    let good = command(1, 100, &["old"]);
    assert_eq!(verifier.verify(&good, 50), Ok(()));
    assert_eq!(verifier.verify(&good, 50), Err(CommandRefusal::Used));
    assert_eq!(verifier.verify(&command(2, 100, &["old"]), 100), Err(CommandRefusal::Expired));
    assert_eq!(verifier.verify(&command(3, 100, &["other"]), 50), Err(CommandRefusal::WrongSignature));
    assert_eq!(verifier.verify(&command(4, 100, &[]), 50), Err(CommandRefusal::WrongSignature));
    let mut moved = command(5, 100, &["old"]);
    moved.host = "evil.example".to_owned();
    assert_eq!(verifier.verify(&moved, 50), Err(CommandRefusal::WrongSignature));
    // A refused command is not used.
    assert_eq!(verifier.verify(&command(5, 100, &["old"]), 50), Ok(()));
}

#[test]
fn while_the_secret_changes_either_is_good() {
    let verifier = TransferVerifier::default();
    verifier.set_secret("old", 0);
    // Before it has heard of the new one.
    assert_eq!(verifier.verify(&command(1, 5_000, &["new", "old"]), 50), Ok(()));
    verifier.rotate("new", 1_000);
    assert_eq!(verifier.verify(&command(2, 5_000, &["new", "old"]), 60), Ok(()));
    assert_eq!(verifier.verify(&command(3, 5_000, &["old"]), 60), Ok(()));
    assert_eq!(verifier.verify(&command(4, 5_000, &["old"]), 1_000), Err(CommandRefusal::WrongSignature));
    assert_eq!(verifier.verify(&command(5, 5_000, &["new"]), 1_000), Ok(()));
    // The same secret again, as each registration brings it, changes nothing.
    verifier.set_secret("new", 2_000);
    assert_eq!(verifier.verify(&command(6, 50_000, &["new"]), 40_000), Ok(()));
}

#[test]
fn a_change_that_is_told_before_a_registrations_answer_is_newer() {
    let good = |verifier: &TransferVerifier, now: i64, secrets: &[&str]| {
        // Each command once.
        let commands = secrets.iter().zip(u128::from(now.unsigned_abs())..);
        let commands = commands.map(|(secret, id)| command(id, 900_000, &[secret]));
        commands.map(|command| verifier.verify(&command, now).is_ok()).collect::<Vec<_>>()
    };
    let verifier = TransferVerifier::default();
    verifier.registering();
    verifier.rotate("newer", 10_000);
    verifier.rotate("newest", 20_000);
    verifier.set_secret("old", 0);
    assert_eq!(good(&verifier, 9_999, &["old", "newer", "newest"]), [true, true, true]);
    assert_eq!(good(&verifier, 20_000, &["old", "newer", "newest"]), [false, false, true]);
    // The next answer is newer than what was told before it was asked for.
    verifier.registering();
    verifier.set_secret("later", 30_000);
    assert_eq!(good(&verifier, 60_000, &["newest", "later"]), [false, true]);
    let verifier = TransferVerifier::default();
    verifier.rotate("told", 10_000);
    verifier.set_secret("answered", 20_000);
    assert_eq!(good(&verifier, 50_000, &["told", "answered"]), [false, true]);
}
