//! Reads GraphQL responses that a server sends as `application/cbor` (RFC 8949).

mod cbor;

use carabiner::{Parser, ResponseHead, Setup};

/// How large a body may be, 64 MiB.
const MAXIMUM_BYTES: usize = 64 << 20;

struct CborParser;

impl Parser for CborParser {
    type State = Vec<u8>;

    fn new(_: &Setup) -> Result<Self, String> {
        Ok(CborParser)
    }

    fn accept(&self, head: &ResponseHead) -> Option<Vec<u8>> {
        let kind = head.header("content-type")?.split(';').next()?.trim();
        kind.eq_ignore_ascii_case("application/cbor").then(Vec::new)
    }

    fn chunk(&self, body: &mut Vec<u8>, bytes: &[u8]) -> Result<(), String> {
        if body.len() + bytes.len() > MAXIMUM_BYTES {
            return Err(format!("the body is longer than {MAXIMUM_BYTES} bytes"));
        }
        body.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&self, body: &mut Vec<u8>) -> Result<String, String> {
        cbor::to_json(&std::mem::take(body))
    }
}

carabiner::parser_plugin!(
    CborParser,
    id: "org.carabiner.cbor-parser",
    version: "1.0.0",
    config_schema: "{\"type\":\"object\",\"additionalProperties\":false}"
);
