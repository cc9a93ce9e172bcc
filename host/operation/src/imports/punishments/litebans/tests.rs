//! Single rows. Whole databases are tested through the hub's API.

use super::*;
use crate::imports::database::row::{Cell, time};
use crate::imports::text::Charset;
use crate::punishments::{ImportedPunishment, PunishmentState};

const NOW: Millis = 1_804_680_000_000;
const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

fn punishment(cells: &[(&str, &str)]) -> Result<ImportedPunishment, String> {
    let mut row = vec![("id", "1"), ("uuid", STEVE), ("time", "1800000000000"), ("until", "0"), ("active", "1")];
    row.extend(cells);
    // The last value of a name counts.
    row.reverse();
    let columns: Vec<_> = row.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells: Vec<_> = row.iter().map(|(_, value)| Cell::Text(value.as_bytes().to_vec())).collect();
    let row = Row::new("litebans_bans", &columns, &cells, Some(1), Charset::Utf8);
    let reading = Reading { widens_scopes: false, now: NOW, known: &Findings::default() };
    match reading.punishment(&row, 1, PunishmentKind::Ban) {
        Ok((Record::Punishment { punishment, .. }, _)) => Ok(*punishment),
        Ok(record) => panic!("{record:?}"),
        Err(Skip::Unsupported(reason) | Skip::Unreadable(reason)) => Err(reason),
        Err(skip) => panic!("{skip:?}"),
    }
}

#[test]
fn how_a_punishment_ended_is_told() {
    let past = "1804000000000";
    for (cells, expected) in [
        (&[][..], PunishmentState::Open),
        (&[("until", "-1")], PunishmentState::Open),
        (&[("until", "1804680000001")], PunishmentState::Open),
        (&[("until", past)], PunishmentState::Expired),
        (&[("until", past), ("active", "0"), ("removed_by_name", "#expired")], PunishmentState::Expired),
        (&[("until", past), ("active", "\0")], PunishmentState::Expired),
        (&[("active", "0")], PunishmentState::Revoked),
        (&[("until", past), ("active", "0"), ("removed_by_uuid", STEVE)], PunishmentState::Revoked),
        (&[("active", "\0"), ("removed_by_uuid", "CONSOLE"), ("removed_by_name", "Console")], PunishmentState::Revoked),
        (&[("active", "\u{1}")], PunishmentState::Open),
    ] {
        assert_eq!(punishment(cells).unwrap().state, expected, "{cells:?}");
    }
}

#[test]
fn a_row_that_says_nothing_sensible_is_skipped() {
    for cells in [
        [("time", "x")],
        [("time", "0")],
        [("time", "9223372036854775807")],
        [("until", "soon")],
        // In seconds, it would have ended in 1970.
        [("until", "1900000000")],
        [("time", "1700000000")],
        // A duration, and microseconds.
        [("until", "86400000")],
        [("until", "1")],
        [("until", "1700000009000000")],
        [("until", "253402214400000")],
        [("uuid", "00000000-0000-0000-0000-000000000000")],
        [("uuid", "#offline#")],
        [("uuid", "069a79f4")],
        [("active", "maybe")],
        [("ipban", "2x")],
        [("server_scope", "lobby,hub")],
    ] {
        assert!(punishment(&cells).is_err(), "{cells:?}");
    }
    // A UUID that cannot be read is not nobody's: the address alone would be punished.
    assert!(punishment(&[("uuid", "garbage"), ("ip", "203.0.113.9"), ("ipban", "1")]).is_err());
    assert!(punishment(&[("ip", "203.0.113"), ("ipban", "1")]).is_err());
    assert!(punishment(&[("ip", "203.0.113")]).is_ok(), "its address is not used");
    assert_eq!(punishment(&[("until", "9223372036854775807")]).unwrap().expires_at, None);
    assert_eq!(punishment(&[("until", "1700000000000")]).unwrap().expires_at, Some(1_800_000_000_001));
    assert!(punishment(&[("active", "0"), ("removed_by_date", "1700000000")]).is_err(), "in seconds");
    let address = [("uuid", ""), ("ip", "203.0.113.9")];
    assert!(punishment(&address).is_err(), "the row does not cover it");
    assert!(punishment(&[address[0], address[1], ("ipban", "1")]).is_ok());
    let issuer = punishment(&[("banned_by_uuid", "00000000-0000-0000-0000-000000000000")]).unwrap().issuer;
    assert_eq!(issuer.player, None);
}

#[test]
fn times_are_read_as_databases_write_them() {
    let half_past_nine = Some(1_804_671_000_000);
    for text in [
        "2027-03-10 09:30:00",
        "2027-03-10 09:30:00.000",
        "2027-03-10T09:30:00",
        "1804671000000",
        "2027-03-10 11:30:00+02",
        "2027-03-10 09:30:00Z",
    ] {
        assert_eq!(time(text), half_past_nine, "{text}");
    }
    for wrong in ["", "0000-00-00 00:00:00", "yesterday", "-5", "99999999999999999"] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
}
