//! The parser stage.

use carabiner::{parser, Answer, Chunk, Head, Parts, Verdict};

use crate::Kit;

/// Parses responses of the form name=NAME.
impl parser::Stage for Kit {
    type State = Vec<u8>;
    const ACCEPT: Option<&'static std::ffi::CStr> = Some(c"text/x-kit");
    const NEEDS: Parts = Parts::HEADERS.and(Parts::CHUNK);

    fn on_head(&self, _: &mut parser::Call, _: &mut Vec<u8>, head: &Head) -> Answer {
        self.panic_in("parser.on_head");
        Ok(if head.headers().get("content-type") == Some("text/x-kit") { Verdict::CONTINUE } else { Verdict::DROP })
    }
}

impl parser::OnChunk for Kit {
    fn on_chunk(&self, _: &mut parser::Call, body: &mut Vec<u8>, chunk: &Chunk) -> Answer {
        self.panic_in("parser.on_chunk");
        body.extend_from_slice(chunk.bytes());
        Ok(Verdict::CONTINUE)
    }
}

impl parser::OnEnd for Kit {
    fn on_end(&self, call: &mut parser::Call, body: &mut Vec<u8>) -> Answer {
        self.panic_in("parser.on_end");
        let name = body.strip_prefix(b"name=").ok_or("the body has no name")?;
        if self.mode == "many" {
            // One result for each letter, like a response in parts.
            for (place, letter) in name.iter().enumerate() {
                let json = format!(r#"{{"data":{{"hero":{{"name":"{}"}}}}}}"#, *letter as char);
                call.emit_part(&json, place > 0, place + 1 < name.len())?;
            }
            return Ok(Verdict::CONTINUE);
        }
        let (name, head) = (String::from_utf8_lossy(name), call.header("X-Kit-Head")?.unwrap_or(""));
        call.emit(&format!(r#"{{"data":{{"hero":{{"name":"{name}+{head}"}}}}}}"#))?;
        Ok(Verdict::CONTINUE)
    }
}
