//! Signs the body of each request. The header X-Body-Signature is the HMAC-SHA256 of the body in hexadecimal digits.

use carabiner::{http, Answer, Failure, Parts, Plugin, Setup, Verdict};

struct BodySignature {
    /// The key, filled up to a block of the hash.
    key: [u8; 64],
}

impl Plugin for BodySignature {
    fn new(setup: &Setup) -> Result<Self, Failure> {
        let text = setup.config.text("key")?.ok_or("the key is missing")?;
        let mut key = [0; 64];
        key.get_mut(..text.len()).ok_or("the key is longer than 64 bytes")?.copy_from_slice(text.as_bytes());
        Ok(BodySignature { key })
    }
}

impl http::Stage for BodySignature {
    type State = ();
    const NEEDS: Parts = Parts::BODY;
    const MUTATES: Parts = Parts::HEADERS;

    fn on_request(&self, call: &mut http::Call, _: &mut ()) -> Answer {
        let inner = sha256(&[&self.key.map(|byte| byte ^ 0x36), call.body()?.unwrap_or_default()].concat());
        let code = sha256(&[&self.key.map(|byte| byte ^ 0x5c)[..], &inner].concat());
        let digits: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
        call.set_header("X-Body-Signature", &digits)?;
        Ok(Verdict::CONTINUE)
    }
}

const INITIAL: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The hash of FIPS 180-4.
fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((bytes.len() + 9).div_ceil(64) * 64 - 8, 0);
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    let mut hash = INITIAL;
    for block in padded.chunks_exact(64) {
        let mut words: Vec<u32> = block.chunks_exact(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect();
        for place in 16..64 {
            let (old, new) = (words[place - 15], words[place - 2]);
            let first = old.rotate_right(7) ^ old.rotate_right(18) ^ (old >> 3);
            let second = new.rotate_right(17) ^ new.rotate_right(19) ^ (new >> 10);
            words.push(words[place - 16].wrapping_add(first).wrapping_add(words[place - 7]).wrapping_add(second));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
        for (word, constant) in words.iter().zip(ROUNDS) {
            let choice = (e & f) ^ (!e & g);
            let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let first = h.wrapping_add(mixed).wrapping_add(choice).wrapping_add(constant).wrapping_add(*word);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let second = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add(majority);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (part, change) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *part = part.wrapping_add(change);
        }
    }
    let mut result = [0; 32];
    for (bytes, word) in result.chunks_exact_mut(4).zip(hash) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    result
}

carabiner::plugin!(
    BodySignature,
    id: "org.carabiner.test.body-signature",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false,"required":["key"],
        "properties":{"key":{"type":"string","maxLength":64}}}"#
);
