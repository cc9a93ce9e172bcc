//! Dumps as written by the tools, and invalid texts.

use proptest::prelude::*;

use super::*;
use crate::imports::database::spec::{TableSpec, Taken};
use crate::imports::forms::Expected;
use crate::imports::record::Category;
use crate::imports::testing::budget;

type Read = Vec<(String, u64, Vec<(String, Cell)>)>;

const fn table(name: &'static str) -> TableSpec {
    TableSpec { name, required: &[], optional: &[], category: Category::Punishments }
}

const TABLES: [TableSpec; 2] = [table("bans"), table("history")];

fn read(dump: &[u8]) -> Result<Read, ParseError> {
    let mut rows = vec![];
    let budget = budget();
    let wanted = Wanted { tool: "LiteBans", prefix: "litebans_", tables: &TABLES };
    read_dump(Input::text(dump, &budget, Expected::Dump)?, &wanted, &mut |row| {
        rows.push((row.table.to_owned(), row.line.unwrap(), row.cells_for_tests()));
        Ok(Taken::Read)
    })?;
    Ok(rows)
}

/// Cells of the second column.
fn seconds(dump: &str) -> Vec<Cell> {
    let rows = read(dump.as_bytes()).unwrap_or_else(|error| panic!("{error:?}: {dump}"));
    rows.into_iter().map(|(.., cells)| cells[1].1.clone()).collect()
}

fn text(text: &str) -> Cell {
    Cell::Text(text.as_bytes().to_vec())
}

fn number(number: &str) -> Cell {
    Cell::Number(number.to_owned())
}

fn read_tables(dump: &str) -> Result<FoundTables, ParseError> {
    let budget = budget();
    let wanted = Wanted { tool: "LiteBans", prefix: "litebans_", tables: &TABLES };
    read_dump(Input::text(dump.as_bytes(), &budget, Expected::Dump)?, &wanted, &mut |_| Ok(Taken::Read))
}

#[test]
fn a_dump_without_its_last_line_is_told() {
    let (rows, create) = ("\nINSERT INTO litebans_bans VALUES (1);\n", "CREATE TABLE litebans_bans (id int);\n");
    for (first, last, missing) in [
        ("-- MySQL dump 10.13\n", "-- Dump completed on 2026-11-27\n", "-- Dump completed"),
        ("-- MariaDB dump 10.19\r\n", "-- Dump completed\r\n", "-- Dump completed"),
        (
            "--\n-- PostgreSQL database dump\n--\n",
            "--\n-- PostgreSQL database dump complete\n--\n",
            "-- PostgreSQL database dump complete",
        ),
        ("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n", "COMMIT;\n", "COMMIT;"),
    ] {
        let dump = format!("{first}{create}{rows}");
        assert_eq!(read_tables(&dump).unwrap().missing_end, Some(missing), "{dump}");
        assert_eq!(read_tables(&(dump + last)).unwrap().missing_end, None, "{first}");
    }
    assert_eq!(read_tables(&format!("-- Adminer 5 MySQL 8 dump\n{create}{rows}")).unwrap().missing_end, None);
}

