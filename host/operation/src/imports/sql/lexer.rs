//! Splits a SQL dump into tokens.

use std::io;

use super::dialect::{self, Dialect};
use super::escapes::{decode_copy, decode_hsqldb, decode_unicode};
use crate::imports::input::{Input, unreadable};
use crate::imports::record::ParseError;
use crate::imports::text::{Charset, hexadecimal};

/// Maximum length of a text, and of the values of a row together.
pub(super) const LONGEST: usize = 1024 * 1024;
/// Maximum length of a word, name or number.
const LONGEST_WORD: usize = 1024;
/// Beginning of a comment that is looked at: MySQL has statements in comments.
const COMMENT: usize = 64;

/// SQL token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Keyword or unquoted name.
    Word(String),
    /// Quoted name.
    Name(String),
    Number(String),
    /// Text or bytes.
    Text(Vec<u8>),
    Symbol(u8),
}

impl Token {
    /// True for this keyword, in any case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// Bytes that it holds.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Word(text) | Self::Name(text) | Self::Number(text) => text.len(),
            Self::Text(bytes) => bytes.len(),
            Self::Symbol(_) => 1,
        }
    }
}

/// Splits a dump into tokens. Keeps one token in memory.
pub(super) struct Lexer<'b> {
    source: Input<'b>,
    line: u64,
    dialect: Dialect,
    charset: Charset,
    keeps_texts: bool,
    /// End that the dump's tool writes, and true once it was read.
    end: Option<&'static str>,
    is_ended: bool,
}

impl<'b> Lexer<'b> {
    pub(super) fn new(mut source: Input<'b>) -> Result<Self, ParseError> {
        let beginning = source.beginning().map_err(|error| unreadable(1, &error))?;
        let (dialect, end) = (dialect::recognise(beginning), dialect::end(beginning));
        let charset = Charset::default();
        Ok(Self { source, line: 1, dialect, charset, keeps_texts: true, end, is_ended: false })
    }

