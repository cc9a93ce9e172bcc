//! Dialect of a dump, recognised by what only its tool writes.

/// Database whose tool wrote a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::imports) enum Dialect {
    MySql,
    Postgres,
    Sqlite,
    H2,
    Hsqldb,
    /// None of the known marks. What differs between the dialects is refused.
    Unknown,
}

/// Size of the part before all rows.
const HEADER: usize = 1024;

/// Marks of a dump's first lines, and then of its statements; the first that is found decides.
const HEADER_MARKS: [(&str, Dialect); 17] = [
    ("-- H2 ", Dialect::H2),
    ("CREATE USER IF NOT EXISTS", Dialect::H2),
    ("SET DATABASE UNIQUE NAME", Dialect::Hsqldb),
    ("CREATE SCHEMA PUBLIC AUTHORIZATION DBA", Dialect::Hsqldb),
    ("PostgreSQL database dump", Dialect::Postgres),
    ("SET standard_conforming_strings", Dialect::Postgres),
    ("SET client_encoding", Dialect::Postgres),
    ("PRAGMA foreign_keys", Dialect::Sqlite),
    ("BEGIN TRANSACTION;", Dialect::Sqlite),
    ("-- MySQL dump", Dialect::MySql),
    ("-- MariaDB dump", Dialect::MySql),
    ("-- phpMyAdmin SQL Dump", Dialect::MySql),
    ("-- mysqldump", Dialect::MySql),
    ("/*!4", Dialect::MySql),
    ("/*M!", Dialect::MySql),
    ("SET NAMES utf8", Dialect::MySql),
    ("pg_catalog.", Dialect::Postgres),
];
const STATEMENT_MARKS: [(&str, Dialect); 15] = [
    ("INTO `", Dialect::MySql),
    ("INTO  `", Dialect::MySql),
    ("TABLE `", Dialect::MySql),
    ("EXISTS `", Dialect::MySql),
    (") ENGINE=", Dialect::MySql),
    ("/*!4", Dialect::MySql),
    ("/*!5", Dialect::MySql),
    (" FROM stdin;", Dialect::Postgres),
    ("pg_catalog.", Dialect::Postgres),
    ("::character varying", Dialect::Postgres),
    ("nextval('", Dialect::Postgres),
    ("CREATE CACHED TABLE", Dialect::H2),
    ("INTO \"PUBLIC\".", Dialect::H2),
    ("INTO PUBLIC.", Dialect::H2),
    ("AUTOINCREMENT", Dialect::Sqlite),
];

/// Recognises the dialect by the file's beginning.
pub(super) fn recognise(beginning: &[u8]) -> Dialect {
    let header = &beginning[..beginning.len().min(HEADER)];
    // Adminer names the database that it was connected to.
    if let Some(at) = find(header, b"-- Adminer ") {
        let line = header[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        for (name, dialect) in
            [(&b"PostgreSQL"[..], Dialect::Postgres), (b"SQLite", Dialect::Sqlite), (b"MySQL", Dialect::MySql)]
        {
            if find(line, name).is_some() {
                return dialect;
            }
        }
        if find(line, b"MariaDB").is_some() {
            return Dialect::MySql;
        }
    }
    let of = |text: &[u8], marks: &[(&str, Dialect)]| {
        marks.iter().find(|(mark, _)| find(text, mark.as_bytes()).is_some()).map(|(_, dialect)| *dialect)
    };
    of(header, &HEADER_MARKS).or_else(|| of(beginning, &STATEMENT_MARKS)).unwrap_or(Dialect::Unknown)
}

/// Last line of a dump by the tool that wrote its first lines, if it always writes one.
pub(super) fn end(beginning: &[u8]) -> Option<&'static str> {
    const ENDS: [(&str, &str); 4] = [
        ("-- MySQL dump", "-- Dump completed"),
        ("-- MariaDB dump", "-- Dump completed"),
        ("-- PostgreSQL database dump", "-- PostgreSQL database dump complete"),
        ("PRAGMA foreign_keys=OFF;", "COMMIT;"),
    ];
    let header = &beginning[..beginning.len().min(HEADER)];
    ENDS.iter().find(|(mark, _)| find(header, mark.as_bytes()).is_some()).map(|(_, end)| *end)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
