//! Files in the formats of the tools.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Bytes packed with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of files.
pub fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub fn player(at: usize) -> String {
    format!("069a79f4-44e9-4726-a5be-{at:012}")
}

/// A table of that many balances.
pub fn balances(count: usize) -> String {
    (0..count).fold("uuid,name,balance\n".to_owned(), |mut text, at| {
        writeln!(text, "{},player{at},{at}.5", player(at)).unwrap();
        text
    })
}

/// A value of a row.
#[derive(Clone, Debug)]
pub enum Cell {
    Null,
    Number(i64),
    Text(String),
    Bit(bool),
    /// A time in UTC.
    Time(String),
}

/// The rows of one of `LiteBans`' tables.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: &'static str,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<Cell>>,
}

impl Cell {
    fn sql_type(&self) -> &'static str {
        match self {
            Self::Number(_) => "bigint(20)",
            Self::Bit(_) => "bit(1)",
            Self::Time(_) => "timestamp",
            _ => "varchar(2048)",
        }
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Rows of an `INSERT`, one a line.
fn values(rows: &[Vec<Cell>], separator: &str, show: impl Fn(&Cell) -> String) -> String {
    let row = |row: &Vec<Cell>| format!("({})", row.iter().map(&show).collect::<Vec<_>>().join(separator));
    rows.iter().map(row).collect::<Vec<_>>().join(",\n")
}

/// Output in the format of `mysqldump`.
pub fn mysql(tables: &[Table]) -> Vec<u8> {
    let mut dump = "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19  Distrib 10.11.14-MariaDB\n\
        /*!40101 SET NAMES utf8mb4 */;\n/*!40103 SET TIME_ZONE='+00:00' */;\n"
        .to_owned();
    dump += "CREATE TABLE `litebans_cache8k` (\n  `id` tinyint(3) NOT NULL,\n  `b` blob NOT NULL,\n  PRIMARY KEY (`id`)\n);\n\
        INSERT INTO `litebans_cache8k` VALUES\n(1,'\\0\\'(litebans_bans);');\n";
    for Table { name, columns, rows } in tables {
        let first = rows.first().unwrap();
        let definitions: Vec<_> = columns
            .iter()
            .zip(first)
            .map(|(column, cell)| format!("  `{column}` {} DEFAULT NULL", cell.sql_type()))
            .collect();
        write!(
            dump,
            "--\n-- Table structure for table `{name}`\n--\n\nDROP TABLE IF EXISTS `{name}`;\nCREATE TABLE `{name}` (\n{},\n  \
             PRIMARY KEY (`id`),\n  KEY `idx_{name}_active` (`id`)\n) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4;\n\n\
             LOCK TABLES `{name}` WRITE;\n/*!40000 ALTER TABLE `{name}` DISABLE KEYS */;\nINSERT INTO `{name}` VALUES\n",
            definitions.join(",\n")
        )
        .unwrap();
        let rows = values(rows, ",", |cell| match cell {
            Cell::Null => "NULL".to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
            Cell::Bit(true) => "'\u{1}'".to_owned(),
            Cell::Bit(false) => "'\\0'".to_owned(),
            Cell::Time(time) => quote(time),
        });
        writeln!(dump, "{rows};\nUNLOCK TABLES;\n").unwrap();
    }
    (dump + "-- Dump completed on 2027-03-10 12:00:00\n").into_bytes()
}

/// Output in the format of H2's `SCRIPT`.
pub fn h2(tables: &[Table]) -> Vec<u8> {
    let mut script =
        "-- H2 2.2.224; \n;              \nCREATE USER IF NOT EXISTS \"\" SALT '' HASH '' ADMIN;       \n".to_owned();
    for Table { name, columns, rows } in tables {
        let name = name.to_uppercase();
        let definitions: Vec<_> =
            columns.iter().map(|column| format!("    \"{}\" CHARACTER VARYING(2048)", column.to_uppercase())).collect();
        writeln!(script, "CREATE CACHED TABLE \"PUBLIC\".\"{name}\"(\n{}\n);", definitions.join(",\n")).unwrap();
        let count = rows.len();
        let rows = values(rows, ", ", |cell| match cell {
            Cell::Null => "NULL".to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) if text.is_ascii() => quote(text),
            Cell::Text(text) => {
                let escape = |character: char| match character {
                    '\\' => "\\\\".to_owned(),
                    '\'' => "''".to_owned(),
                    character if character.is_ascii() => character.to_string(),
                    character => format!("\\{:04x}", u32::from(character)),
                };
                format!("U&'{}'", text.chars().map(escape).collect::<String>())
            }
            Cell::Bit(bit) => bit.to_string().to_uppercase(),
            Cell::Time(time) => format!("TIMESTAMP {}", quote(time)),
        });
        writeln!(
            script,
            "-- {count} +/- SELECT COUNT(*) FROM PUBLIC.{name};\nINSERT INTO \"PUBLIC\".\"{name}\" VALUES\n{rows};"
        )
        .unwrap();
    }
    script.into_bytes()
}

/// A SQLite database.
pub async fn sqlite(tables: &[Table]) -> Vec<u8> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("litebans.sqlite");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    for Table { name, columns, rows } in tables {
        let mut script = format!("CREATE TABLE {name} ({});\n", columns.join(", "));
        for row in rows {
            let cells: Vec<_> = row
                .iter()
                .map(|cell| match cell {
                    Cell::Null => "NULL".to_owned(),
                    Cell::Number(number) => number.to_string(),
                    Cell::Text(text) | Cell::Time(text) => quote(text),
                    Cell::Bit(bit) => i64::from(*bit).to_string(),
                })
                .collect();
            writeln!(script, "INSERT INTO {name} VALUES ({});", cells.join(", ")).unwrap();
        }
        sqlx::raw_sql(sqlx::AssertSqlSafe(script)).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    std::fs::read(path).unwrap()
}
