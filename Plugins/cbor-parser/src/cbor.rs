//! Converts CBOR to JSON text. All lengths are checked before use.

use std::fmt::Write;

/// How deep arrays and maps may be nested.
const MAXIMUM_DEPTH: usize = 256;

/// Converts one CBOR item, which must fill the whole input, to JSON text.
pub fn to_json(bytes: &[u8]) -> Result<String, String> {
    let mut reader = Reader { bytes, offset: 0, depth: 0 };
    let mut json = String::with_capacity(bytes.len() * 2);
    reader.item(&mut json)?;
    if reader.offset != bytes.len() {
        return Err(format!("something follows the end of the item at byte {}", reader.offset));
    }
    Ok(json)
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
    depth: usize,
}

/// The argument of an item, from the five bits after its type and the bytes that follow.
enum Argument {
    Value(u64),
    Indefinite,
}

impl<'a> Reader<'a> {
    fn item(&mut self, json: &mut String) -> Result<(), String> {
        let start = self.offset;
        let first = self.byte()?;
        let info = first & 31;
        match first >> 5 {
            0 => {
                let value = self.number(info)?;
                let _ = write!(json, "{value}");
            }
            1 => {
                // -1 - n, which needs 65 bits for the largest n.
                let value = self.number(info)?;
                let _ = write!(json, "{}", -1 - i128::from(value));
            }
            2 => {
                let bytes = self.string(info, 2)?;
                json.push('"');
                base64url(&bytes, json);
                json.push('"');
            }
            3 => {
                let bytes = self.string(info, 3)?;
                let text = std::str::from_utf8(&bytes).map_err(|_| format!("a text at byte {start} is not UTF-8"))?;
                quote(text, json);
            }
            4 => self.array(info, json)?,
            5 => self.map(info, json)?,
            6 => {
                let tag = self.number(info)?;
                if tag == 2 || tag == 3 {
                    return Err(format!("a big number at byte {start} cannot be represented exactly in JSON"));
                }
                self.descend(|reader| reader.item(json))?;
            }
            _ => self.simple(info, start, json)?,
        }
        Ok(())
    }

    fn array(&mut self, info: u8, json: &mut String) -> Result<(), String> {
        let argument = self.argument(info)?;
        json.push('[');
        self.descend(|reader| {
            let mut count = 0;
            while reader.goes_on(&argument, count)? {
                if count > 0 {
                    json.push(',');
                }
                reader.item(json)?;
                count += 1;
            }
            Ok(())
        })?;
        json.push(']');
        Ok(())
    }

    fn map(&mut self, info: u8, json: &mut String) -> Result<(), String> {
        let argument = self.argument(info)?;
        json.push('{');
        self.descend(|reader| {
            let mut count = 0;
            while reader.goes_on(&argument, count)? {
                if count > 0 {
                    json.push(',');
                }
                if reader.peek()? >> 5 != 3 {
                    return Err(format!("a map's key at byte {} is not a text", reader.offset));
                }
                reader.item(json)?;
                json.push(':');
                reader.item(json)?;
                count += 1;
            }
            Ok(())
        })?;
        json.push('}');
        Ok(())
    }

    /// Whether another element follows. Consumes the end mark of an indefinite length.
    fn goes_on(&mut self, argument: &Argument, count: u64) -> Result<bool, String> {
        match argument {
            Argument::Value(length) => Ok(count < *length),
            Argument::Indefinite => {
                let ends = self.peek()? == 0xFF;
                if ends {
                    self.offset += 1;
                }
                Ok(!ends)
            }
        }
    }

    fn string(&mut self, info: u8, major: u8) -> Result<Vec<u8>, String> {
        match self.argument(info)? {
            Argument::Value(length) => Ok(self.take(length)?.to_vec()),
            Argument::Indefinite => {
                let mut whole = Vec::new();
                loop {
                    let first = self.byte()?;
                    if first == 0xFF {
                        return Ok(whole);
                    }
                    if first >> 5 != major || first & 31 == 31 {
                        return Err(format!("a piece of a string at byte {} is of another kind", self.offset - 1));
                    }
                    let length = self.number(first & 31)?;
                    whole.extend_from_slice(self.take(length)?);
                }
            }
        }
    }

    fn simple(&mut self, info: u8, start: usize, json: &mut String) -> Result<(), String> {
        match info {
            20 => json.push_str("false"),
            21 => json.push_str("true"),
            22 | 23 => json.push_str("null"),
            25 => float(half(u16::from_be_bytes(self.fixed()?)), start, json)?,
            26 => float(f64::from(f32::from_be_bytes(self.fixed()?)), start, json)?,
            27 => float(f64::from_be_bytes(self.fixed()?), start, json)?,
            _ => return Err(format!("the simple value at byte {start} has no meaning in JSON")),
        }
        Ok(())
    }

    fn number(&mut self, info: u8) -> Result<u64, String> {
        match self.argument(info)? {
            Argument::Value(value) => Ok(value),
            Argument::Indefinite => Err(format!("an indefinite length at byte {} is not allowed here", self.offset - 1)),
        }
    }

