//! A strict JSON reader (RFC 8259) for tokens and key sets: no duplicate members, at most 32 levels.

use std::collections::BTreeMap;

/// The maximum depth of nested lists and objects.
const MAXIMUM_DEPTH: usize = 32;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// The number as it was written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads a whole text.
    pub fn parse(bytes: &[u8]) -> Result<Json, &'static str> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.skip_space();
        if reader.at == text.len() {
            Ok(value)
        } else {
            Err("it has bytes after its end")
        }
    }

    pub fn member(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(name),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Json]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    /// A finite number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// The value at a JSON pointer (RFC 6901).
    pub fn at(&self, pointer: &str) -> Option<&Json> {
        pointer.split('/').skip(1).try_fold(self, |value, step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            match value {
                Json::List(items) => items.get(step.parse::<usize>().ok()?),
                _ => value.member(&step),
            }
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Skips white space and then this byte, if it is the next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Json, &'static str> {
        if depth > MAXIMUM_DEPTH {
            return Err("it is nested too deeply");
        }
        self.skip_space();
        match self.peek().ok_or("it is cut off")? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Json::Text),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, &'static str> {
        let mut members = BTreeMap::new();
        self.take(b'{');
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            if !self.take(b':') {
                return Err("a member has no colon");
            }
            if members.insert(name, self.value(depth + 1)?).is_some() {
                return Err("a member occurs twice");
            }
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.take(b',') {
                return Err("an object has no comma or end");
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, &'static str> {
        let mut items = Vec::new();
        self.take(b'[');
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Json::List(items));
            }
            if !self.take(b',') {
                return Err("a list has no comma or end");
            }
        }
    }

    fn word(&mut self) -> Result<Json, &'static str> {
        for (word, value) in [("true", Json::Bool(true)), ("false", Json::Bool(false)), ("null", Json::Null)] {
            if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err("it has an unknown word")
    }

    fn digits(&mut self) -> Result<(), &'static str> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start {
            Ok(())
        } else {
            Err("a number lacks digits")
        }
    }

    fn number(&mut self) -> Result<Json, &'static str> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err("a number begins with 0");
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Result<String, &'static str> {
        if self.peek() != Some(b'"') {
            return Err("a string is missing");
        }
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            // Both ends are beside an ASCII byte, so neither is inside of a character.
            text.push_str(&self.text[start..self.at]);
            match self.peek().ok_or("a string is cut off")? {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => {
                    self.at += 1;
                    text.push(self.escaped()?);
                }
                _ => return Err("a string has a control character"),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, &'static str> {
        let escape = self.peek().ok_or("a string is cut off")?;
        self.at += 1;
        Ok(match escape {
            b'"' | b'\\' | b'/' => escape as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                let mut units = vec![first];
                if (0xD800..0xDC00).contains(&first) && self.text.as_bytes()[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    units.push(self.unit()?);
                }
                char::decode_utf16(units).next().and_then(Result::ok).ok_or("a string has half a character")?
            }
            _ => return Err("a string has an unknown escape"),
        })
    }

    fn unit(&mut self) -> Result<u16, &'static str> {
        let digits = self.text.get(self.at..self.at + 4).ok_or("an escape is cut off")?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("an escape has other characters than digits");
        }
        self.at += 4;
        u16::from_str_radix(digits, 16).map_err(|_| "an escape has other characters than digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let json = Json::parse(br#" {"a": [1, -2.5e1, true, null], "b/c": {"~": "\ud83d\ude00\n"}} "#).unwrap();
        assert_eq!(json.at("/a/1").and_then(Json::number), Some(-25.0));
        assert_eq!(json.at("/b~1c/~0").and_then(Json::text), Some("\u{1F600}\n"));
        assert_eq!(json.at("/a/4"), None);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "", "{", "[1,]", "{\"a\":1,\"a\":2}", "01", "1.", "-", "tru", "\"\\x\"", "\"\\ud83d\"", "\"\\u+123\"", "\"\n\"",
            "{} {}", "{\"a\" 1}", "nul\u{e9}", "[1 2]", "+1", "\"\\ud83d\\u0041\"", "1e", "\u{feff}{}",
        ] {
            assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Json::parse(b"\"\xff\"").is_err());
        assert!(Json::parse("[".repeat(100_000).as_bytes()).is_err());
        assert!(Json::parse(format!("{}{}", "[".repeat(32), "]".repeat(32)).as_bytes()).is_ok());
    }
}
