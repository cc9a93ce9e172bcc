//! Parsers must survive any file.

use proptest::prelude::*;

use super::{read_essentials, read_table};
use crate::economy::Amount;
use crate::imports::record::{Item, ParseError, Record};

fn table(text: &[u8]) -> Result<Vec<Item>, ParseError> {
    let mut items = vec![];
    read_table(text, &mut |item| {
        items.push(item);
        Ok(())
    })?;
    Ok(items)
}

#[test]
fn a_row_without_end_is_refused() {
    let text = format!("uuid,balance\n069a79f4-44e9-4726-a5be-fca90e38aaf5,{}", "1".repeat(100_000));
    assert!(matches!(table(text.as_bytes()), Err(ParseError::Wrong { .. })));
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
        let _ = read_essentials(std::io::Cursor::new(bytes), &mut |_| Ok(()));
    }

    #[test]
    fn no_user_file_makes_the_reader_panic(text in "[a-z:\\-\\[\\]{}&*|>#' \n\t0-9]{0,120}") {
        let _ = super::essentials::user(&text);
        let _ = super::essentials::user(&format!("money: '5'\n{text}"));
    }
}
