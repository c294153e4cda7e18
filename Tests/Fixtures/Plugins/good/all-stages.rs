//! All four stages on the Rust kit, without faults, and the optional extensions of a plugin.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use carabiner::{
    cache, graphql, http, parser, Answer, Chunk, ErrorEvent, Failure, Handover, Head, Level, Operation, Parts, Plugin,
    ResultEvent, SelfTest, SelfTests, Setup, Verdict,
};

#[derive(Default)]
struct AllStages {
    kept: Mutex<HashMap<String, String>>,
    count: AtomicU64,
}

impl Plugin for AllStages {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(AllStages::default())
    }
}

// The number of stored results, which the next instance continues, and a test that CBOR is read as the standard
// requires.

impl Handover for AllStages {
    const VERSION: u32 = 1;

    fn save(&self) -> Result<Option<Vec<u8>>, Failure> {
        let count = self.count.load(Ordering::Relaxed);
        Ok((count > 0).then(|| count.to_le_bytes().into()))
    }

    fn adopt(&self, version: u32, bytes: &[u8]) -> Result<(), Failure> {
        let count = bytes.try_into().ok().filter(|_| version == Self::VERSION).ok_or("this is not a count")?;
        self.count.store(u64::from_le_bytes(count), Ordering::Relaxed);
        Ok(())
    }
}

impl SelfTests for AllStages {
    const TESTS: &'static [SelfTest<Self>] = &[
        SelfTest {
            name: c"RFC 8949, appendix A: {\"a\": 1, \"b\": [2, 3]}",
            run: |_| {
                let mut reader = Reader { rest: b"\xa2\x61\x61\x01\x61\x62\x82\x02\x03", out: String::new() };
                reader.value(32)?;
                match reader.out.as_str() {
                    r#"{"a":1,"b":[2,3]}"# => Ok(true),
                    json => Err(Failure::new(format!("it reads {json}"))),
                }
            },
        },
        SelfTest { name: c"RFC 8949, appendix A: 1.1, which no response here has", run: |_| Ok(false) },
    ];
}

// GraphQL: sends the server whether the operation has a name, and counts failures.

impl graphql::Stage for AllStages {
    /// The number of failed results and attempts.
    type State = u32;
    const NEEDS: Parts = Parts::OPERATION_NAME.and(Parts::ERRORS).and(Parts::JSON);
    const MUTATES: Parts = Parts::HEADERS.and(Parts::JSON);

