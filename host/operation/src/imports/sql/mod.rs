//! Reads table rows from a SQL dump: of MySQL and MariaDB (`mysqldump`, phpMyAdmin, Adminer), PostgreSQL (`pg_dump`,
//! with COPY or INSERT), SQLite (`.dump`), H2 (`SCRIPT`) and HSQLDB. All other statements are ignored.

mod dialect;
mod escapes;
mod ids;
mod lexer;
mod taken_back;
mod value;

use std::collections::HashMap;

use crate::imports::database::row::{Cell, Row};
use crate::imports::database::spec::{FoundTable, RowSink, Wanted};
use crate::imports::input::Input;
use crate::imports::record::ParseError;
use ids::Ids;
use lexer::{LONGEST, Lexer, Token};

/// Maximum number of columns of a table.
const MOST_COLUMNS: usize = 200;

/// Tables that a dump creates or fills.
pub(super) struct FoundTables {
    pub(super) tables: HashMap<String, FoundTable>,
    /// Last line that its tool writes, if it is missing.
    pub(super) missing_end: Option<&'static str>,
}

/// Reads the rows of the wanted tables.
pub(super) fn read_dump(
    source: Input<'_>,
    wanted: &Wanted<'_>,
    sink: &mut RowSink<'_>,
) -> Result<FoundTables, ParseError> {
    let mut dump =
        Dump { lexer: Lexer::new(source)?, wanted, tables: HashMap::new(), ids: HashMap::new(), has_open_rows: false };
    while let Some(token) = dump.lexer.next()? {
        match &token {
            Token::Symbol(b';') => {}
            token if token.is_word("create") => dump.create()?,
            token if token.is_word("insert") || token.is_word("replace") => dump.insert(sink)?,
            token if token.is_word("copy") => dump.copy(sink)?,
            token if token.is_word("merge") => dump.merge()?,
            token if token.is_word("set") => dump.set()?,
            token if token.is_word("commit") => {
                dump.lexer.note_commit();
                dump.has_open_rows = false;
                dump.skip_statement()?;
            }
            token if token.is_word("rollback") => dump.rollback()?,
            token if token.is_word("update") || token.is_word("delete") => dump.change()?,
            token if token.is_word("truncate") => dump.truncate()?,
            token if token.is_word("drop") => dump.drop_tables()?,
            token if token.is_word("delimiter") => dump.skip_delimited()?,
            _ => dump.skip_statement()?,
        }
    }
    Ok(FoundTables { missing_end: dump.lexer.missing_end(), tables: dump.tables })
}

struct Dump<'d> {
    lexer: Lexer<'d>,
    wanted: &'d Wanted<'d>,
    /// Wanted tables found so far.
    tables: HashMap<String, FoundTable>,
    /// Ids of their rows.
    ids: HashMap<String, Ids>,
    /// True if rows were read since the last COMMIT.
    has_open_rows: bool,
}

