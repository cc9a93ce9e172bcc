//! Dumps as written by the tools, and invalid texts.

use proptest::prelude::*;

use super::*;

type Read = Vec<(String, u64, Vec<(String, Cell)>)>;

fn read(dump: &[u8]) -> Result<Read, ParseError> {
    let mut rows = vec![];
    read_dump(dump, &|table| table.starts_with("litebans_"), &mut |row| {
        let cells = row.columns.iter().cloned().zip(row.cells.iter().cloned()).collect();
        rows.push((row.table.to_owned(), row.line.unwrap(), cells));
        Ok(())
    })?;
    Ok(rows)
}

fn text(text: &str) -> Cell {
    Cell::Text(text.as_bytes().to_vec())
}

fn number(number: &str) -> Cell {
    Cell::Number(number.to_owned())
}

#[test]
fn a_mysqldump_is_read() {
    let dump = b"/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19 it's\n/*!40101 SET NAMES utf8mb4 */;\n\
        DROP TABLE IF EXISTS `litebans_bans`;\nCREATE TABLE `litebans_bans` (\n  `id` bigint(20) unsigned NOT NULL,\n\
        `reason` varchar(2048) DEFAULT 'it\\'s (, )' COMMENT 'a, b',\n  `active` bit(1) NOT NULL DEFAULT b'0',\n\
        PRIMARY KEY (`id`),\n  KEY `active` (`active`)\n) ENGINE=InnoDB;\nLOCK TABLES `litebans_bans` WRITE;\n\
        INSERT INTO `litebans_bans` VALUES\n(1,'it\\'s; a \\\"test\\\" \\\\','\x01'),\n(2,NULL,_binary '\\0'),(-3,'''x''',b'1');\n\
        INSERT INTO `other` VALUES (1,'litebans_bans (');\nUNLOCK TABLES;\n";
    let rows = read(dump).unwrap();
    let row = |id: &str, reason: Cell, active: Cell| {
        vec![("id".to_owned(), number(id)), ("reason".to_owned(), reason), ("active".to_owned(), active)]
    };
    let name = || "litebans_bans".to_owned();
    assert_eq!(
        rows,
        [
            (name(), 14, row("1", text("it's; a \"test\" \\"), text("\u{1}"))),
            (name(), 15, row("2", Cell::Null, text("\0"))),
            (name(), 15, row("-3", text("'x'"), number("1"))),
        ]
    );
}

#[test]
fn a_script_of_h2_is_read() {
    let dump = br#"-- H2 2.2.224;
;
CREATE USER IF NOT EXISTS "SA" SALT 'f6\' HASH 'x' ADMIN;
CREATE CACHED TABLE "PUBLIC"."LITEBANS_BANS"(
    "ID" BIGINT GENERATED ALWAYS AS IDENTITY(START WITH 1) NOT NULL,
    "REASON" CHARACTER VARYING(2048),
    "ACTIVE" BIT NOT NULL
);
-- 2 +/- SELECT COUNT(*) FROM PUBLIC.LITEBANS_BANS;
INSERT INTO "PUBLIC"."LITEBANS_BANS"("ID", "REASON", "ACTIVE") OVERRIDING SYSTEM VALUE VALUES
(1, U&'\00a7c\\ it''s', TRUE),
(2, STRINGDECODE('\u00a7c\n'), FALSE);
CREATE INDEX PUBLIC.X ON PUBLIC.LITEBANS_BANS(ID);
CREATE CACHED TABLE PUBLIC.LITEBANS_HISTORY(ID BIGINT, DATE TIMESTAMP);
INSERT INTO PUBLIC.LITEBANS_HISTORY VALUES (1, TIMESTAMP '2024-01-08 10:12:11.391428');
"#;
    let rows = read(dump).unwrap();
    let reasons: Vec<_> = rows.iter().map(|(_, line, cells)| (*line, cells[1].1.clone())).collect();
    let date = text("2024-01-08 10:12:11.391428");
    assert_eq!(reasons, [(11, text("§c\\ it's")), (12, text("§c\n")), (15, date)]);
}