    fn on_request(&self, call: &mut graphql::Call, failures: &mut u32) -> Answer {
        *failures = 0;
        call.set_header("X-Named", if call.operation_name()?.is_some() { "yes" } else { "no" })?;
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnResult for AllStages {
    fn on_result(&self, call: &mut graphql::Call, failures: &mut u32, result: &ResultEvent) -> Answer {
        *failures += u32::from(result.errors().is_some());
        // One of several results: it is replaced by an equal one, and the kit keeps that more follow.
        match result.json() {
            Some(json) if result.has_next() && !result.is_incremental() => call.replace(json),
            _ => Ok(Verdict::CONTINUE),
        }
    }
}

impl graphql::OnError for AllStages {
    fn on_error(&self, _: &mut graphql::Call, failures: &mut u32, _: &ErrorEvent) -> Answer {
        *failures += 1;
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnEnd for AllStages {
    fn on_end(&self, call: &mut graphql::Call, failures: &mut u32) -> Answer {
        if *failures > 0 {
            call.log(Level::Debug, "some results have errors");
        }
        Ok(Verdict::CONTINUE)
    }
}

// HTTP: sends the number of the attempt, and measures the body.

impl http::Stage for AllStages {
    /// The number of bytes of the body so far.
    type State = usize;
    const NEEDS: Parts = Parts::HEADERS.and(Parts::CHUNK);
    const MUTATES: Parts = Parts::HEADERS;

    fn on_request(&self, call: &mut http::Call, length: &mut usize) -> Answer {
        *length = 0;
        call.set_header("X-Attempt", &call.attempt().to_string())?;
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnHead for AllStages {
    fn on_head(&self, call: &mut http::Call, _: &mut usize, head: &Head) -> Answer {
        call.set_header("X-Seen-Status", &head.status().to_string())?;
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnChunk for AllStages {
    fn on_chunk(&self, _: &mut http::Call, length: &mut usize, chunk: &Chunk) -> Answer {
        *length += chunk.bytes().len();
        Ok(Verdict::CONTINUE)
    }
}

// Cache: some of the last results.

fn key_of(call: &cache::Call) -> Result<String, Failure> {
    let mut key = String::new();
    for part in [call.operation_name()?, call.document()?, call.variables()?, call.header("authorization")?] {
        let part = part.unwrap_or("");
        write!(key, "{}:{part}", part.len()).map_err(|_| "no room for a key")?;
    }
    Ok(key)
}

impl cache::Stage for AllStages {
    type State = ();
    const NEEDS: Parts = Parts::OPERATION_NAME
        .and(Parts::DOCUMENT)
        .and(Parts::VARIABLES)
        .and(Parts::HEADERS)
        .and(Parts::JSON)
        .and(Parts::ERRORS);

    fn on_read(&self, call: &mut cache::Call, _: &mut ()) -> Answer {
        let key = key_of(call)?;
        let found = self.kept.lock().map_err(|_| "the cache is broken")?.get(&key).cloned();
        found.map_or(Ok(Verdict::CONTINUE), |json| call.respond(&json))
    }
}

impl cache::OnWrite for AllStages {
    fn on_write(&self, call: &mut cache::Call, _: &mut (), result: &ResultEvent) -> Answer {
        let is_plain = result.flags() & !1 == 0 && result.errors().is_none();
        let Some(json) = result.json().filter(|_| is_plain && call.operation() == Operation::Query) else {
            return Ok(Verdict::CONTINUE);
        };
        let key = key_of(call)?;
        let mut kept = self.kept.lock().map_err(|_| "the cache is broken")?;
        if kept.len() >= 32 {
            kept.clear();
        }
        kept.insert(key, json.into());
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(Verdict::CONTINUE)
    }
}

// Parser: application/cbor.

impl parser::Stage for AllStages {
    /// The body so far.
    type State = Vec<u8>;
    const NEEDS: Parts = Parts::HEADERS.and(Parts::CHUNK);

    fn on_head(&self, _: &mut parser::Call, body: &mut Vec<u8>, head: &Head) -> Answer {
        body.clear();
        Ok(if head.headers().get("content-type") == Some("application/cbor") { Verdict::CONTINUE } else { Verdict::DROP })
    }
}

impl parser::OnChunk for AllStages {
    fn on_chunk(&self, _: &mut parser::Call, body: &mut Vec<u8>, chunk: &Chunk) -> Answer {
        if body.len() + chunk.bytes().len() > 1 << 20 {
            return Err("the response is longer than a MiB".into());
        }
        body.extend_from_slice(chunk.bytes());
        Ok(Verdict::CONTINUE)
    }
}

impl parser::OnEnd for AllStages {
    fn on_end(&self, call: &mut parser::Call, body: &mut Vec<u8>) -> Answer {
        let mut reader = Reader { rest: body, out: String::new() };
        reader.value(32)?;
        if !reader.rest.is_empty() {
            return Err("there is more behind the response".into());
        }
        call.emit(&reader.out)?;
        Ok(Verdict::CONTINUE)
    }
}

/// Turns CBOR of maps, lists, texts and small whole numbers into JSON, and refuses all other bytes.
struct Reader<'a> {
    rest: &'a [u8],
    out: String,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Result<u8, Failure> {
        let (first, rest) = self.rest.split_first().ok_or("the response ends too early")?;
        self.rest = rest;
        Ok(*first)
    }

    /// The kind and the number of the next item.
    fn head(&mut self) -> Result<(u8, usize), Failure> {
        let first = self.byte()?;
        match first & 31 {
            24 => Ok((first >> 5, self.byte()?.into())),
            number @ 0..24 => Ok((first >> 5, number.into())),
            _ => Err("the response holds what this parser does not know".into()),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), Failure> {
        let deeper = depth.checked_sub(1).ok_or("the response is too deep")?;
        match self.head()? {
            (0, number) => self.out += &number.to_string(),
            (3, length) => {
                self.text(length)?;
            }
            (4, count) => {
                self.out.push('[');
                for index in 0..count {
                    self.comma(index);
                    self.value(deeper)?;
                }
                self.out.push(']');
            }
            (5, count) => {
                let mut names = HashSet::new();
                self.out.push('{');
                for index in 0..count {
                    self.comma(index);
                    let (3, length) = self.head()? else { return Err("a name is not a text".into()) };
                    if !names.insert(self.text(length)?) {
                        return Err("a map contains a name twice".into());
                    }
                    self.out.push(':');
                    self.value(deeper)?;
                }
                self.out.push('}');
            }
            _ => return Err("the response holds what this parser does not know".into()),
        }
        Ok(())
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
    }

    fn text(&mut self, length: usize) -> Result<&'a str, Failure> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or("the response ends too early")?;
        self.rest = rest;
        let text = std::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
        self.out.push('"');
        for letter in text.chars() {
            match letter {
                '"' | '\\' => self.out.extend(['\\', letter]),
                '\0'..' ' => return Err("a text holds a control character".into()),
                _ => self.out.push(letter),
            }
        }
        self.out.push('"');
        Ok(text)
    }
}

carabiner::plugin!(AllStages, id: "org.carabiner.test.good-rust", version: "1.0.0");