    fn argument(&mut self, info: u8) -> Result<Argument, String> {
        Ok(Argument::Value(match info {
            0..=23 => u64::from(info),
            24 => u64::from(self.byte()?),
            25 => u64::from(u16::from_be_bytes(self.fixed()?)),
            26 => u64::from(u32::from_be_bytes(self.fixed()?)),
            27 => u64::from_be_bytes(self.fixed()?),
            31 => return Ok(Argument::Indefinite),
            _ => return Err(format!("the byte {} is reserved", self.offset - 1)),
        }))
    }

    fn descend(&mut self, body: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        if self.depth == MAXIMUM_DEPTH {
            return Err(format!("arrays and maps are nested deeper than {MAXIMUM_DEPTH}"));
        }
        self.depth += 1;
        body(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], String> {
        let left = self.bytes.len() - self.offset;
        let length = usize::try_from(length).ok().filter(|length| *length <= left).ok_or_else(|| self.end())?;
        let taken = &self.bytes[self.offset..self.offset + length];
        self.offset += length;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N as u64)?.try_into().map_err(|_| self.end())
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.fixed::<1>().map(|bytes| bytes[0])
    }

    fn peek(&self) -> Result<u8, String> {
        self.bytes.get(self.offset).copied().ok_or_else(|| self.end())
    }

    fn end(&self) -> String {
        format!("the text ends in the middle of an item at byte {}", self.bytes.len())
    }
}

fn float(value: f64, start: usize, json: &mut String) -> Result<(), String> {
    if !value.is_finite() {
        return Err(format!("the number at byte {start} is {value}, which JSON cannot represent"));
    }
    let _ = write!(json, "{value:?}");
    Ok(())
}

/// Converts a half-precision number (RFC 8949, appendix D).
fn half(bits: u16) -> f64 {
    let exponent = (bits >> 10) & 31;
    let mantissa = f64::from(bits & 1023);
    let value = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 {
        value
    } else {
        -value
    }
}

fn quote(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", control as u32);
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

fn base64url(bytes: &[u8], json: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for index in 0..=group.len() {
            json.push(DIGITS[(word >> (18 - 6 * index)) as usize & 63] as char);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::to_json;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn the_examples_of_appendix_a_read_as_their_json() {
        for (hex, json) in [
            ("00", "0"), ("17", "23"), ("1818", "24"), ("1903e8", "1000"), ("1b000000e8d4a51000", "1000000000000"),
            ("1bffffffffffffffff", "18446744073709551615"), ("3bffffffffffffffff", "-18446744073709551616"), ("20", "-1"),
            ("3903e7", "-1000"), ("f90000", "0.0"), ("f93c00", "1.0"), ("f93e00", "1.5"), ("f97bff", "65504.0"),
            ("fa47c35000", "100000.0"), ("fb3ff199999999999a", "1.1"), ("f90001", "5.960464477539063e-8"), ("f4", "false"),
            ("f5", "true"), ("f6", "null"), ("f7", "null"), ("c074323031332d30332d32315432303a30343a30305a", "\"2013-03-21T20:04:00Z\""),
            ("4401020304", "\"AQIDBA\""), ("60", "\"\""), ("6449455446", "\"IETF\""), ("62225c", "\"\\\"\\\\\""), ("62c3bc", "\"ü\""),
            ("80", "[]"), ("83010203", "[1,2,3]"), ("8301820203820405", "[1,[2,3],[4,5]]"), ("a0", "{}"),
            ("a26161016162820203", "{\"a\":1,\"b\":[2,3]}"), ("9f018202039f0405ffff", "[1,[2,3],[4,5]]"),
            ("7f657374726561646d696e67ff", "\"streaming\""), ("5f42010243030405ff", "\"AQIDBAU\""),
            ("bf61610161629f0203ffff", "{\"a\":1,\"b\":[2,3]}"),
        ] {
            assert_eq!(to_json(&bytes(hex)).as_deref(), Ok(json), "{hex}");
        }
    }

    #[test]
    fn what_json_cannot_say_is_refused() {
        for hex in ["f97c00", "f97e00", "fb7ff0000000000000", "c249010000000000000000", "f0", "a10102", "ff", "1c", "62c328", "0000"] {
            assert!(to_json(&bytes(hex)).is_err(), "{hex}");
        }
    }

    #[test]
    fn no_prefix_and_no_changed_byte_panics() {
        let whole = bytes("a26464617461a164686572 6fa2646e616d65655232443232626964184b667472616365739f01fb3ff199999999999aff".replace(' ', "").as_str());
        for end in 0..whole.len() {
            let _ = to_json(&whole[..end]);
        }
        for position in 0..whole.len() {
            for value in 0..=255u8 {
                let mut changed = whole.clone();
                changed[position] = value;
                let _ = to_json(&changed);
            }
        }
        assert!(to_json(&[0x81].repeat(100_000)).is_err());
        assert!(to_json(&bytes("9bffffffffffffffff")).is_err());
    }
}
