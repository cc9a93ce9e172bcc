//! The signature of a transfer command. `docs/transfers.md` tells receivers how to verify one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Serialize;
use sha2::Sha256;

use crate::clock::Millis;
use crate::transfers::model::TransferId;
use crate::values::{Identifier, PlayerId};

/// A command as it is signed and, with its signature, sent.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Command {
    pub(crate) transfer_id: TransferId,
    pub(crate) player_uuid: PlayerId,
    pub(crate) target_server_id: Identifier,
    pub(crate) target_world_id: Option<Identifier>,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) issued_at: Millis,
    pub(crate) expires_at: Millis,
}

impl Command {
    /// `v1,` and the base64 of the HMAC-SHA256 over the fields, under the network's signing secret.
    pub(crate) fn sign(&self, secret: &str) -> String {
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
        format!("v1,{}", STANDARD.encode(hmac(secret.as_bytes(), text.as_bytes())))
    }
}

/// HMAC-SHA256.
pub(crate) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    // A MAC by this construction takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use uuid::uuid;

    use super::*;

    /// The first case of RFC 4231.
    #[test]
    fn the_mac_is_the_standards() {
        let mac = hmac(&[0x0b; 20], b"Hi There");
        assert_eq!(mac[..8], [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53]);
    }

    /// The values were computed by another implementation, of what `docs/transfers.md` says.
    #[test]
    fn a_known_command_has_its_known_signature() {
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
        let secret = "9fK2mXw7Qb1cD3eF5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5d";
        assert_eq!(command.sign(secret), "v1,ZcRzoOLwsos7U7I5Kq73W1z3cnIISR+3Vg53F/EDcBs=");
        command.target_world_id = None;
        assert_eq!(command.sign(secret), "v1,FjX6RP3KcBsZqd7zYo80RieqLChhBXPQwDOyHgdtbUQ=");
    }
}