#[test]
fn rows_that_the_file_changes_afterwards_are_refused() {
    let dump = "-- MySQL dump\nCREATE TABLE `litebans_bans` (id int);\nDELETE FROM `litebans_bans`;\n\
        INSERT INTO `litebans_bans` VALUES (1);\nUPDATE `other` SET a = 1;\nDELETE FROM `other` WHERE a = 1;\n";
    assert_eq!(read(dump.as_bytes()).unwrap().len(), 1);
    for change in [
        "update litebans_bans SET id = 2 WHERE id = 1;",
        "update LOW_PRIORITY IGNORE `db`.`litebans_bans` SET id = 2;",
        "delete FROM `litebans_bans` WHERE id = 1",
        "delete quick from LITEBANS_BANS;",
        "TRUNCATE TABLE `litebans_bans`;",
        "truncate other, public.litebans_bans",
        "DROP TABLE other, litebans_bans;",
        "DROP TABLE IF EXISTS `litebans_bans`;",
        "DROP ALL OBJECTS;",
        "ROLLBACK;",
        "REPLACE INTO `litebans_bans` VALUES (1);",
        "insert INTO `litebans_bans` (id) VALUES (2), (1) ON DUPLICATE KEY UPDATE id = 3;",
        "MERGE INTO litebans_bans VALUES (3);",
    ] {
        match read(format!("{dump}{change}").as_bytes()) {
            Err(ParseError::Wrong { line: Some(7), message }) => {
                let told = ["changes rows", "empties", "drops", "ROLLBACK", "row 1 of", "Only INSERT"];
                assert!(told.iter().any(|part| message.contains(part)), "{message}");
            }
            other => panic!("{change}: {other:?}"),
        }
    }
    // Nothing was read of those, or it is kept.
    for other in [
        "TRUNCATE other;",
        "DROP TABLE other;",
        "DROP INDEX litebans_bans;",
        "COMMIT;\nROLLBACK;",
        "MERGE INTO x VALUES (1);",
    ] {
        assert_eq!(read(format!("{dump}{other}").as_bytes()).unwrap().len(), 1, "{other}");
    }
    let replacing = "-- MySQL dump\nTRUNCATE `litebans_bans`;\nREPLACE INTO `litebans_bans` (id) VALUES (1),(2);\n\
        REPLACE INTO `litebans_bans` (id) VALUES (3);\nREPLACE INTO `litebans_history` (id) VALUES (1);\n";
    assert_eq!(read(replacing.as_bytes()).unwrap().len(), 4);
}

