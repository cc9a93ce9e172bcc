//! Instruction counts of authentication per request, without the database query.

use axum::http::HeaderValue;

use super::*;
use crate::ids::Ids;
use crate::instruction_counts::measured;
use crate::values::NetworkId;

#[test]
fn check_a_key() {
    let (ids, network) = (Ids::seeded(1), NetworkId(uuid::Uuid::from_u128(1)));
    let key_id = key::generate_id(&ids, network);
    let (text, sha256) = key::mint(&ids, &key_id);
    let row = KeyRow {
        network_id: network,
        key_id,
        name: "lobby".to_owned(),
        scopes: "plugin agent".to_owned(),
        sha256,
        previous_sha256: None,
        previous_until: None,
        created_at: 0,
        created_by: None,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        servers: None,
        addresses: None,
        suspended: false,
        move_state: None,
        moved_to: None,
    };
    let headers = HeaderMap::from_iter([
        ("host".parse().unwrap(), HeaderValue::from_static("hub.example")),
        ("x-service-api-key".parse().unwrap(), HeaderValue::from_str(&text).unwrap()),
    ]);
    let check = || {
        let sent = Sent::of(&headers, false).unwrap();
        let key = active_key(&row, sent.credential(&Method::GET, &headers)?, 0)?;
        Ok::<_, ApiError>(key.scopes.allow(Scope::Matchmaking))
    };
    assert!(check().unwrap());
    assert!(measured(check).unwrap());
}
