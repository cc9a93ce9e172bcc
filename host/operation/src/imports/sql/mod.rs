//! Reads table rows from a SQL dump written by `mysqldump`, phpMyAdmin or H2's `SCRIPT`. All other statements are
//! ignored.

mod lexer;

use std::collections::HashMap;
use std::io::BufRead;

use crate::imports::record::ParseError;
use lexer::{Lexer, Token};

/// Maximum number of columns of a table.
const MOST_COLUMNS: usize = 200;

/// Value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    /// Number as written, or `1` and `0` for truth values.
    Number(String),
    /// Text or bytes.
    Text(Vec<u8>),
}

/// Row of a table.
#[derive(Debug)]
pub(super) struct Row<'r> {
    /// Name of the table in lower case, without its schema.
    pub(super) table: &'r str,
    /// Names of the columns in lower case.
    pub(super) columns: &'r [String],
    pub(super) cells: &'r [Cell],
    /// None in a database file.
    pub(super) line: Option<u64>,
}

impl Row<'_> {
    /// Value of a column; null if the table does not have it.
    pub(super) fn get(&self, column: &str) -> &Cell {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).unwrap_or(&Cell::Null)
    }

    /// Text of a column; none if it is null or blank.
    pub(super) fn text(&self, column: &str) -> Option<String> {
        let text = match self.get(column) {
            Cell::Null => return None,
            Cell::Number(number) => number.clone(),
            Cell::Text(bytes) => String::from_utf8_lossy(bytes).trim().to_owned(),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Integer in a column.
    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        self.text(column)?.parse().ok()
    }

    /// Truth value in a column: a number, a bit, or a text of one.
    pub(super) fn flag(&self, column: &str) -> bool {
        match self.get(column) {
            Cell::Null => false,
            Cell::Number(number) => number != "0",
            Cell::Text(bytes) => match bytes.as_slice() {
                b"0" | b"false" | b"FALSE" => false,
                bytes => bytes.iter().any(|byte| *byte != 0),
            },
        }
    }
}

/// Receives the rows one by one.
pub(super) type RowSink<'a> = dyn FnMut(&Row<'_>) -> Result<(), ParseError> + 'a;

/// Reads the rows of the tables `wanted` (names in lower case). Returns the ones that the dump creates or fills.
pub(super) fn read_dump(
    source: impl BufRead,
    wanted: &dyn Fn(&str) -> bool,
    sink: &mut RowSink<'_>,
) -> Result<Vec<String>, ParseError> {
    let mut dump = Dump { lexer: Lexer::new(source)?, wanted, columns: HashMap::new() };
    while let Some(token) = dump.lexer.next()? {
        match &token {
            Token::Symbol(b';') => {}
            token if token.is_word("create") => dump.create()?,
            token if token.is_word("insert") || token.is_word("replace") => dump.insert(sink)?,
            _ => dump.skip_statement()?,
        }
    }
    Ok(dump.columns.into_keys().collect())
}

struct Dump<'d, R> {
    lexer: Lexer<R>,
    wanted: &'d dyn Fn(&str) -> bool,
    /// Columns of the wanted tables found so far.
    columns: HashMap<String, Vec<String>>,
}

