//! The tokens of GraphQL documents. Each token counts, so a document cannot use more memory than its limit allows.

/// A token; names and numbers are slices of the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// A punctuator; `...` is `.`.
    Mark(u8),
    Name(&'a str),
    /// An integer or a floating-point number.
    Number(&'a str),
    Text,
    End,
}

/// Why a document cannot be measured.
#[derive(Debug, PartialEq)]
pub enum Unreadable {
    /// More tokens than allowed.
    TooLong,
    /// Nested more deeply than the reader goes.
    TooDeep,
    /// Not an executable document; the place in bytes.
    Syntax(usize),
}

pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// How many tokens may follow.
    left: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, maximum: usize) -> Lexer<'a> {
        Lexer { text, at: 0, left: maximum }
    }

    pub fn wrong<T>(&self) -> Result<T, Unreadable> {
        Err(Unreadable::Syntax(self.at))
    }

    pub fn next(&mut self) -> Result<Token<'a>, Unreadable> {
        self.skip_ignored();
        let bytes = self.text.as_bytes();
        let Some(&first) = bytes.get(self.at) else { return Ok(Token::End) };
        self.left = self.left.checked_sub(1).ok_or(Unreadable::TooLong)?;
        let start = self.at;
        match first {
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b':' | b'$' | b'!' | b'=' | b'@' | b'|' | b'&' => {
                self.at += 1;
                Ok(Token::Mark(first))
            }
            b'.' if bytes[self.at..].starts_with(b"...") => {
                self.at += 3;
                Ok(Token::Mark(b'.'))
            }
            b'"' => self.string(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                Ok(Token::Name(&self.text[start..self.at]))
            }
            b'-' | b'0'..=b'9' => {
                self.at += 1;
                self.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-'));
                Ok(Token::Number(&self.text[start..self.at]))
            }
            _ => self.wrong(),
        }
    }

    fn skip(&mut self, matches: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches(**byte)).count();
    }

    /// White space, commas, comments and a byte order mark.
    fn skip_ignored(&mut self) {
        loop {
            let start = self.at;
            self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b','));
            let rest = &self.text.as_bytes()[self.at..];
            if rest.first() == Some(&b'#') {
                self.skip(|byte| !matches!(byte, b'\r' | b'\n'));
            } else if rest.starts_with("\u{feff}".as_bytes()) {
                self.at += 3;
            }
            if self.at == start {
                return;
            }
        }
    }

    fn string(&mut self) -> Result<Token<'a>, Unreadable> {
        let bytes = self.text.as_bytes();
        let is_block = bytes[self.at..].starts_with(b"\"\"\"");
        self.at += if is_block { 3 } else { 1 };
        loop {
            let rest = &bytes[self.at..];
            match rest.first() {
                None => return self.wrong(),
                Some(b'"') if !is_block => {
                    self.at += 1;
                    return Ok(Token::Text);
                }
                Some(b'"') if rest.starts_with(b"\"\"\"") => {
                    self.at += 3;
                    return Ok(Token::Text);
                }
                Some(b'\\') if is_block && rest.starts_with(b"\\\"\"\"") => self.at += 4,
                Some(b'\\') if !is_block && rest.len() > 1 => self.at += 2,
                Some(b'\r' | b'\n') if !is_block => return self.wrong(),
                Some(_) => self.at += 1,
            }
        }
    }
}
