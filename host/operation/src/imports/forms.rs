//! Forms of files that are not the one an import reads: each is named, with what to do.

use crate::imports::input::BYTE_ORDER_MARK;

/// Formats that are no text, by bytes at an offset, and what to do about them.
const NOT_TEXT: [(usize, &[u8], &str); 13] = [
    (0, b"\x1F\x8B", "is packed with gzip twice; unpack it once"),
    (0, b"PK\x03\x04", "is a ZIP archive or a spreadsheet; import the file in it, a spreadsheet saved as CSV"),
    (0, b"SQLite format 3\0", "is a SQLite database in a packed file; unpack it first"),
    (0, b"H:2,", "is a database file of H2; export it with the statement `SCRIPT TO 'dump.sql'`"),
    (0, b"PGDMP", "is in pg_dump's custom format; dump it with `pg_dump --format=plain`"),
    (0, b"\x28\xB5\x2F\xFD", "is packed with zstd; unpack it, or pack it with gzip"),
    (0, b"\xFD7zXZ\0", "is packed with xz; unpack it, or pack it with gzip"),
    (0, b"BZh", "is packed with bzip2; unpack it, or pack it with gzip"),
    (0, b"\x04\x22\x4D\x18", "is packed with lz4; unpack it, or pack it with gzip"),
    (0, b"7z\xBC\xAF\x27\x1C", "is a 7z archive; import the file in it"),
    (0, b"Rar!\x1A\x07", "is a RAR archive; import the file in it"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "is an old spreadsheet or document of Office; save the sheet as CSV"),
    (257, b"ustar", "is a tar archive; import the file in it, EssentialsX's `userdata` as a ZIP archive"),
];
/// Bytes at the beginning that have no control characters in a text.
const HEAD: usize = 64;

/// Beginnings of dumps, those of warnings that their tools wrote into them among them, and of lists of commands.
const SQL: [&str; 17] = [
    "-- ",
    "--\n",
    "--\r",
    "/*",
    "create ",
    "insert ",
    "drop ",
    "set ",
    "pragma ",
    "begin;",
    "begin ",
    "start ",
    "copy ",
    "mysqldump: ",
    "mariadb-dump: ",
    "pg_dump: ",
    "warning: ",
];
const COMMANDS: [&str; 4] = ["/lp ", "/luckperms ", "lp ", "luckperms "];

/// Form of the text that an import reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A SQL dump.
    Dump,
    /// An export of LuckPerms.
    LuckPerms,
    /// A list of the game server.
    Lists,
    /// Separated values.
    Table,
}

impl Expected {
    /// Reason for which a text is visibly of another form, by its beginning.
    pub(super) fn other(self, beginning: &[u8]) -> Option<String> {
        let text = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
        let controls = text.iter().take(HEAD).filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' '..=0x7E | 0x80..));
        if text.iter().take(HEAD).any(|byte| *byte == 0) || controls.count() > 1 {
            return Some(format!("This file is no text; {}.", self.remedy()));
        }
        if !self.is_json() && text.contains(&b'\r') && !text.contains(&b'\n') {
            return Some(
                "This file ends its lines with CR alone, as old Macs did; save it with LF or CRLF.".to_owned(),
            );
        }
        let Some(form) = form(text) else {
            let is_other = self.is_json() && !text.trim_ascii_start().is_empty();
            return is_other.then(|| format!("This file is not JSON; {}.", self.remedy()));
        };
        let is_expected = match form {
            Form::Json => self.is_json(),
            Form::Sql => self == Self::Dump,
            Form::Table => self == Self::Table,
            _ => false,
        };
        (!is_expected).then(|| format!("This file is {}; {}.", form.name(), self.remedy()))
    }

    fn is_json(self) -> bool {
        matches!(self, Self::LuckPerms | Self::Lists)
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Dump => "import a SQL dump of the plugin's database, or its SQLite file",
            Self::LuckPerms => "import the JSON file that LuckPerms' `/lp export` writes",
            Self::Lists => "import `banned-players.json`, `banned-ips.json` or `whitelist.json`",
            Self::Table => {
                "import a table of comma-separated values (CSV), or a ZIP archive of EssentialsX's `userdata`"
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Form {
    Html,
    Xml,
    Json,
    Sql,
    Commands,
    Yaml,
    Table,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Html => "a web page (HTML), as of a download that was refused",
            Self::Xml => "XML",
            Self::Json => "JSON",
            Self::Sql => "a SQL dump",
            Self::Commands => "a list of commands, as very old versions of LuckPerms exported",
            Self::Yaml => "YAML",
            Self::Table => "a table of separated values (CSV)",
        }
    }
}

/// Form that a text has for sure.
fn form(text: &[u8]) -> Option<Form> {
    let text = text.trim_ascii_start();
    let starts = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    if ["<!doctype html", "<html", "<head", "<body"].into_iter().any(starts) {
        return Some(Form::Html);
    }
    match text.first()? {
        b'<' => return Some(Form::Xml),
        b'{' | b'[' => return Some(Form::Json),
        _ => {}
    }
    if SQL.into_iter().any(starts) {
        return Some(Form::Sql);
    }
    if COMMANDS.into_iter().any(starts) {
        return Some(Form::Commands);
    }
    let first = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.starts_with(b"#"))?;
    let is_word = |part: &[u8]| {
        !part.is_empty() && part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-\"' ".contains(byte))
    };
    if first == b"---" || first.strip_suffix(b":").is_some_and(is_word) {
        return Some(Form::Yaml);
    }
    let key = first.windows(2).position(|pair| pair == b": ");
    if key.and_then(|at| first.get(..at)).is_some_and(is_word) {
        return Some(Form::Yaml);
    }
    let is_table = b",;\t|".iter().any(|delimiter| {
        let cells: Vec<_> = first.split(|byte| byte == delimiter).take(3).collect();
        cells.len() > 1 && cells.into_iter().all(is_word)
    });
    is_table.then_some(Form::Table)
}