    /// Current line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn charset(&self) -> Charset {
        self.charset
    }

    /// Selects if texts are kept, or read and discarded.
    pub(super) fn keep_texts(&mut self, keep: bool) {
        self.keeps_texts = keep;
    }

    fn failed(&self, error: &io::Error) -> ParseError {
        unreadable(self.line, error)
    }

    fn peek(&mut self) -> Result<Option<u8>, ParseError> {
        self.source.peek().map_err(|error| unreadable(self.line, &error))
    }

    fn take(&mut self) -> Result<Option<u8>, ParseError> {
        match self.source.next_byte() {
            Ok(byte) => {
                self.line += u64::from(byte == Some(b'\n'));
                Ok(byte)
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn take_if(&mut self, wanted: u8) -> Result<bool, ParseError> {
        let is_there = self.peek()? == Some(wanted);
        if is_there {
            self.take()?;
        }
        Ok(is_there)
    }

    /// Next token; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token>, ParseError> {
        loop {
            let Some(byte) = self.take()? else { return Ok(None) };
            match byte {
                // HSQLDB writes one statement per line.
                b'\n' if self.dialect == Dialect::Hsqldb => return Ok(Some(Token::Symbol(b';'))),
                byte if byte.is_ascii_whitespace() => {}
                b'#' if self.dialect == Dialect::MySql => self.skip_line()?,
                b'-' if self.take_if(b'-')? => self.skip_comment_line()?,
                b'/' if self.take_if(b'*')? => self.skip_comment()?,
                // Commands of psql, such as `\restrict`.
                b'\\' if self.dialect == Dialect::Postgres => self.skip_line()?,
                b'$' if self.dialect == Dialect::Postgres => {
                    if let Some(text) = self.dollar_text()? {
                        return Ok(Some(text));
                    }
                }
                b'\'' => return Ok(Some(Token::Text(self.text(b'\'', self.dialect == Dialect::MySql)?))),
                b'`' => return Ok(Some(Token::Name(self.name(b'`')?))),
                b'"' if self.dialect == Dialect::MySql => return Ok(Some(Token::Text(self.text(b'"', true)?))),
                b'"' => return Ok(Some(Token::Name(self.name(b'"')?))),
                b'0'..=b'9' => return self.number(byte).map(Some),
                byte if is_word(byte) => return self.word(byte).map(Some),
                symbol => return Ok(Some(Token::Symbol(symbol))),
            }
        }
    }

    /// Skips a comment, and notes the one that is a dump's last.
    fn skip_comment_line(&mut self) -> Result<(), ParseError> {
        let mut head = vec![];
        while let Some(byte) = self.take()?.filter(|byte| *byte != b'\n') {
            if head.len() < COMMENT {
                head.push(byte);
            }
        }
        let head = head.trim_ascii();
        self.is_ended |= head.starts_with(b"Dump completed") || head.starts_with(b"PostgreSQL database dump complete");
        Ok(())
    }

    /// Notes that the dump's transaction ends.
    pub(super) fn note_commit(&mut self) {
        self.is_ended = true;
    }

    /// The end that the dump's tool writes and that is missing, if it is.
    pub(super) fn missing_end(&self) -> Option<&'static str> {
        self.end.filter(|_| !self.is_ended)
    }

    pub(super) fn skip_line(&mut self) -> Result<(), ParseError> {
        while !matches!(self.take()?, Some(b'\n') | None) {}
        Ok(())
    }

    /// Line of rows or of another delimiter, without its end; none at the file's end. Of one that is not kept only the
    /// beginning.
    pub(super) fn raw_line(&mut self, is_kept: bool) -> Result<Option<Vec<u8>>, ParseError> {
        let mut line = vec![];
        while let Some(byte) = self.take()? {
            if byte == b'\n' {
                return Ok(Some(line));
            }
            if is_kept || line.len() < COMMENT {
                self.push(&mut line, byte)?;
            }
        }
        Ok((!line.is_empty()).then_some(line))
    }

    fn skip_comment(&mut self) -> Result<(), ParseError> {
        let (mut last, mut head) = (0, vec![]);
        while let Some(byte) = self.take()? {
            if last == b'*' && byte == b'/' {
                return self.note_charset(&head);
            }
            if head.len() < COMMENT {
                head.push(byte);
            }
            last = byte;
        }
        Err(self.error("Unterminated comment."))
    }

    /// Notes the charset of MySQL's `!40101 SET NAMES utf8mb4`.
    fn note_charset(&mut self, comment: &[u8]) -> Result<(), ParseError> {
        let comment = String::from_utf8_lossy(comment);
        let mut words = comment.trim_end_matches('*').split_ascii_whitespace().skip(1);
        match (words.next(), words.next(), words.next()) {
            (Some(set), Some(names), Some(charset))
                if comment.starts_with('!')
                    && set.eq_ignore_ascii_case("set")
                    && names.eq_ignore_ascii_case("names") =>
            {
                self.declare_charset(charset)
            }
            _ => Ok(()),
        }
    }

    /// Notes the encoding that the dump declares.
    pub(super) fn declare_charset(&mut self, name: &str) -> Result<(), ParseError> {
        let name = name.trim_matches(['\'', '"', ';']);
        let refused = || {
            self.error(&format!(
                "The dump's texts are in the encoding `{}`; dump them as UTF-8 (`mysqldump \
                 --default-character-set=utf8mb4`, `pg_dump --encoding=UTF8`).",
                name.chars().take(40).collect::<String>()
            ))
        };
        // A variable restores what was set before.
        if !name.starts_with('@') {
            self.charset = Charset::parse(name).ok_or_else(refused)?;
        }
        Ok(())
    }

    pub(super) fn error(&self, message: &str) -> ParseError {
        ParseError::at(self.line, message)
    }

    fn push(&self, to: &mut Vec<u8>, byte: u8) -> Result<(), ParseError> {
        if to.len() >= LONGEST {
            return Err(self.error("A text is longer than 1 MiB."));
        }
        to.push(byte);
        Ok(())
    }

    /// Text after its opening quote.
    fn text(&mut self, quote: u8, has_backslashes: bool) -> Result<Vec<u8>, ParseError> {
        let mut text = vec![];
        while let Some(byte) = self.take()? {
            let byte = match byte {
                b'\\' if self.dialect == Dialect::Unknown => {
                    return Err(self.error(
                        "Cannot tell which database this dump is from, and a text has a backslash, which they read \
                         differently; import the dump with its first lines, as the tool wrote it.",
                    ));
                }
                b'\\' if has_backslashes => match self.take()? {
                    Some(b'0') => 0,
                    Some(b'n') => b'\n',
                    Some(b'r') => b'\r',
                    Some(b't') => b'\t',
                    Some(b'b') => 8,
                    Some(b'Z') => 26,
                    Some(byte) => byte,
                    None => break,
                },
                byte if byte == quote => {
                    if !self.take_if(quote)? {
                        if self.dialect == Dialect::Hsqldb && text.contains(&b'\\') {
                            return Ok(decode_hsqldb(&String::from_utf8_lossy(&text)).into_bytes());
                        }
                        return Ok(text);
                    }
                    byte
                }
                byte => byte,
            };
            if self.keeps_texts {
                self.push(&mut text, byte)?;
            }
        }
        Err(self.error("Unterminated text."))
    }

    /// PostgreSQL's text between `$tag$`, after the first dollar; none if there is no tag.
    fn dollar_text(&mut self) -> Result<Option<Token>, ParseError> {
        let mut tag = vec![b'$'];
        while let Some(byte) = self.peek()?.filter(|byte| *byte != b'$') {
            if !is_word(byte) && !byte.is_ascii_digit() || tag.len() > COMMENT {
                return Ok(None);
            }
            tag.push(byte);
            self.take()?;
        }
        self.take()?;
        tag.push(b'$');
        let mut text = vec![];
        while let Some(byte) = self.take()? {
            self.push(&mut text, byte)?;
            if text.ends_with(&tag) {
                text.truncate(text.len() - tag.len());
                return Ok(Some(Token::Text(text)));
            }
        }
        Err(self.error("Unterminated text."))
    }

    /// Name after its opening quote.
    fn name(&mut self, quote: u8) -> Result<String, ParseError> {
        let mut name = vec![];
        while let Some(byte) = self.take()? {
            if byte == quote && !self.take_if(quote)? {
                return Ok(String::from_utf8_lossy(&name).into_owned());
            }
            self.push_word(&mut name, byte)?;
        }
        Err(self.error("Unterminated name."))
    }

    fn push_word(&self, to: &mut Vec<u8>, byte: u8) -> Result<(), ParseError> {
        if to.len() >= LONGEST_WORD {
            return Err(self.error("A name or number is longer than 1 KiB."));
        }
        to.push(byte);
        Ok(())
    }

    fn rest_of_word(&mut self, first: u8, is_bytes: bool) -> Result<Vec<u8>, ParseError> {
        let mut word = vec![first];
        while let Some(byte) = self.peek()? {
            if !is_word(byte) && !byte.is_ascii_digit() {
                break;
            }
            self.take()?;
            if !is_bytes || self.keeps_texts {
                if is_bytes && word.len() > 1 && word[1] == b'x' {
                    self.push(&mut word, byte)?;
                } else {
                    self.push_word(&mut word, byte)?;
                }
            }
        }
        Ok(word)
    }

    /// Number, or bytes as `0x…`.
    fn number(&mut self, first: u8) -> Result<Token, ParseError> {
        let mut number = self.rest_of_word(first, true)?;
        if let Some(digits) = number.strip_prefix(b"0x") {
            return self.bytes(digits).map(Token::Text);
        }
        while self.take_if(b'.')? {
            number.push(b'.');
            number.extend(self.rest_of_word(b'0', false)?.split_off(1));
        }
        if (number.ends_with(b"e") || number.ends_with(b"E"))
            && let Some(sign) = self.peek()?.filter(|sign| matches!(sign, b'+' | b'-'))
        {
            self.take()?;
            number.push(sign);
            number.extend(self.rest_of_word(b'0', false)?.split_off(1));
        }
        Ok(Token::Number(String::from_utf8_lossy(&number).into_owned()))
    }

    /// Word, or text with a prefix: `b'0'`, `x'…'`, `E'…'`, `U&'…'`.
    fn word(&mut self, first: u8) -> Result<Token, ParseError> {
        let word = self.rest_of_word(first, false)?;
        match word.as_slice() {
            b"b" | b"B" if self.take_if(b'\'')? => {
                let bits = self.text(b'\'', false)?;
                let digits = String::from_utf8_lossy(&bits);
                if !self.keeps_texts {
                    return Ok(Token::Number(String::new()));
                }
                match i64::from_str_radix(&digits, 2) {
                    Ok(number) => Ok(Token::Number(number.to_string())),
                    Err(_) => Err(self.error("Invalid bits.")),
                }
            }
            b"x" | b"X" if self.take_if(b'\'')? => {
                let digits = self.text(b'\'', false)?;
                self.bytes(&digits).map(Token::Text)
            }
            b"n" | b"N" if self.take_if(b'\'')? => Ok(Token::Text(self.text(b'\'', self.dialect == Dialect::MySql)?)),
            b"e" | b"E" if self.dialect == Dialect::Postgres && self.take_if(b'\'')? => {
                // Its backslashes are kept until here: only the quote matters for the end of the text.
                let mut text = vec![];
                loop {
                    match self.take()? {
                        Some(b'\\') => {
                            self.push(&mut text, b'\\')?;
                            if let Some(byte) = self.take()? {
                                self.push(&mut text, byte)?;
                            }
                        }
                        Some(b'\'') if !self.take_if(b'\'')? => return Ok(Token::Text(decode_copy(&text))),
                        Some(byte) => self.push(&mut text, byte)?,
                        None => return Err(self.error("Unterminated text.")),
                    }
                }
            }
            b"u" | b"U" if self.take_if(b'&')? => {
                if !self.take_if(b'\'')? {
                    return Err(self.error("Expected a text after `U&`."));
                }
                let text = self.text(b'\'', false)?;
                Ok(Token::Text(decode_unicode(&String::from_utf8_lossy(&text)).into_bytes()))
            }
            word => Ok(Token::Word(String::from_utf8_lossy(word).into_owned())),
        }
    }

    pub(super) fn bytes(&self, digits: &[u8]) -> Result<Vec<u8>, ParseError> {
        hexadecimal(digits).ok_or_else(|| self.error("Invalid hexadecimal bytes."))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte >= 0x80
}
