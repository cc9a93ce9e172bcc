//! Values of rows: literals, and the few expressions that dumps are written with. Any other one is unreadable, which
//! the row's reader decides about: most tables have columns that nobody asks for.

use super::escapes::{decode_copy, decode_java, decode_unistr};
use super::lexer::{LONGEST, Token};
use crate::imports::database::row::Cell;
use crate::imports::text::hexadecimal;

/// Maximum number of tokens of a value.
pub(super) const MOST_TOKENS: usize = 64;
/// Maximum nesting depth of functions.
const DEEPEST: usize = 16;

/// Value of the tokens between two commas.
pub(super) fn evaluate(tokens: &[Token]) -> Cell {
    // The common ones without a copy of their parts.
    match tokens {
        [Token::Text(bytes)] => return Cell::Text(bytes.clone()),
        [Token::Number(number)] => return Cell::Number(number.clone()),
        _ => {}
    }
    let mut expression = Expression { tokens, at: 0, depth: 0 };
    let value = expression.value();
    match value {
        Some(value) if expression.at == tokens.len() => value,
        _ => Cell::Unreadable(describe(tokens)),
    }
}

/// Beginning of an expression, for a note.
fn describe(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens.iter().take(6) {
        match token {
            Token::Word(word) | Token::Name(word) | Token::Number(word) => text.extend(word.chars().take(40)),
            Token::Text(_) => text.push_str("'…'"),
            Token::Symbol(symbol) => text.push(char::from(*symbol)),
        }
    }
    text
}

