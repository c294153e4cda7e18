//! Base64url without padding (RFC 7515). Each value has exactly one form, so a token cannot be changed without a trace.

/// Decodes a text; `None` if it has other characters, padding, or unused bits that are not zero.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    (count < 6 && bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn each_value_has_one_form() {
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("AA").unwrap(), [0]);
        assert_eq!(decode("-_-_").unwrap(), [0xfb, 0xff, 0xbf]);
        for text in ["A", "AB", "AAB", "AA==", "A A", "+/+/", "AAAAA", "\u{e9}"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
