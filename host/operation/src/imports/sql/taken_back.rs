//! Statements that take rows back or replace them. No tool writes them after a table's rows, but a log of statements
//! has them: rows that were read may not be true any more.

use super::lexer::Token;
use super::{Cell, Dump, FoundTable, ParseError};

impl Dump<'_> {
    /// Reads after `UPDATE` or `DELETE`.
    pub(super) fn change(&mut self) -> Result<(), ParseError> {
        let mut token = self.token()?;
        while ["from", "only", "low_priority", "ignore", "quick"].iter().any(|word| token.is_word(word)) {
            token = self.token()?;
        }
        let next = self.refuse_if_read(token, "changes rows of")?;
        self.skip_after(&next)
    }

    /// Reads after `TRUNCATE`.
    pub(super) fn truncate(&mut self) -> Result<(), ParseError> {
        let mut token = self.token()?;
        if token.is_word("table") {
            token = self.token()?;
        }
        self.refuse_each_if_read(token, "empties")
    }

    /// Reads after `DROP`. A table is dropped before it is created, if at all.
    pub(super) fn drop_tables(&mut self) -> Result<(), ParseError> {
        let mut token = self.token()?;
        while ["temporary", "foreign", "cached", "memory"].iter().any(|word| token.is_word(word)) {
            token = self.token()?;
        }
        if token.is_word("table") {
            let token = self.token()?;
            return self.refuse_each_if_read(token, "drops");
        }
        // H2's DROP ALL OBJECTS.
        if token.is_word("all")
            && let Some((table, _)) = self.tables.iter().find(|(_, found)| found.has_rows())
        {
            return self.error(&taken_back("drops", table));
        }
        self.skip_after(&token)
    }

    /// Reads after `ROLLBACK`, with which `sqlite3` ends the dump of a damaged database.
    pub(super) fn rollback(&mut self) -> Result<(), ParseError> {
        if self.has_open_rows {
            return self.error(
                "The file takes its rows back by ROLLBACK, as the dump of a damaged database does; repair the \
                 database, or export its rows in another way.",
            );
        }
        self.skip_statement()
    }

    /// Reads after `MERGE`, whose rows replace others.
    pub(super) fn merge(&mut self) -> Result<(), ParseError> {
        let mut token = self.token()?;
        if token.is_word("into") {
            token = self.token()?;
        }
        if !is_name(&token) {
            return self.skip_after(&token);
        }
        let (table, next) = self.table_name_from(token)?;
        if self.wanted.has(&table) {
            return self.error("Only INSERT … VALUES is supported.");
        }
        self.skip_after(&next)
    }

    /// Refuses a second row of one id, which would replace the first one, or be left out.
    pub(super) fn note_id(&mut self, table: &str, columns: &[String], cells: &[Cell]) -> Result<(), ParseError> {
        let at = columns.iter().position(|name| name == "id");
        let Some(id) = at.and_then(|at| cells.get(at)).and_then(number) else { return Ok(()) };
        let is_new = match self.ids.get_mut(table) {
            Some(ids) => ids.insert(id),
            None => self.ids.entry(table.to_owned()).or_default().insert(id),
        };
        if is_new {
            return Ok(());
        }
        self.error(&format!(
            "The file has the row {id} of the table `{table}` twice, as a log of statements or a dump of several \
             databases does; import a dump of a single database as it is."
        ))
    }

    fn refuse_each_if_read(&mut self, mut token: Token, action: &str) -> Result<(), ParseError> {
        loop {
            let next = self.refuse_if_read(token, action)?;
            if next != Token::Symbol(b',') {
                return self.skip_after(&next);
            }
            token = self.token()?;
        }
    }

    /// Refuses a statement on a table, from its name, if rows of it were read. Returns the next token.
    fn refuse_if_read(&mut self, token: Token, action: &str) -> Result<Token, ParseError> {
        if !is_name(&token) {
            return Ok(token);
        }
        let (table, next) = self.table_name_from(token)?;
        // An empty table is as it was before.
        if self.tables.get(&table).is_some_and(FoundTable::has_rows) {
            return self.error(&taken_back(action, &table));
        }
        Ok(next)
    }

    fn skip_after(&mut self, token: &Token) -> Result<(), ParseError> {
        if *token == Token::Symbol(b';') { Ok(()) } else { self.skip_statement() }
    }
}

fn is_name(token: &Token) -> bool {
    matches!(token, Token::Word(_) | Token::Name(_) | Token::Text(_))
}

fn taken_back(action: &str, table: &str) -> String {
    format!(
        "The file {action} the table `{table}` after it inserted its rows, as no dump of a single database does; \
         import a dump of the database as it is."
    )
}

fn number(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Number(text) => text.parse().ok(),
        Cell::Text(text) => str::from_utf8(text).ok()?.parse().ok(),
        Cell::Null | Cell::Unreadable(_) => None,
    }
}
