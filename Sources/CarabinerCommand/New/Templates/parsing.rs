//! my-plugin reads responses of type text/plain as {"data":{"text":…}} and leaves all others to the next parser.
//!
//! It is where a parser of your own begins: `on_head` says which responses are yours, `on_chunk` collects, `on_end` turns what was
//! collected into a GraphQL response. Chunks are cut anywhere, so nothing is decided by where one ends. Hooks of different calls run
//! at once, on the host's threads; `state` belongs to one call. An `Err`, or a panic, fails the call.

use carabiner::{parser, Answer, Chunk, Failure, Head, Level, Parts, Plugin, Setup, Verdict};

/// What a server may make us keep.
const MAXIMUM_BYTES: usize = 16 << 20;

/// One for each entry in a manifest.
struct Interceptor;

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor)
    }
}

impl parser::Stage for Interceptor {
    /// The body so far. The kit makes a fresh one for each response, and drops it when the call is over.
    type State = Vec<u8>;
    // What is not needed cannot be read.
    const NEEDS: Parts = Parts::HEADERS.and(Parts::CHUNK);

    /// CONTINUE takes the response, DROP leaves it to the next parser.
    fn on_head(&self, _: &mut parser::Call, _: &mut Vec<u8>, head: &Head) -> Answer {
        let kind = head.headers().get("Content-Type").and_then(|value| value.split(';').next()).unwrap_or_default();
        let is_mine = head.status() / 100 == 2 && kind.trim().eq_ignore_ascii_case("text/plain");
        Ok(if is_mine { Verdict::CONTINUE } else { Verdict::DROP })
    }
}

impl parser::OnChunk for Interceptor {
    /// For each piece of the body.
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

/// Text within a JSON string.
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