struct Expression<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl<'t> Expression<'t> {
    fn next(&mut self) -> Option<&'t Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn take(&mut self, symbol: u8) -> Option<()> {
        let is_there = self.tokens.get(self.at) == Some(&Token::Symbol(symbol));
        self.at += usize::from(is_there);
        is_there.then_some(())
    }

    /// Value with what may follow it: `+ 0`, `::type`, `|| value`.
    fn value(&mut self) -> Option<Cell> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut value = self.primary()?;
        loop {
            if self.take(b'+').is_some() {
                match (self.next()?, &value) {
                    (Token::Number(zero), Cell::Number(_)) if zero == "0" => {}
                    _ => return None,
                }
            } else if self.take(b':').is_some() {
                self.take(b':')?;
                self.type_name()?;
            } else if self.take(b'|').is_some() {
                self.take(b'|')?;
                let (Cell::Text(mut one), Cell::Text(other)) = (value, self.primary()?) else { return None };
                if one.len() + other.len() > LONGEST {
                    return None;
                }
                one.extend(other);
                value = Cell::Text(one);
            } else {
                break;
            }
        }
        self.depth -= 1;
        Some(value)
    }

    fn primary(&mut self) -> Option<Cell> {
        match self.next()? {
            Token::Text(bytes) => Some(Cell::Text(bytes.clone())),
            Token::Number(number) => Some(Cell::Number(number.clone())),
            Token::Symbol(b'-') => match self.next()? {
                Token::Number(number) => Some(Cell::Number(format!("-{number}"))),
                _ => None,
            },
            Token::Symbol(b'+') => match self.next()? {
                Token::Number(number) => Some(Cell::Number(number.clone())),
                _ => None,
            },
            Token::Symbol(b'(') => {
                let value = self.value()?;
                self.take(b')')?;
                Some(value)
            }
            Token::Word(word) => self.word(&word.to_ascii_lowercase()),
            _ => None,
        }
    }

    fn word(&mut self, word: &str) -> Option<Cell> {
        match word {
            "null" => Some(Cell::Null),
            "true" => Some(Cell::Number("1".to_owned())),
            "false" => Some(Cell::Number("0".to_owned())),
            // TIMESTAMP '…', _binary '…'.
            "timestamp" | "date" | "time" | "uuid" | "binary" | "datetime" => self.literal(),
            charset if charset.starts_with('_') => self.literal(),
            _ => {
                self.take(b'(')?;
                let value = self.function(word)?;
                self.take(b')')?;
                Some(value)
            }
        }
    }

    fn literal(&mut self) -> Option<Cell> {
        match self.next()? {
            Token::Text(bytes) => Some(Cell::Text(bytes.clone())),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        match self.value()? {
            Cell::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn function(&mut self, name: &str) -> Option<Cell> {
        match name {
            // H2's texts with other characters than ASCII, SQLite's with control characters, and bytes.
            "stringdecode" => Some(Cell::Text(decode_java(&String::from_utf8(self.text()?).ok()?).into_bytes())),
            "unistr" => Some(Cell::Text(decode_unistr(&String::from_utf8(self.text()?).ok()?).into_bytes())),
            "unhex" => Some(Cell::Text(hexadecimal(&self.text()?)?)),
            "decode" => {
                let text = self.text()?;
                self.take(b',')?;
                match self.text()?.as_slice() {
                    b"hex" => Some(Cell::Text(hexadecimal(&text)?)),
                    b"escape" => Some(Cell::Text(decode_copy(&text))),
                    _ => None,
                }
            }
            "char" => match self.value()? {
                Cell::Number(code) => Some(Cell::Text(char::from_u32(code.parse().ok()?)?.to_string().into_bytes())),
                _ => None,
            },
            // SQLite's line breaks: replace('a\nb','\n',char(10)).
            "replace" => {
                let text = self.text()?;
                self.take(b',')?;
                let from = self.text()?;
                self.take(b',')?;
                let to = self.text()?;
                replace(&text, &from, &to).map(Cell::Text)
            }
            // Adminer's bits: CONV('1', 2, 10) + 0.
            "conv" => {
                let digits = match self.value()? {
                    Cell::Text(bytes) => String::from_utf8(bytes).ok()?,
                    Cell::Number(number) => number,
                    _ => return None,
                };
                self.take(b',')?;
                let from = self.radix()?;
                self.take(b',')?;
                // In base 10 alone is the result a number as others are.
                let number = (self.radix()? == 10).then(|| u64::from_str_radix(digits.trim(), from).ok())??;
                Some(Cell::Number(number.to_string()))
            }
            "cast" => {
                let value = self.value()?;
                matches!(self.next()?, word if word.is_word("as")).then_some(())?;
                self.type_name()?;
                Some(value)
            }
            _ => None,
        }
    }

    fn radix(&mut self) -> Option<u32> {
        match self.value()? {
            Cell::Number(radix) => radix.parse().ok().filter(|radix| (2..=36).contains(radix)),
            _ => None,
        }
    }

    /// Name of a type, such as `character varying(36)`.
    fn type_name(&mut self) -> Option<()> {
        matches!(self.next()?, Token::Word(_) | Token::Name(_)).then_some(())?;
        while let Some(Token::Word(_)) = self.tokens.get(self.at) {
            self.at += 1;
        }
        if self.take(b'(').is_some() {
            while !matches!(self.next()?, Token::Symbol(b')')) {}
        }
        Some(())
    }
}

/// Replaces a part of a text; none if the result is too long, which is counted before it is made.
fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    if from.is_empty() {
        return Some(text.to_vec());
    }
    let (mut found, mut at) = (vec![], 0);
    while at + from.len() <= text.len() {
        if text[at..].starts_with(from) {
            found.push(at);
            at += from.len();
        } else {
            at += 1;
        }
    }
    let length = text.len() - found.len() * from.len() + found.len().checked_mul(to.len())?;
    if length > LONGEST {
        return None;
    }
    let (mut made, mut after) = (Vec::with_capacity(length), 0);
    for at in found {
        made.extend_from_slice(&text[after..at]);
        made.extend_from_slice(to);
        after = at + from.len();
    }
    made.extend_from_slice(&text[after..]);
    Some(made)
}