impl<R: BufRead> Dump<'_, R> {
    fn token(&mut self) -> Result<Token, ParseError> {
        let line = self.lexer.line();
        let ended = || ParseError::at(line, "The file ends in the middle of a statement.");
        self.lexer.next()?.ok_or_else(ended)
    }

    fn error<T>(&self, message: &str) -> Result<T, ParseError> {
        Err(ParseError::at(self.lexer.line(), message))
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
        if next != Token::Symbol(b'(') || !(self.wanted)(&name) {
            return if next == Token::Symbol(b';') { Ok(()) } else { self.skip_statement() };
        }
        let columns = self.column_definitions()?;
        self.columns.insert(name, columns);
        self.skip_statement()
    }

    /// Name of a table without its schema, in lower case, and the next token.
    fn table_name(&mut self) -> Result<(String, Token), ParseError> {
        let mut token = self.token()?;
        if token.is_word("if") {
            while !token.is_word("exists") {
                if token == Token::Symbol(b';') {
                    return self.error("Missing table name.");
                }
                token = self.token()?;
            }
            token = self.token()?;
        }
        loop {
            let (Token::Word(name) | Token::Name(name)) = token else {
                return self.error("Missing table name.");
            };
            let next = self.token()?;
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

    /// Reads after `INSERT`.
    fn insert(&mut self, sink: &mut RowSink<'_>) -> Result<(), ParseError> {
        loop {
            match self.token()? {
                token if token.is_word("into") => break,
                Token::Word(_) => {}
                _ => return self.skip_statement(),
            }
        }
        let (table, mut next) = self.table_name()?;
        if !(self.wanted)(&table) {
            return if next == Token::Symbol(b';') { Ok(()) } else { self.skip_statement() };
        }
        let columns = if next == Token::Symbol(b'(') {
            let columns = self.names()?;
            next = self.token()?;
            self.columns.entry(table.clone()).or_insert_with(|| columns.clone());
            columns
        } else {
            match self.columns.get(&table) {
                Some(columns) => columns.clone(),
                None => return self.error("The rows of a table precede its CREATE TABLE."),
            }
        };
        // H2 writes OVERRIDING SYSTEM VALUE.
        while !next.is_word("values") {
            if !matches!(next, Token::Word(_)) {
                return self.error("Only INSERT … VALUES is supported.");
            }
            next = self.token()?;
        }
        loop {
            if self.token()? != Token::Symbol(b'(') {
                return self.error("Expected a parenthesis before a row.");
            }
            let line = self.lexer.line();
            let cells = self.cells()?;
            if cells.len() != columns.len() {
                let message = format!("A row of `{table}` has {} values for {} columns.", cells.len(), columns.len());
                return Err(ParseError::at(self.lexer.line(), message));
            }
            sink(&Row { table: &table, columns: &columns, cells: &cells, line: Some(line) })?;
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
    fn cells(&mut self) -> Result<Vec<Cell>, ParseError> {
        let mut cells = vec![];
        loop {
            let token = self.token()?;
            cells.push(self.cell(token)?);
            match self.token()? {
                Token::Symbol(b',') => {}
                Token::Symbol(b')') => return Ok(cells),
                _ => return self.error("Expected a comma or closing parenthesis after a value."),
            }
            if cells.len() > MOST_COLUMNS {
                return self.error("The row has too many values.");
            }
        }
    }

    fn cell(&mut self, token: Token) -> Result<Cell, ParseError> {
        Ok(match token {
            Token::Text(bytes) => Cell::Text(bytes),
            Token::Number(number) => Cell::Number(number),
            Token::Symbol(sign @ (b'-' | b'+')) => match self.token()? {
                Token::Number(number) if sign == b'-' => Cell::Number(format!("-{number}")),
                Token::Number(number) => Cell::Number(number),
                _ => return self.error("Expected a number after a sign."),
            },
            token if token.is_word("null") => Cell::Null,
            token if token.is_word("true") => Cell::Number("1".to_owned()),
            token if token.is_word("false") => Cell::Number("0".to_owned()),
            token if token.is_word("stringdecode") => self.string_decode()?,
            // TIMESTAMP '…', _binary '…'.
            Token::Word(_) => match self.token()? {
                Token::Text(bytes) => Cell::Text(bytes),
                _ => return self.error("Unsupported value."),
            },
            _ => return self.error("Unsupported value."),
        })
    }

    /// H2's function for texts with non-ASCII characters: `('…')` with Java's escapes.
    fn string_decode(&mut self) -> Result<Cell, ParseError> {
        let (open, text, close) = (self.token()?, self.token()?, self.token()?);
        match (open, text, close) {
            (Token::Symbol(b'('), Token::Text(bytes), Token::Symbol(b')')) => {
                Ok(Cell::Text(lexer::decode_java(&String::from_utf8_lossy(&bytes)).into_bytes()))
            }
            _ => self.error("STRINGDECODE requires one text."),
        }
    }
}

#[cfg(test)]
mod tests;
