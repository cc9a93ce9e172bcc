//! Parsers must survive any file.

use proptest::prelude::*;

use super::{read_essentials, read_table};
use crate::economy::Amount;
use crate::imports::findings::NumberFormat;
use crate::imports::forms::Expected;
use crate::imports::record::{Item, ParseError, Record, Sink};
use crate::imports::testing::{budget, read_text};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

fn table(text: &[u8]) -> Result<Vec<Item>, ParseError> {
    let mut shown = NumberFormat::Unknown;
    read_text(|input, sink| read_table(input, NumberFormat::Unknown, &mut shown, sink), text, Expected::Table)?;
    let known = shown;
    read_text(|input, sink| read_table(input, known, &mut shown, sink), text, Expected::Table)
}

/// Amounts of the rows, and reasons of those that are skipped.
fn amounts(text: &str) -> Result<Vec<String>, String> {
    match table(text.as_bytes()) {
        Ok(items) => Ok(items
            .into_iter()
            .map(|item| match item.record {
                Record::Balance { amount, .. } => amount.to_string(),
                _ => item.notes[0].reason.clone(),
            })
            .collect()),
        Err(ParseError::Wrong { message, .. }) => Err(message),
        Err(ParseError::Stopped) => panic!("it stopped"),
    }
}

#[test]
fn a_row_without_end_is_refused() {
    let text = format!("uuid,balance\n{STEVE},{}", "1".repeat(100_000));
    assert!(matches!(table(text.as_bytes()), Err(ParseError::Wrong { .. })));
    let quoted = format!("uuid,balance\n{STEVE},\"{}", "1\n".repeat(100_000));
    assert!(matches!(table(quoted.as_bytes()), Err(ParseError::Wrong { line: Some(2), .. })));
}

#[test]
fn columns_are_found_by_the_rank_of_their_names() {
    for (header, row, expected) in [
        ("id,uuid,balance", format!("1,{STEVE},12"), Ok("12")),
        ("balance,uuid", format!("12,{STEVE}"), Ok("12")),
        ("uuid,value,balance", format!("{STEVE},999,12"), Ok("12")),
        ("uuid;value", format!("{STEVE};12"), Ok("12")),
        ("player_id,uuid,money,value", format!("1,{STEVE},12,3"), Ok("12")),
        ("sep=;\nuuid;balance", format!("{STEVE};12,5"), Ok("12.5")),
        ("sep=\t\r\nuuid\tbalance", format!("{STEVE}\t12"), Ok("12")),
        ("\"sep=;\"\r\nuuid;balance", format!("{STEVE};12"), Ok("12")),
        ("\"uuid\",\"balance\"", format!("{STEVE},\"1,234.5\""), Ok("1234.5")),
        ("uuid,balance,balance", format!("{STEVE},1,2"), Err("`balance` and `balance`")),
        ("uuid,money,coins", format!("{STEVE},1,2"), Err("`money` and `coins`")),
        ("uuid,player_uuid,balance", format!("{STEVE},{STEVE},2"), Err("`uuid` and `player_uuid`")),
        ("name,worth", "x,1".to_owned(), Err("`uuid` and `balance`")),
        (STEVE, STEVE.to_owned(), Err("two columns")),
    ] {
        let header = if header == STEVE { format!("{STEVE},Steve,10") } else { header.to_owned() };
        match (amounts(&format!("{header}\n{row}\n")), expected) {
            (Ok(found), Ok(amount)) => assert_eq!(found, [amount], "{header}"),
            (Err(found), Err(part)) => assert!(found.contains(part), "{header}: {found}"),
            (found, _) => panic!("{header}: {found:?}"),
        }
    }
    assert_eq!(amounts(&format!("{STEVE};1234,56\n")).unwrap(), ["1234.56"]);
}

#[test]
fn a_row_of_another_width_is_skipped() {
    let text = format!("uuid,balance\n{STEVE},1234,56\n{STEVE}\n{STEVE},7\n");
    let found = amounts(&text).unwrap();
    assert!(found[0].contains("3 columns") && found[1].contains("1 columns"), "{found:?}");
    assert_eq!(found[2], "7");
    let none = amounts(&format!("uuid,balance\n{STEVE},1234,56\n")).unwrap_err();
    assert!(none.contains("None of its 1 rows"), "{none}");
}

