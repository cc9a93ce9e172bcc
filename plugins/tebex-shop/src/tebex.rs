//! Webhooks, as Tebex sends them; fields that are not needed are left out.

use serde::Deserialize;

/// A webhook.
#[derive(Debug, Deserialize)]
pub(crate) struct Webhook {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) subject: serde_json::Value,
}

/// Subject of a webhook about a payment.
#[derive(Debug, Deserialize)]
pub(crate) struct Payment {
    pub(crate) transaction_id: String,
    pub(crate) customer: Customer,
    #[serde(default)]
    pub(crate) products: Vec<Item>,
}

/// Subject of a webhook about a subscription.
#[derive(Debug, Deserialize)]
pub(crate) struct Subscription {
    pub(crate) last_payment: Payment,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Customer {
    pub(crate) username: Username,
}

/// A package of a payment.
#[derive(Debug, Deserialize)]
pub(crate) struct Item {
    pub(crate) id: u64,
    #[serde(default = "one")]
    pub(crate) quantity: u64,
    /// End of the package, in RFC 3339.
    pub(crate) expires_at: Option<String>,
    /// Receiver, who may be another player than the customer.
    pub(crate) username: Option<Username>,
}

fn one() -> u64 {
    1
}

/// A player in the shop.
#[derive(Debug, Deserialize)]
pub(crate) struct Username {
    /// The UUID, with hyphens or without.
    pub(crate) id: String,
    /// The name.
    pub(crate) username: String,
}

impl Username {
    /// The UUID in the form of the hub; none if the shop knows only the name.
    pub(crate) fn uuid(&self) -> Option<String> {
        let digits: String = self.id.chars().filter(|letter| *letter != '-').collect::<String>().to_lowercase();
        let is_uuid = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or_default();
        is_uuid.then(|| [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-"))
    }
}

/// Milliseconds since 1970 of a time such as `2026-08-24T12:21:47+02:00`.
pub(crate) fn time(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let at = |index: usize| text.as_bytes().get(index).copied();
    if (at(4), at(7), at(13), at(16)) != (Some(b'-'), Some(b'-'), Some(b':'), Some(b':')) {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let zone = text.get(19..)?.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
    let offset = match zone.split_at_checked(1)? {
        ("Z", "") => 0,
        (sign, rest) => {
            let minutes = rest.get(0..2)?.parse::<i64>().ok()? * 60 + rest.get(3..5)?.parse::<i64>().ok()?;
            if sign == "-" { -minutes } else { minutes }
        }
    };
    // Days from 1 March of the year 0: leap days come last in such years.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second;
    u64::try_from(seconds * 1_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_zone() {
        assert_eq!(time("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(time("2024-02-29T12:00:00+00:00"), Some(1_709_208_000_000));
        assert_eq!(time("2024-02-29T14:00:00.000000+02:00"), Some(1_709_208_000_000));
        assert_eq!(time("2023-11-14T17:13:20-05:00"), Some(1_700_000_000_000));
        for bad in ["", "2024", "2024-02-29", "2024-02-29T12:00:00", "2024-02-29T12:00:00+", "später, irgendwann"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_uuid_may_have_no_hyphens() {
        let uuid = |id: &str| Username { id: id.into(), username: "Notch".into() }.uuid();
        let known = Some("069a79f4-44e9-4726-a5be-fca90e38aaf5".to_owned());
        assert_eq!(uuid("069a79f444e94726a5befca90e38aaf5"), known);
        assert_eq!(uuid("069A79F4-44e9-4726-a5be-fca90e38aaf5"), known);
        assert_eq!((uuid("Notch"), uuid("")), (None, None));
    }
}