impl Dump<'_> {
    fn token(&mut self) -> Result<Token, ParseError> {
        let line = self.lexer.line();
        let ended = || ParseError::at(line, "The file ends in the middle of a statement.");
        self.lexer.next()?.ok_or_else(ended)
    }

    fn error<T>(&self, message: &str) -> Result<T, ParseError> {
        Err(self.lexer.error(message))
    }

    /// Skips the rest of the statement. The last one needs no end.
    fn skip_statement(&mut self) -> Result<(), ParseError> {
        self.lexer.keep_texts(false);
        while let Some(token) = self.lexer.next()? {
            if token == Token::Symbol(b';') {
                break;
            }
        }
        self.lexer.keep_texts(true);
        Ok(())
    }

    /// Skips what stands between MySQL's `DELIMITER ;;` and `DELIMITER ;`: routines, whose statements are not the
    /// dump's.
    fn skip_delimited(&mut self) -> Result<(), ParseError> {
        let is_semicolon = |line: &[u8]| line.trim_ascii() == b";";
        if self.lexer.raw_line(false)?.is_none_or(|line| is_semicolon(&line)) {
            return Ok(());
        }
        while let Some(line) = self.lexer.raw_line(false)? {
            let line = line.trim_ascii();
            let (word, rest) = line.split_at_checked("delimiter".len()).unwrap_or_default();
            if word.eq_ignore_ascii_case(b"delimiter") && is_semicolon(rest) {
                return Ok(());
            }
        }
        self.error("The file ends before its `DELIMITER ;`.")
    }

    /// Reads after `SET`: the encoding of the texts.
    fn set(&mut self) -> Result<(), ParseError> {
        let name = match self.token()? {
            token if token.is_word("names") => self.token()?,
            token if token.is_word("client_encoding") => match self.token()? {
                Token::Symbol(b'=') => self.token()?,
                token => token,
            },
            Token::Symbol(b';') => return Ok(()),
            _ => return self.skip_statement(),
        };
        match &name {
            Token::Word(charset) | Token::Name(charset) => self.lexer.declare_charset(charset)?,
            Token::Text(charset) => self.lexer.declare_charset(&String::from_utf8_lossy(charset))?,
            Token::Symbol(b';') => return Ok(()),
            _ => {}
        }
        self.skip_statement()
    }

    /// Reads after `CREATE`.
    fn create(&mut self) -> Result<(), ParseError> {
        loop {
            match self.token()? {
                token if token.is_word("table") => break,
                Token::Symbol(b';') => return Ok(()),
                Token::Word(_) => {}
                _ => return self.skip_statement(),
            }
        }
        let (name, next) = self.table_name()?;
        if next != Token::Symbol(b'(') || !self.wanted.has(&name) {
            return if next == Token::Symbol(b';') { Ok(()) } else { self.skip_statement() };
        }
        if self.tables.contains_key(&name) {
            return self.error(&format!(
                "The dump has the table `{name}` twice, as one of several databases does; dump a single database."
            ));
        }
        let columns = self.column_definitions()?;
        self.tables.insert(name, FoundTable::new(columns));
        self.skip_statement()
    }

    /// Name of a table without its schema, in lower case, and the next token.
    fn table_name(&mut self) -> Result<(String, Token), ParseError> {
        let token = self.token()?;
        self.table_name_from(token)
    }

    /// The same after its first token.
    fn table_name_from(&mut self, mut token: Token) -> Result<(String, Token), ParseError> {
        if token.is_word("if") {
            while !token.is_word("exists") {
                if token == Token::Symbol(b';') {
                    return self.error("Missing table name.");
                }
                token = self.token()?;
            }
            token = self.token()?;
        }
        if token.is_word("only") {
            token = self.token()?;
        }
        loop {
            let name = match token {
                Token::Word(name) | Token::Name(name) => name,
                // MySQL's texts, which are names with ANSI_QUOTES, and in SQLite.
                Token::Text(name) => String::from_utf8_lossy(&name).into_owned(),
                _ => return self.error("Missing table name."),
            };
            // The last statement needs no end.
            let next = self.lexer.next()?.unwrap_or(Token::Symbol(b';'));
            if next != Token::Symbol(b'.') {
                return Ok((name.to_lowercase(), next));
            }
            token = self.token()?;
        }
    }

    /// Names in a definition, after its opening parenthesis.
    fn column_definitions(&mut self) -> Result<Vec<String>, ParseError> {
        const NOT_COLUMNS: [&str; 9] =
            ["primary", "unique", "key", "constraint", "index", "foreign", "check", "fulltext", "spatial"];
        let (mut columns, mut depth, mut is_first) = (vec![], 1, true);
        loop {
            let token = self.token()?;
            match token {
                Token::Symbol(b'(') => depth += 1,
                Token::Symbol(b')') => depth -= 1,
                Token::Symbol(b';') => return self.error("Unterminated table definition."),
                Token::Name(name) if is_first => columns.push(name.to_lowercase()),
                // MySQL's with ANSI_QUOTES.
                Token::Text(name) if is_first => columns.push(String::from_utf8_lossy(&name).to_lowercase()),
                Token::Word(word) if is_first && !NOT_COLUMNS.contains(&word.to_lowercase().as_str()) => {
                    columns.push(word.to_lowercase());
                }
                Token::Symbol(b',') if depth == 1 => {
                    is_first = true;
                    continue;
                }
                _ => {}
            }
            is_first = false;
            if depth == 0 {
                return Ok(columns);
            }
            if columns.len() > MOST_COLUMNS {
                return self.error("The table has too many columns.");
            }
        }
    }

    /// Columns of rows: those that the statement names, or else all of the table.
    fn columns(&mut self, table: &str, next: &mut Token) -> Result<Vec<String>, ParseError> {
        if *next != Token::Symbol(b'(') {
            return match self.tables.get(table) {
                Some(found) if !found.columns.is_empty() => Ok(found.columns.clone()),
                _ => self.error("The rows of a table precede its CREATE TABLE."),
            };
        }
        let columns = self.names()?;
        *next = self.token()?;
        self.tables.entry(table.to_owned()).or_insert_with(|| FoundTable::new(columns.clone()));
        Ok(columns)
    }

    fn row(
        &mut self,
        (table, columns, line): (&str, &[String], u64),
        cells: &[Cell],
        sink: &mut RowSink<'_>,
    ) -> Result<(), ParseError> {
        if cells.len() != columns.len() {
            let message = format!("A row of `{table}` has {} values for {} columns.", cells.len(), columns.len());
            return Err(ParseError::at(self.lexer.line(), message));
        }
        self.note_id(table, columns, cells)?;
        self.has_open_rows = true;
        let row = Row::new(table, columns, cells, Some(line), self.lexer.charset());
        let taken = sink(&row)?;
        if let Some(found) = self.tables.get_mut(table) {
            found.count(taken);
        }
        Ok(())
    }

    /// Reads after `INSERT`.
    fn insert(&mut self, sink: &mut RowSink<'_>) -> Result<(), ParseError> {
        // Of MySQL and SQLite. MySQL's may lack `INTO`.
        const MODIFIERS: [&str; 10] = [
            "low_priority",
            "high_priority",
            "delayed",
            "ignore",
            "or",
            "replace",
            "rollback",
            "abort",
            "fail",
            "overwrite",
        ];
        let mut token = self.token()?;
        while MODIFIERS.iter().any(|word| token.is_word(word)) {
            token = self.token()?;
        }
        if token.is_word("into") {
            token = self.token()?;
        }
        if !matches!(token, Token::Word(_) | Token::Name(_) | Token::Text(_)) {
            return if token == Token::Symbol(b';') { Ok(()) } else { self.skip_statement() };
        }
        let (table, mut next) = self.table_name_from(token)?;
        if !self.wanted.has(&table) {
            return if next == Token::Symbol(b';') { Ok(()) } else { self.skip_statement() };
        }
        let columns = self.columns(&table, &mut next)?;
        // H2 writes OVERRIDING SYSTEM VALUE.
        while !next.is_word("values") {
            if !matches!(next, Token::Word(_)) {
                return self.error("Only INSERT … VALUES is supported.");
            }
            next = self.token()?;
        }
        let mut cells = vec![];
        loop {
            if self.token()? != Token::Symbol(b'(') {
                return self.error("Expected a parenthesis before a row.");
            }
            let line = self.lexer.line();
            cells.clear();
            self.cells(&mut cells)?;
            self.row((&table, &columns, line), &cells, sink)?;
            match self.lexer.next()? {
                Some(Token::Symbol(b',')) => {}
                Some(Token::Symbol(b';')) | None => return Ok(()),
                // ON DUPLICATE KEY UPDATE …
                Some(Token::Word(_)) => return self.skip_statement(),
                _ => return self.error("Expected a comma or semicolon after a row."),
            }
        }
    }

    /// Names between parentheses, after the opening one.
    fn names(&mut self) -> Result<Vec<String>, ParseError> {
        let mut names = vec![];
        loop {
            match self.token()? {
                Token::Word(name) | Token::Name(name) => names.push(name.to_lowercase()),
                Token::Text(name) => names.push(String::from_utf8_lossy(&name).to_lowercase()),
                Token::Symbol(b',') => {}
                Token::Symbol(b')') => return Ok(names),
                _ => return self.error("Expected column names."),
            }
            if names.len() > MOST_COLUMNS {
                return self.error("The table has too many columns.");
            }
        }
    }

    /// Values of a row, after its opening parenthesis.
    fn cells(&mut self, cells: &mut Vec<Cell>) -> Result<(), ParseError> {
        let (mut tokens, mut depth, mut size) = (vec![], 0_usize, 0);
        loop {
            let token = self.token()?;
            let is_last = token == Token::Symbol(b')') && depth == 0;
            if is_last || token == Token::Symbol(b',') && depth == 0 {
                if tokens.is_empty() {
                    return self.error("A value is missing.");
                }
                cells.push(value::evaluate(&tokens));
                tokens.clear();
                if is_last {
                    return Ok(());
                }
                if cells.len() > MOST_COLUMNS {
                    return self.error("The row has too many values.");
                }
                continue;
            }
            match token {
                Token::Symbol(b'(') => depth += 1,
                Token::Symbol(b')') => depth -= 1,
                Token::Symbol(b';') => return self.error("Unterminated row."),
                _ => {}
            }
            size += token.len();
            if size > LONGEST || tokens.len() >= value::MOST_TOKENS {
                return self.error("A row is longer than 1 MiB, or has a value of too many parts.");
            }
            tokens.push(token);
        }
    }

    /// Reads after `COPY`: PostgreSQL's rows, one per line.
    fn copy(&mut self, sink: &mut RowSink<'_>) -> Result<(), ParseError> {
        let (table, mut next) = self.table_name()?;
        let is_wanted = self.wanted.has(&table);
        let columns = if is_wanted {
            self.columns(&table, &mut next)?
        } else {
            if next == Token::Symbol(b'(') {
                self.names()?;
                next = self.token()?;
            }
            vec![]
        };
        if !next.is_word("from") || !self.token()?.is_word("stdin") || self.token()? != Token::Symbol(b';') {
            return self.error("Only COPY … FROM stdin in pg_dump's own format is supported.");
        }
        self.lexer.skip_line()?;
        loop {
            let line = self.lexer.line();
            let Some(text) = self.lexer.raw_line(is_wanted)? else {
                return self.error("The file ends in the rows of a COPY.");
            };
            let text = text.strip_suffix(b"\r").unwrap_or(&text);
            if text == b"\\." {
                return Ok(());
            }
            if !is_wanted {
                continue;
            }
            let cells: Vec<_> = text
                .split(|byte| *byte == b'\t')
                .take(MOST_COLUMNS + 1)
                .map(|cell| match cell {
                    b"\\N" => Cell::Null,
                    cell => Cell::Text(escapes::decode_copy(cell)),
                })
                .collect();
            self.row((&table, &columns, line), &cells, sink)?;
        }
    }
}

#[cfg(test)]
mod tests;
