//! my-plugin reads responses of type text/plain as {"data":{"text":…}} and leaves all others to the next parser.
//!
//! Use it as the start of your own parser: `on_head` selects the responses, `on_chunk` collects the body, `on_end` converts it into
//! a GraphQL response. Chunks may end anywhere in the body. Hooks of different calls run at the same time on the host's threads, and
//! `state` belongs to one call. An `Err` or a panic fails the call.

use carabiner::{parser, Answer, Chunk, Failure, Head, Level, Parts, Plugin, Setup, Verdict};

/// The largest body that is kept in memory.
const MAXIMUM_BYTES: usize = 16 << 20;

/// One per manifest entry.
struct Interceptor;

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor)
    }
}

impl parser::Stage for Interceptor {
    /// The body so far. The kit creates a new one for each response, and frees it when the call ends.
    type State = Vec<u8>;
    // Hooks can read only the parts named here.
    const NEEDS: Parts = Parts::HEADERS.and(Parts::CHUNK);

    /// CONTINUE takes the response, DROP leaves it to the next parser.
    fn on_head(&self, _: &mut parser::Call, _: &mut Vec<u8>, head: &Head) -> Answer {
        let kind = head.headers().get("Content-Type").and_then(|value| value.split(';').next()).unwrap_or_default();
        let is_mine = head.status() / 100 == 2 && kind.trim().eq_ignore_ascii_case("text/plain");
        Ok(if is_mine { Verdict::CONTINUE } else { Verdict::DROP })
    }
}

impl parser::OnChunk for Interceptor {
    /// Called for each chunk of the body.
    fn on_chunk(&self, _: &mut parser::Call, body: &mut Vec<u8>, chunk: &Chunk) -> Answer {
        if chunk.bytes().len() > MAXIMUM_BYTES - body.len() {
            return Err("the text is longer than 16 MiB".into());
        }
        body.extend_from_slice(chunk.bytes());
        Ok(Verdict::CONTINUE)
    }
}

impl parser::OnEnd for Interceptor {
    /// The body is complete.
    fn on_end(&self, call: &mut parser::Call, body: &mut Vec<u8>) -> Answer {
        let text = std::str::from_utf8(body).map_err(|_| Failure::new("the text is not UTF-8"))?;
        call.emit(&format!(r#"{{"data":{{"text":"{}"}}}}"#, escaped(text)))?;
        call.log(Level::Info, "read a text");
        Ok(Verdict::CONTINUE)
    }
}

/// Escapes a text for a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '"' | '\\' | '\0'..='\x1f' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out
}

carabiner::plugin!(Interceptor, id: "org.example.my-plugin", version: "1.0.0");
