//! Signature of a transfer command. `docs/connectors/transfers.md` explains its verification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::mac::hmac_sha256;
use crate::secret_text::SecretText;
use crate::transfers::model::TransferId;
use crate::values::{Identifier, PlayerId};

/// An unsigned command.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferCommand)]
pub(super) struct Command {
    pub(super) transfer_id: TransferId,
    pub(super) player_uuid: PlayerId,
    pub(super) target_server_id: Identifier,
    pub(super) target_world_id: Option<Identifier>,
    /// Address of the target for players.
    pub(super) host: String,
    #[schema(example = 25565)]
    pub(super) port: u16,
    pub(super) issued_at: Millis,
    pub(super) expires_at: Millis,
}

impl Command {
    /// For each valid secret, `v1,` and the base64 of the HMAC-SHA256 over the fields, separated by spaces.
    pub(super) fn sign<'a>(&self, secrets: impl Iterator<Item = &'a SecretText>) -> String {
        let text = format!(
            "{}.{}.{}.{}.{}.{}.{}",
            self.transfer_id,
            self.player_uuid,
            self.target_server_id,
            self.target_world_id.as_ref().map(Identifier::as_str).unwrap_or_default(),
            self.host,
            self.port,
            self.expires_at,
        );
        let sign = |secret: &SecretText| STANDARD.encode(hmac_sha256(secret.as_bytes(), text.as_bytes()));
        secrets.map(|secret| format!("v1,{}", sign(secret))).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use uuid::uuid;

    use super::*;

    /// The values were computed by another implementation of `docs/connectors/transfers.md`.
    #[test]
    fn signatures_match_another_implementation() {
        let mut command = Command {
            transfer_id: TransferId(uuid!("0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")),
            player_uuid: PlayerId(uuid!("069a79f4-44e9-4726-a5be-fca90e38aaf5")),
            target_server_id: Identifier::try_from("bedwars-1".to_owned()).unwrap(),
            target_world_id: Some(Identifier::try_from("arena-3".to_owned()).unwrap()),
            host: "10.0.0.7".to_owned(),
            port: 25565,
            issued_at: 1_804_680_000_000,
            expires_at: 1_804_680_030_000,
        };
        let secrets = [SecretText::from("9fK2mXw7Qb1cD3eF5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5d".to_owned())];
        assert_eq!(command.sign(secrets.iter()), "v1,ZcRzoOLwsos7U7I5Kq73W1z3cnIISR+3Vg53F/EDcBs=");
        command.target_world_id = None;
        let signature = command.sign(secrets.iter());
        assert_eq!(signature, "v1,FjX6RP3KcBsZqd7zYo80RieqLChhBXPQwDOyHgdtbUQ=");
        assert_eq!(command.sign([&secrets[0], &secrets[0]].into_iter()), format!("{signature} {signature}"));
    }
}
