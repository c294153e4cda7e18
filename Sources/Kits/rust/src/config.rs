//! The configuration of a plugin: JSON that the host has already parsed and validated.

use std::borrow::Cow;

use crate::failure::Failure;

/// A borrowed JSON value. A member that is missing or null is `None`; a member of another type is an error.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a>(&'a str);

impl<'a> Config<'a> {
    /// Wraps JSON text.
    pub fn new(json: &'a str) -> Config<'a> {
        Config(json.trim_matches(is_space))
    }

    /// The JSON text, unchanged.
    pub fn json(&self) -> &'a str {
        self.0
    }

    /// A member of an object; `None` if it is missing or null.
    pub fn get(&self, name: &str) -> Result<Option<Config<'a>>, Failure> {
        Ok(self.members()?.into_iter().find(|(key, value)| key == name && value.0 != "null").map(|(_, value)| value))
    }
    /// A string member.
    pub fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Failure> {
        self.at(name, Config::as_text)
    }
    /// An integer member.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, Failure> {
        self.at(name, Config::as_integer)
    }
    /// A number member.
    pub fn number(&self, name: &str) -> Result<Option<f64>, Failure> {
        self.at(name, Config::as_number)
    }
    /// A boolean member.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Failure> {
        self.at(name, Config::as_boolean)
    }

    /// The value as a string.
    pub fn as_text(&self) -> Result<Cow<'a, str>, Failure> {
        let mut reader = Reader(self.0);
        let text = reader.string()?;
        reader.end(text)
    }
    /// The value as an integer.
    pub fn as_integer(&self) -> Result<i64, Failure> {
        self.0.parse().map_err(|_| wrong("an integer of 64 bits"))
    }
    /// The value as a number.
    pub fn as_number(&self) -> Result<f64, Failure> {
        let is_number = self.0.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        self.0.parse().ok().filter(|_| is_number).ok_or_else(|| wrong("a number"))
    }
    /// The value as a boolean.
    pub fn as_boolean(&self) -> Result<bool, Failure> {
        self.0.parse().map_err(|_| wrong("true or false"))
    }
    /// The elements of an array.
    pub fn elements(&self) -> Result<Vec<Config<'a>>, Failure> {
        let mut reader = Reader(self.0);
        reader.expect('[', "an array")?;
        let mut found = Vec::new();
        while reader.peek() != Some(']') {
            found.push(reader.value()?);
            reader.separator(']')?;
        }
        Ok(found)
    }
    /// The members of an object, including those that are null.
    pub fn members(&self) -> Result<Vec<(Cow<'a, str>, Config<'a>)>, Failure> {
        let mut reader = Reader(self.0);
        reader.expect('{', "an object")?;
        let mut found = Vec::new();
        while reader.peek() != Some('}') {
            let key = reader.string()?;
            reader.expect(':', "a colon")?;
            found.push((key, reader.value()?));
            reader.separator('}')?;
        }
        Ok(found)
    }

    fn at<T>(&self, name: &str, read: impl Fn(&Config<'a>) -> Result<T, Failure>) -> Result<Option<T>, Failure> {
        let value = self.get(name)?;
        value.map(|value| read(&value)).transpose().map_err(|failure| format!("{name}: {failure}").into())
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn wrong(wanted: &str) -> Failure {
    format!("the configuration has not got {wanted} here").into()
}

/// The unread rest of a JSON text.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        self.0 = self.0.trim_start_matches(is_space);
        self.0.chars().next()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn expect(&mut self, wanted: char, name: &str) -> Result<(), Failure> {
        if self.peek() != Some(wanted) {
            return Err(wrong(name));
        }
        self.take(wanted.len_utf8());
        Ok(())
    }

    /// Moves past a comma, or to the closing bracket.
    fn separator(&mut self, closing: char) -> Result<(), Failure> {
        match self.peek() {
            Some(next) if next == closing => Ok(()),
            _ => self.expect(',', "a comma"),
        }
    }

    fn end<T>(&mut self, value: T) -> Result<T, Failure> {
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(wrong("its end")),
        }
    }

    fn value(&mut self) -> Result<Config<'a>, Failure> {
        self.peek();
        let start = self.0;
        let mut depth = 0usize;
        loop {
            match self.peek().ok_or_else(|| wrong("a value"))? {
                '"' => {
                    self.string()?;
                }
                '{' | '[' => {
                    depth += 1;
                    self.take(1);
                }
                '}' | ']' => {
                    depth = depth.checked_sub(1).ok_or_else(|| wrong("a value"))?;
                    self.take(1);
                }
                ',' | ':' if depth > 0 => {
                    self.take(1);
                }
                _ => {
                    let length = self.0.find(|next| is_space(next) || ",:]}".contains(next)).unwrap_or(self.0.len());
                    if length == 0 {
                        return Err(wrong("a value"));
                    }
                    self.take(length);
                }
            }
            if depth == 0 {
                return Ok(Config::new(&start[..start.len() - self.0.len()]));
            }
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Failure> {
        self.expect('"', "a string")?;
        let mut text = Cow::Borrowed("");
        loop {
            let plain = self.0.find(['"', '\\']).ok_or_else(|| wrong("the end of a string"))?;
            let piece = self.take(plain);
            if text.is_empty() {
                text = Cow::Borrowed(piece);
            } else {
                text.to_mut().push_str(piece);
            }
            if self.take(1) == "\"" {
                return Ok(text);
            }
            let character = self.escaped()?;
            text.to_mut().push(character);
        }
    }

    fn escaped(&mut self) -> Result<char, Failure> {
        let escape = self.0.chars().next().ok_or_else(|| wrong("the end of a string"))?;
        self.take(escape.len_utf8());
        Ok(match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                let mut units = vec![first];
                if (0xD800..0xDC00).contains(&first) {
                    self.0 = self.0.strip_prefix("\\u").ok_or_else(|| wrong("the second half of a character"))?;
                    units.push(self.unit()?);
                }
                let mut decoded = char::decode_utf16(units);
                decoded.next().and_then(Result::ok).ok_or_else(|| wrong("a character"))?
            }
            other => other,
        })
    }

    fn unit(&mut self) -> Result<u16, Failure> {
        let digits = self.0.get(..4).ok_or_else(|| wrong("four hexadecimal digits"))?;
        self.0 = &self.0[4..];
        u16::from_str_radix(digits, 16).map_err(|_| wrong("four hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    #[test]
    fn values_are_found_and_decoded() {
        let config = Config::new(
            r#" {"a": {"b": [1, "x]}", {"c": null}], "d": -2.5e1}, "e\u00e9\ud83d\ude00": "q\"\\\/\n", "t": true, "n": null} "#,
        );
        let a = config.get("a").unwrap().unwrap();
        let b = a.get("b").unwrap().unwrap().elements().unwrap();
        assert_eq!(b.len(), 3);
        assert_eq!(b[0].as_integer().unwrap(), 1);
        assert_eq!(b[1].as_text().unwrap(), "x]}");
        assert_eq!(a.number("d").unwrap(), Some(-25.0));
        assert_eq!(config.text("e\u{e9}\u{1F600}").unwrap().unwrap(), "q\"\\/\n");
        assert_eq!(config.boolean("t").unwrap(), Some(true));
        assert_eq!(config.text("n").unwrap(), None);
        assert_eq!(config.text("absent").unwrap(), None);
    }

    #[test]
    fn the_wrong_type_is_an_error_that_names_the_member() {
        let config = Config::new(r#"{"a": 1, "b": 99999999999999999999}"#);
        assert!(config.text("a").unwrap_err().message.starts_with("a: "));
        assert!(config.integer("b").is_err());
        assert!(config.boolean("a").is_err());
    }

    #[test]
    fn what_is_cut_off_is_an_error_and_not_a_panic() {
        let whole = r#"{"a":[1,{"b":"\ud83d\ude00"}],"c":"x"}"#;
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(Config::new(&whole[..end]).members().is_err(), "{end}");
        }
        assert!(Config::new(whole).members().is_ok());
    }
}