#[test]
fn a_cell_behind_its_quotes_is_no_amount() {
    let text = format!(
        "uuid,balance\n{STEVE},\"1\"5\n{STEVE}, \"7\" \r\n\"{STEVE}\" ,\"8\"\n00000000-0000-0000-0000-000000000000,9\n"
    );
    let found = amounts(&text).unwrap();
    assert!(found[0].contains("closing quote") && found[3].contains("no player UUID"), "{found:?}");
    assert_eq!(found[2], "8");
    assert!(amounts(&format!("\"uuid\"x,balance\n{STEVE},1\n")).unwrap_err().contains("closing quote"));
    assert!(amounts("uuid,balance\n").unwrap_err().contains("no rows"));
}

#[test]
fn a_players_file_that_says_two_things_is_skipped() {
    for (text, part) in [
        ("money: '5'\nmoney: '6'\n", "`money` twice"),
        ("money: '5'\n---\nmoney: '6'\n", "several documents"),
        ("npc: false\nnpc: true\n", "`npc` twice"),
        ("npc: perhaps\n", "neither true nor false"),
        ("a: &a '5'\nmoney: *a\n", "`money` refers to another value"),
        ("money:\n  a: 1\n", "`money` is no single value"),
        ("money: [5]\n", "`money` is no single value"),
        ("a: &a {money: '5'}\n<<: *a\n", "`<<` refers"),
    ] {
        let (_, reason) = super::essentials::user(text).unwrap_err();
        assert!(reason.contains(part), "{text}: {reason}");
    }
    for (npc, expected) in [("True", true), ("yes", true), ("'true'", true), ("off", false), ("", false), ("~", false)]
    {
        let user = super::essentials::user(&format!("money: '5'\nnpc: {npc}\n? [a]\n: money\nb: '6'\n")).unwrap();
        assert_eq!(user.is_npc_for_tests(), expected, "{npc}");
    }
}

#[test]
fn a_file_has_one_decimal_separator() {
    let rows = |amounts: [&str; 2]| format!("uuid;balance\n{STEVE};{}\n{STEVE};{}\n", amounts[0], amounts[1]);
    assert_eq!(amounts(&rows(["1.234", "1,5"])).unwrap(), ["1234", "1.5"]);
    assert_eq!(amounts(&rows(["1,234", "1.5"])).unwrap(), ["1234", "1.5"]);
    assert_eq!(amounts(&rows(["1.234", "5"])).unwrap(), ["1.234", "5"]);
    assert!(amounts(&rows(["1,234", "5"])).unwrap()[0].contains("may be 1234 or 1.234"));
    assert!(amounts(&rows(["1,5", "1.5"])).unwrap_err().contains("decimal"));
}

#[test]
fn amounts_are_cut_to_four_digits() {
    for (text, expected, is_cut) in [
        ("12", "12", false),
        ("12.34567", "12.3456", true),
        ("-0.00009", "0", true),
        ("-1.99999", "-1.9999", true),
        ("1.23456789E2", "123.4567", true),
        ("123456e-6", "0.1234", true),
        ("1e-9", "0", true),
        ("-1e-9", "0", true),
    ] {
        let (amount, cut) = Amount::parse_cut(text).unwrap();
        assert_eq!((amount.to_string().as_str(), cut), (expected, is_cut), "{text}");
    }
    for wrong in ["", "x", "1,5", "--1", "1e", "1e99", "NaN", "1.2.3"] {
        assert!(Amount::parse_cut(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_line_of_a_row_is_told() {
    let text = "uuid,balance\n\"x\ny\",1\n069a79f4-44e9-4726-a5be-fca90e38aaf5,2\n";
    let items = table(text.as_bytes()).unwrap();
    let lines: Vec<_> = items.iter().map(|item| item.line).collect();
    assert_eq!(lines, [Some(2), Some(4)]);
    assert!(matches!(items[1].record, Record::Balance { .. }));
}

proptest! {
    #[test]
    fn no_text_makes_an_amount_panic(text in "[-+0-9.eE]{0,12}") {
        let _ = Amount::parse_cut(&text);
    }

    #[test]
    fn no_bytes_make_the_table_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = table(&[b"uuid,balance\n", bytes.as_slice()].concat());
        let _ = table(&bytes);
    }

    #[test]
    fn no_bytes_make_the_archive_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [b"PK\x03\x04", bytes.as_slice()].concat();
        let budget = budget();
        let _ = read_essentials(std::io::Cursor::new(bytes), &mut Sink::new(&budget, &mut |_| Ok(())));
    }

    #[test]
    fn no_user_file_makes_the_reader_panic(text in "[a-z:\\-\\[\\]{}&*|>#' \n\t0-9]{0,120}") {
        let _ = super::essentials::user(&text);
        let _ = super::essentials::user(&format!("money: '5'\n{text}"));
    }
}
