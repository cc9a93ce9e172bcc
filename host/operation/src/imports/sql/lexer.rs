//! Splits a SQL dump into tokens.

use std::io::BufRead;

use crate::imports::record::ParseError;

/// Maximum length of a name, number or text.
const LONGEST: usize = 1024 * 1024;
/// Size of the file's beginning used to detect the dialect, and of the part before all rows.
const BEGINNING: usize = 64 * 1024;
const HEADER: usize = 1024;

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
}

/// Splits a dump into tokens. Keeps one token in memory.
pub(super) struct Lexer<R> {
    source: R,
    line: u64,
    /// MySQL's texts have backslash escapes, H2's do not.
    has_backslashes: bool,
    keeps_texts: bool,
}

impl<R: BufRead> Lexer<R> {
    pub(super) fn new(mut source: R) -> Result<Self, ParseError> {
        let beginning = source.fill_buf().map_err(|error| unreadable(1, &error))?;
        let beginning = &beginning[..beginning.len().min(BEGINNING)];
        let has = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|window| window == part);
        let header = &beginning[..beginning.len().min(HEADER)];
        // H2's dump begins with its version or its users. It quotes names like standard SQL, or not at all.
        let is_h2 = has(header, b"-- H2 ")
            || has(header, b"CREATE USER IF NOT EXISTS")
            || (!has(beginning, b"`") && has(beginning, b"PUBLIC"));
        Ok(Self { source, line: 1, has_backslashes: !is_h2, keeps_texts: true })
    }

    /// Current line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Selects if texts are kept, or read and discarded.
    pub(super) fn keep_texts(&mut self, keep: bool) {
        self.keeps_texts = keep;
    }

    fn peek(&mut self) -> Result<Option<u8>, ParseError> {
        let line = self.line;
        Ok(self.source.fill_buf().map_err(|error| unreadable(line, &error))?.first().copied())
    }

    fn take(&mut self) -> Result<Option<u8>, ParseError> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.source.consume(1);
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
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
                byte if byte.is_ascii_whitespace() || byte == 0xEF || byte == 0xBB || byte == 0xBF => {}
                b'#' if self.has_backslashes => self.skip_line()?,
                b'-' if self.take_if(b'-')? => self.skip_line()?,
                b'/' if self.take_if(b'*')? => self.skip_comment()?,
                b'\'' => return Ok(Some(Token::Text(self.text(b'\'')?))),
                b'`' => return Ok(Some(Token::Name(self.name(b'`')?))),
                b'"' if self.has_backslashes => return Ok(Some(Token::Text(self.text(b'"')?))),
                b'"' => return Ok(Some(Token::Name(self.name(b'"')?))),
                b'0'..=b'9' => return self.number(byte).map(Some),
                byte if is_word(byte) => return self.word(byte).map(Some),
                symbol => return Ok(Some(Token::Symbol(symbol))),
            }
        }
    }

    fn skip_line(&mut self) -> Result<(), ParseError> {
        while !matches!(self.take()?, Some(b'\n') | None) {}
        Ok(())
    }

    fn skip_comment(&mut self) -> Result<(), ParseError> {
        let mut last = 0;
        while let Some(byte) = self.take()? {
            if last == b'*' && byte == b'/' {
                return Ok(());
            }
            last = byte;
        }
        Err(self.error("Unterminated comment."))
    }

    fn error(&self, message: &str) -> ParseError {
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
    fn text(&mut self, quote: u8) -> Result<Vec<u8>, ParseError> {
        let mut text = vec![];
        while let Some(byte) = self.take()? {
            let byte = match byte {
                b'\\' if self.has_backslashes => match self.take()? {
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

    /// Name after its opening quote.
    fn name(&mut self, quote: u8) -> Result<String, ParseError> {
        let mut name = vec![];
        while let Some(byte) = self.take()? {
            if byte == quote && !self.take_if(quote)? {
                return Ok(String::from_utf8_lossy(&name).into_owned());
            }
            self.push(&mut name, byte)?;
        }
        Err(self.error("Unterminated name."))
    }

    fn rest_of_word(&mut self, first: u8) -> Result<Vec<u8>, ParseError> {
        let mut word = vec![first];
        while let Some(byte) = self.peek()? {
            if !is_word(byte) && !byte.is_ascii_digit() {
                break;
            }
            self.take()?;
            self.push(&mut word, byte)?;
        }
        Ok(word)
    }

    /// Number, or bytes as `0x…`.
    fn number(&mut self, first: u8) -> Result<Token, ParseError> {
        let mut number = self.rest_of_word(first)?;
        if let Some(digits) = number.strip_prefix(b"0x") {
            return self.bytes(digits).map(Token::Text);
        }
        while self.take_if(b'.')? {
            number.push(b'.');
            number.extend(self.rest_of_word(b'0')?.split_off(1));
        }
        Ok(Token::Number(String::from_utf8_lossy(&number).into_owned()))
    }

    /// Word, or text with a prefix: `b'0'`, `x'…'`, `U&'…'`.
    fn word(&mut self, first: u8) -> Result<Token, ParseError> {
        let word = self.rest_of_word(first)?;
        match word.as_slice() {
            b"b" | b"B" if self.take_if(b'\'')? => {
                let is_set = self.text(b'\'')?.contains(&b'1');
                Ok(Token::Number(u8::from(is_set).to_string()))
            }
            b"x" | b"X" if self.take_if(b'\'')? => {
                let digits = self.text(b'\'')?;
                self.bytes(&digits).map(Token::Text)
            }
            b"n" | b"N" if self.take_if(b'\'')? => Ok(Token::Text(self.text(b'\'')?)),
            b"u" | b"U" if self.take_if(b'&')? => {
                if !self.take_if(b'\'')? {
                    return Err(self.error("Expected a text after `U&`."));
                }
                let text = self.text(b'\'')?;
                Ok(Token::Text(decode_unicode(&String::from_utf8_lossy(&text)).into_bytes()))
            }
            word => Ok(Token::Word(String::from_utf8_lossy(word).into_owned())),
        }
    }

    fn bytes(&self, digits: &[u8]) -> Result<Vec<u8>, ParseError> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pairs = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        });
        pairs.collect::<Option<_>>().ok_or_else(|| self.error("Invalid hexadecimal bytes."))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte >= 0x80
}

fn unreadable(line: u64, error: &std::io::Error) -> ParseError {
    ParseError::at(line, format!("Cannot read the file: {error}."))
}

/// Code point of the first `digits` characters, and the rest.
fn code_point(text: &str, digits: usize) -> Option<(char, &str)> {
    let (code, rest) = text.split_at_checked(digits)?;
    Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest))
}

/// Decodes standard SQL's escapes: `\00e4`, `\+01f600` and `\\`. Invalid ones are kept.
fn decode_unicode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let found = match after.strip_prefix('+') {
            Some(after) => code_point(after, 6),
            None => after.strip_prefix('\\').map(|after| ('\\', after)).or_else(|| code_point(after, 4)),
        };
        let (character, after) = found.unwrap_or(('\\', after));
        decoded.push(character);
        rest = after;
    }
    decoded + rest
}

/// Decodes Java's escapes: `\u00e4`, `\n`, `\\` and so on. Invalid ones are kept.
pub(super) fn decode_java(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let mut characters = after.chars();
        let (character, after) = match characters.next() {
            Some('u') => code_point(&after[1..], 4).unwrap_or(('\\', after)),
            Some('n') => ('\n', characters.as_str()),
            Some('r') => ('\r', characters.as_str()),
            Some('t') => ('\t', characters.as_str()),
            Some(character) => (character, characters.as_str()),
            None => ('\\', after),
        };
        decoded.push(character);
        rest = after;
    }
    decoded + rest
}