#[test]
fn names_and_inserts_are_read_as_mysql_may_write_them() {
    let ansi = "-- MySQL dump\nCREATE TABLE \"litebans_bans\" (\n\"id\" int, \"reason\" text, PRIMARY KEY (\"id\"));\n\
        INSERT INTO \"litebans_bans\" VALUES (1,'a');\nINSERT INTO \"litebans_bans\" (\"id\", \"reason\") VALUES (2,'b');\n";
    assert_eq!(seconds(ansi), [text("a"), text("b")]);
    for insert in ["insert", "insert IGNORE", "replace", "insert LOW_PRIORITY IGNORE INTO", "insert OR REPLACE INTO"] {
        let dump = format!(
            "-- MySQL dump\nCREATE TABLE litebans_bans (id int, reason text);\n{insert} `litebans_bans` VALUES (1,'x');\n"
        );
        assert_eq!(seconds(&dump), [text("x")], "{insert}");
    }
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
            let budget = budget();
            let wanted = Wanted { tool: "LiteBans", prefix: "litebans_", tables: &TABLES };
            read_dump(Input::text(dump.as_bytes(), &budget, Expected::Dump).unwrap(), &wanted, &mut |row| {
                flags.push(row.flag("b").unwrap());
                Ok(Taken::Read)
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
        ("/**/INSERT INTO `litebans_bans` (id) VALUES (1),\n();", 2),
        ("/**/INSERT INTO litebans_bans (id) VALUES\n('a\\b');", 2),
        ("/**/INSERT INTO `litebans_bans` (id) VALUES (1);CREATE TABLE `litebans_bans` (id int);", 1),
        ("/*!40101 SET NAMES gbk */;\nINSERT INTO `litebans_bans` (id) VALUES (1);", 1),
        ("COPY public.litebans_bans (id) FROM stdin;\n1\n", 3),
        ("COPY public.litebans_bans (id) FROM stdin WITH (FORMAT csv);\n1\n\\.\n", 1),
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

#[test]
fn each_dialect_reads_its_own_texts() {
    let rows =
        |header: &str, value: &str| format!("{header}\nINSERT INTO litebans_bans (id, reason) VALUES (1, {value});\n");
    for (header, value, expected) in [
        ("-- MySQL dump 10.13", r"'C:\\temp \'x\''", text(r"C:\temp 'x'")),
        ("-- MySQL dump 10.13", "\"it's\"", text("it's")),
        ("-- PostgreSQL database dump", r"'C:\temp ''x'''", text(r"C:\temp 'x'")),
        ("-- PostgreSQL database dump", r"E'C:\\temp\t\'x\''", text("C:\\temp\t'x'")),
        ("-- PostgreSQL database dump", "'x'::character varying(36)", text("x")),
        ("-- PostgreSQL database dump", "$tag$it's $x$$tag$", text("it's $x$")),
        ("PRAGMA foreign_keys=OFF;", r"'C:\temp \o/'", text(r"C:\temp \o/")),
        ("PRAGMA foreign_keys=OFF;", r"replace(replace('a\n\rb','\r',char(13)),'\n',char(10))", text("a\n\rb")),
        ("PRAGMA foreign_keys=OFF;", r"unistr('a\u000ab\\')", text("a\nb\\")),
        ("-- H2 2.2.224;", r"'C:\temp'", text(r"C:\temp")),
        ("-- H2 2.2.224;", r"STRINGDECODE('\u00a7\n')", text("§\n")),
        ("-- Adminer 4.8.1 MySQL 8.0.36 dump", "CONV('1', 2, 10) + 0", number("1")),
        ("-- Adminer 5.0.0 MySQL 8.0.36 dump", "CONV(b'1', 2, 10) + 0", number("1")),
        ("-- Adminer 4.8.1 PostgreSQL 15 dump", r"'C:\temp'", text(r"C:\temp")),
        ("-- Adminer 4.8.1 SQLite 3 dump", r"'C:\temp'", text(r"C:\temp")),
        ("-- MySQL dump", "CURRENT_TIMESTAMP", Cell::Unreadable("CURRENT_TIMESTAMP".to_owned())),
        ("-- MySQL dump", "now()", Cell::Unreadable("now()".to_owned())),
        ("-- MySQL dump", "1 + 1", Cell::Unreadable("1+1".to_owned())),
        ("-- MySQL dump", "(SELECT 1, 2)", Cell::Unreadable("(SELECT1,2)".to_owned())),
        ("-- MySQL dump", "CAST('x' AS CHAR(3))", text("x")),
        ("-- MySQL dump", "-1.5e+10", number("-1.5e+10")),
    ] {
        assert_eq!(seconds(&rows(header, value)), [expected], "{header} {value}");
    }
}

#[test]
fn rows_of_copy_are_read() {
    let dump = "-- PostgreSQL database dump\n\\restrict abc\nCOPY public.other (a) FROM stdin;\n\
        INSERT INTO litebans_bans (id, reason) VALUES (9, 'x');\n\\.\n\
        CREATE FUNCTION f() AS $$ BEGIN INSERT INTO litebans_bans VALUES (8, 'x'); END $$;\n\
        COPY public.litebans_bans (id, \"reason\") FROM stdin;\n1\ta\\tb\\\\c\n2\t\\N\n3\t\\303\\244\\x21\n\\.\n";
    assert_eq!(seconds(dump), [text("a\tb\\c"), Cell::Null, text("ä!")]);
}

#[test]
fn statements_of_routines_are_not_the_dumps() {
    let dump = "-- MySQL dump\nCREATE TABLE `litebans_bans` (id int, reason text);\nDELIMITER ;;\n\
        CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN\nINSERT INTO litebans_bans VALUES (9, 'x');\nEND ;;\n\
        DELIMITER ;\nINSERT INTO litebans_bans VALUES (1, 'y');\n";
    assert_eq!(seconds(dump), [text("y")]);
}

#[test]
fn scripts_of_hsqldb_have_one_statement_per_line() {
    let dump = "SET DATABASE UNIQUE NAME HSQLDB8C2\nCREATE SCHEMA PUBLIC AUTHORIZATION DBA\n\
        CREATE MEMORY TABLE PUBLIC.LITEBANS_BANS(ID INTEGER NOT NULL PRIMARY KEY,REASON VARCHAR(16))\n\
        SET SCHEMA PUBLIC\nINSERT INTO LITEBANS_BANS VALUES(1,'it''s \\u00a7')\n\
        INSERT INTO LITEBANS_BANS VALUES(2,NULL)\n";
    assert_eq!(seconds(dump), [text("it's §"), Cell::Null]);
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
