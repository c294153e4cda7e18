//! Reads GraphQL responses that a server sends as `application/cbor` (RFC 8949).

mod cbor;

use std::ffi::CStr;

use carabiner::{parser, Answer, Chunk, Failure, Head, Parts, Plugin, Setup, Verdict};

/// The largest body, 64 MiB.
const MAXIMUM_BYTES: usize = 64 << 20;

struct CborParser;

impl Plugin for CborParser {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(CborParser)
    }
}

impl parser::Stage for CborParser {
    type State = Vec<u8>;
    const NEEDS: Parts = Parts::HEADERS.and(Parts::CHUNK);
    const ACCEPT: Option<&'static CStr> = Some(c"application/cbor");

    fn on_head(&self, _: &mut parser::Call, _: &mut Vec<u8>, head: &Head) -> Answer {
        let kind = head.headers().get("content-type").and_then(|value| value.split(';').next()).unwrap_or("");
        Ok(if kind.trim().eq_ignore_ascii_case("application/cbor") { Verdict::CONTINUE } else { Verdict::DROP })
    }
}

impl parser::OnChunk for CborParser {
    fn on_chunk(&self, _: &mut parser::Call, body: &mut Vec<u8>, chunk: &Chunk) -> Answer {
        if body.len() + chunk.bytes().len() > MAXIMUM_BYTES {
            return Err(format!("the body is longer than {MAXIMUM_BYTES} bytes").into());
        }
        body.extend_from_slice(chunk.bytes());
        Ok(Verdict::CONTINUE)
    }
}

impl parser::OnEnd for CborParser {
    fn on_end(&self, call: &mut parser::Call, body: &mut Vec<u8>) -> Answer {
        call.emit(&cbor::to_json(&std::mem::take(body))?)?;
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(
    CborParser,
    id: "org.carabiner.cbor-parser",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false}"#
);