#[test]
fn bits_and_bytes_are_read_as_every_option_writes_them() {
    // Literal, with --hex-blob, by phpMyAdmin, by MySQL 8, and as a number.
    let (set, unset) =
        (["'\u{1}'", "0x01", "b'1'", "_binary '\u{1}'", "1"], ["'\\0'", "0x00", "b'0'", "_binary '\\0'", "0"]);
    for (bits, expected) in [(set, true), (unset, false)] {
        for bit in bits {
            let dump = format!(
                "CREATE TABLE `litebans_bans` (`id` int, `b` bit(1));\nINSERT INTO `litebans_bans` VALUES (1,{bit});"
            );
            let mut flags = vec![];
            read_dump(dump.as_bytes(), &|_| true, &mut |row| {
                flags.push(row.flag("b"));
                Ok(())
            })
            .unwrap();
            assert_eq!(flags, [expected], "{bit}");
        }
    }
    let dump = b"/**/INSERT IGNORE INTO `litebans`.`litebans_bans` (`id`, `reason`) VALUES (1,_utf8mb4'a\\nb\\Z'),(2,0x6869),(3,x'6869'),\
        (4,'') ON DUPLICATE KEY UPDATE id = 1;\nREPLACE INTO `litebans_bans` (`id`, `reason`) VALUES (5,\"it's\");";
    let reasons: Vec<_> = read(dump).unwrap().into_iter().map(|(.., cells)| cells[1].1.clone()).collect();
    assert_eq!(reasons, [text("a\nb\u{1a}"), text("hi"), text("hi"), text(""), text("it's")]);
}

#[test]
fn a_script_of_h2_is_known_by_its_beginning_whatever_its_rows_hold() {
    let users = ";              \nCREATE USER IF NOT EXISTS SA SALT 'f6' HASH 'x' ADMIN;\n";
    for header in ["-- H2 2.2.224; \n;\n", users] {
        let dump = format!(
            "{header}CREATE CACHED TABLE PUBLIC.LITEBANS_BANS(ID BIGINT, REASON VARCHAR(2048));\n\
             INSERT INTO PUBLIC.LITEBANS_BANS(ID, REASON) VALUES (1, 'a `b` \\'), (2, STRINGDECODE('\\u00a7c'));\n"
        );
        let reasons: Vec<_> =
            read(dump.as_bytes()).unwrap().into_iter().map(|(.., cells)| cells[1].1.clone()).collect();
        assert_eq!(reasons, [text("a `b` \\"), text("§c")]);
    }
}

#[test]
fn a_wrong_dump_is_refused_with_its_line() {
    for (dump, line) in [
        ("CREATE TABLE `litebans_bans` (`id` int);\nINSERT INTO `litebans_bans` VALUES (1,2);", 2),
        ("/**/INSERT INTO `litebans_bans` VALUES (1);", 1),
        ("/**/INSERT INTO `litebans_bans` (id) VALUES (1),\n('x", 2),
        ("/**/INSERT INTO `litebans_bans` (id) VALUES (1),\n(x);", 2),
        ("/**/INSERT INTO `litebans_bans` (id) SELECT 1;", 1),
        ("/**/INSERT INTO `litebans_bans` (id) VALUES\n(0x1);", 2),
        ("\n\n/* no end", 3),
        ("CREATE TABLE `litebans_bans` (`id`", 1),
    ] {
        match read(dump.as_bytes()) {
            Err(ParseError::Wrong { line: Some(found), .. }) => assert_eq!(found, line, "{dump}"),
            other => panic!("{dump}: {other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(dump in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&dump);
    }

    #[test]
    fn no_cut_or_changed_dump_makes_it_panic(cut in 0_usize..400, at in 0_usize..400, byte in any::<u8>()) {
        let mut dump = b"CREATE TABLE `litebans_bans` (`id` int, `b` bit);INSERT INTO `litebans_bans` VALUES (1,b'1'),(0x00,U&'\\00a7'),\
            (-1.5,STRINGDECODE('\\u00'));/* x */ INSERT INTO x VALUES ('\\'');".to_vec();
        let at = at % dump.len();
        dump[at] = byte;
        dump.truncate(cut);
        let _ = read(&dump);
    }
}