/// Reason for which the beginning of a file is of no text in UTF-8.
pub(super) fn not_utf8(beginning: &[u8]) -> Option<String> {
    let is_at = |at: usize, magic: &[u8]| beginning.get(at..).is_some_and(|rest| rest.starts_with(magic));
    if let Some((.., form)) = NOT_TEXT.iter().find(|(at, magic, _)| is_at(*at, magic)) {
        return Some(format!("This file {form}."));
    }
    let utf16 = |order: &str| {
        Some(format!(
            "This file is UTF-16 ({order}), as PowerShell's `>` and Notepad's \"Unicode\" write it; save it as UTF-8, \
             for example with `iconv -f UTF-16 -t UTF-8`."
        ))
    };
    match beginning {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("This file is UTF-32; save it as UTF-8.".to_owned()),
        // With a mark, or ASCII without one.
        [0xFF, 0xFE, ..] | [1..=0x7F, 0, 1..=0x7F, 0, ..] => utf16("little-endian"),
        [0xFE, 0xFF, ..] | [0, 1..=0x7F, 0, 1..=0x7F, ..] => utf16("big-endian"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(expected: Expected, bytes: &[u8]) -> Option<String> {
        not_utf8(bytes).or_else(|| expected.other(bytes))
    }

    #[test]
    fn what_is_no_text_is_named() {
        let utf16 = |order: fn(u16) -> [u8; 2]| "create".encode_utf16().flat_map(order).collect::<Vec<_>>();
        let tar = [&[b'x'; 100][..], &[0; 157], b"ustar\0"].concat();
        for (bytes, name) in [
            (b"\xFF\xFEI\0".to_vec(), "UTF-16"),
            (utf16(u16::to_le_bytes), "UTF-16"),
            (utf16(u16::to_be_bytes), "UTF-16"),
            (b"\xFF\xFE\0\0I\0\0\0".to_vec(), "UTF-32"),
            (b"PGDMP\x01".to_vec(), "--format=plain"),
            (b"PK\x03\x04".to_vec(), "ZIP"),
            (tar, "tar archive"),
            (b"BZh91AY&SY".to_vec(), "bzip2"),
            (b"\x04\x22\x4D\x18d".to_vec(), "lz4"),
            (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0".to_vec(), "CSV"),
            (b"\x9a\x11\x80\x03\xFE\x12".to_vec(), "no text"),
            (b"uuid\0balance".to_vec(), "no text"),
        ] {
            for expected in [Expected::Dump, Expected::LuckPerms, Expected::Lists, Expected::Table] {
                let reason = refused(expected, &bytes).unwrap_or_default();
                assert!(reason.contains(name), "{name}: {reason}");
            }
        }
    }

    #[test]
    fn another_text_is_named_and_the_expected_one_passes() {
        let (dump, export, list, table) = (
            "-- MySQL dump\nCREATE TABLE `x` (\n",
            "\u{feff}{\"groups\": {}}",
            "\n[{\"uuid\": 1}]",
            "uuid;name;balance\r\n",
        );
        let all = [Expected::Dump, Expected::LuckPerms, Expected::Lists, Expected::Table];
        for (text, name, passes) in [
            (dump, "SQL", &[Expected::Dump][..]),
            ("insert into x values (1);", "SQL", &[Expected::Dump]),
            (export, "JSON", &[Expected::LuckPerms, Expected::Lists]),
            (list, "JSON", &[Expected::LuckPerms, Expected::Lists]),
            (table, "CSV", &[Expected::Table]),
            ("money: '5'\n", "YAML", &[]),
            ("# x\ngroups:\n  a: 1\n", "YAML", &[]),
            ("<!DOCTYPE html><html>", "HTML", &[]),
            (" <?xml version='1.0'?>", "XML", &[]),
            ("/lp creategroup a\n", "commands", &[]),
        ] {
            for expected in all {
                let reason = refused(expected, text.as_bytes());
                assert_eq!(reason.is_none(), passes.contains(&expected), "{expected:?} {text}: {reason:?}");
                assert!(reason.is_none_or(|reason| reason.contains(name)), "{expected:?} {text}");
            }
        }
        for expected in [Expected::Dump, Expected::Table] {
            assert!(refused(expected, b"uuid,balance\rx,1\r").is_some_and(|reason| reason.contains("CR alone")));
        }
        for dump in ["COMMIT;\n", "\\restrict x\n", "-- a: b\n", "SET a, b\n", "(", "INSERT\tINTO x VALUES (1, 2);"] {
            assert_eq!(refused(Expected::Dump, dump.as_bytes()), None, "{dump}");
        }
        for table in ["sep=;\nuuid;balance", "069a79f4-44e9-4726-a5be-fca90e38aaf5\t1\n", "Grüße,uuid,balance\n"] {
            assert_eq!(refused(Expected::Table, table.as_bytes()), None, "{table}");
        }
    }
}
