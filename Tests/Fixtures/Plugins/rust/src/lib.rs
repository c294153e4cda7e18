//! All four stages on the Rust kit, and their possible failures: the mode in the configuration selects one. The fixtures in C++ and Swift
//! do the same, and share one table of expectations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

mod parsing;
mod second;
mod ticks;
mod worker;

use carabiner::{
    cache, graphql, http, Answer, Cancelled, Chunk, Config, Drain, ErrorEvent, ErrorFlags, Failure, FetchRequest, Handover, Head, Key, Later,
    Parts, Plugin, ResultEvent, Scope, SelfTest, SelfTests, Setup, StoreRequest, Validate, Value, Verdict,
};
use second::Second;
use ticks::Ticks;
use worker::{note_end, Witness, Worker};

/// The beginning of the only record that this cache keeps in the host's store.
const OPENING: &str = r#"{"Kit:1":{"answer":"#;

struct Kit {
    note: Key,
    mode: String,
    url: String,
    late: Arc<Mutex<String>>,
    waiting: Mutex<HashMap<u64, Later<graphql::GraphQl>>>,
    kept: Mutex<HashMap<String, String>>,
    adopted: Mutex<Option<String>>,
    journal: String,
    origin: String,
    has_extra: bool,
    worker: Option<Arc<Worker>>,
    ticks: Arc<Ticks>,
}

impl Drop for Kit {
    fn drop(&mut self) {
        note_end(&self.journal, "plugin");
    }
}

impl Drain for Kit {
    fn drain(&self) {
        if self.mode == "drain" || self.mode == "throw in drain" {
            note_end(&self.journal, "drain");
            self.panic_in("drain");
        }
    }
}

impl Validate for Kit {
    fn validate(config: &Config) -> Result<(), Failure> {
        match config.text("mode")?.as_deref() {
            Some("refuse") => Err("this configuration is refused".into()),
            _ => Ok(()),
        }
    }
}

impl Kit {
    fn panic_in(&self, hook: &str) {
        if self.mode.strip_prefix("throw in ") == Some(hook) {
            panic!("thrown in {hook}");
        }
    }
}

impl Plugin for Kit {
    fn new(setup: &Setup) -> Result<Self, Failure> {
        let text = |name| Ok::<_, Failure>(setup.config.text(name)?.unwrap_or_default().into_owned());
        Self::validate(&setup.config)?;
        let mode = text("mode")?;
        let journal = text("journal")?;
        let kit = Kit {
            note: setup.host.key("org.carabiner.test.note")?,
            worker: (mode == "overrun").then(|| Arc::new(Worker::new(&journal))),
            mode,
            journal,
            origin: setup.origin.to_owned(),
            has_extra: setup.config.get("extra")?.is_some(),
            ticks: Arc::default(),
            url: text("url")?,
            late: Arc::default(),
            waiting: Mutex::default(),
            kept: Mutex::default(),
            adopted: Mutex::default(),
        };
        if kit.mode == "tick" {
            let (ticks, witness) = (Arc::clone(&kit.ticks), Witness::new(&kit.journal, "work"));
            setup.host.every(Duration::from_millis(1), move || {
                let _held = &witness;
                ticks.tick();
            })?;
        }
        Ok(kit)
    }
}

impl Handover for Kit {
    const VERSION: u32 = 3;

    fn save(&self) -> Result<Option<Vec<u8>>, Failure> {
        self.panic_in("save");
        if self.mode == "nothing" {
            return Ok(None);
        }
        let adopted = self.adopted.lock().unwrap();
        Ok(Some(format!("kit:{}", adopted.as_ref().unwrap_or(&self.mode)).into_bytes()))
    }

    fn adopt(&self, version: u32, bytes: &[u8]) -> Result<(), Failure> {
        self.panic_in("adopt");
        let text = bytes.strip_prefix(b"kit:").and_then(|text| std::str::from_utf8(text).ok());
        match text.filter(|_| version == Self::VERSION) {
            Some(text) => *self.adopted.lock().unwrap() = Some(text.to_owned()),
            None => return Err(Failure::new("this is not a state of a kit").with_code(9)),
        }
        Ok(())
    }
}

impl SelfTests for Kit {
    const TESTS: &'static [SelfTest<Self>] = &[
        SelfTest { name: c"a record begins as the store writes it", run: |_| Ok(OPENING.len() == 19) },
        SelfTest {
            name: c"a kit adopts its own state",
            run: |kit| {
                kit.adopt(Self::VERSION, b"kit:of a test")?;
                match kit.save()? {
                    Some(bytes) if bytes == b"kit:of a test" => Ok(true),
                    other => Err(Failure::new(format!("it says {other:?}"))),
                }
            },
        },
        SelfTest { name: c"another plugin", run: |_| Ok(false) },
    ];
}

impl graphql::Stage for Kit {
    /// The number of times the request passed.
    type State = u32;
    const NEEDS: Parts = Parts::HEADERS.and(Parts::JSON);
    const MUTATES: Parts = Parts::HEADERS.and(Parts::JSON);

    fn on_request(&self, call: &mut graphql::Call, passes: &mut u32) -> Answer {
        self.panic_in("graphql.on_request");
        match self.mode.as_str() {
            "too many" => {
                let delay = Duration::from_millis(1500);
                return Err(Failure::new("too many at once").with_code(7).with_status(429).with_retry_after(delay));
            }
            "respond" => return call.respond(r#"{"data":{"hero":{"name":"plugin"}}}"#),
            "flags" => {
                let flags = ErrorFlags::RETRYABLE | ErrorFlags::LIMIT;
                return Err(Failure::new("asleep").with_flags(flags).with_detail(r#"{"until":9}"#));
            }
            "origin" => return call.respond(&format!(r#"{{"data":{{"hero":{{"name":"{}"}}}}}}"#, self.origin)),
            "extra" => {
                let name = if self.has_extra { "given" } else { "missing" };
                return call.respond(&format!(r#"{{"data":{{"hero":{{"name":"{name}"}}}}}}"#));
            }
            "hold" => {
                let witness = Witness::new(&self.journal, "work");
                return call.after(Duration::from_secs(600), move |_| {
                    drop(witness);
                    Ok(Verdict::CONTINUE)
                });
            }
            "overrun" => {
                let Some(worker) = self.worker.clone() else { return Ok(Verdict::CONTINUE) };
                // Work on its own thread that continues after its call is over, so it can be running when the instance is destroyed.
                return call.later(move |later| {
                    let held = Arc::clone(&worker);
                    worker.push(move || {
                        later.finish(move |call| {
                            let _held = held;
                            while !call.is_cancelled() {
                                std::thread::sleep(Duration::from_millis(1));
                            }
                            std::thread::sleep(Duration::from_millis(50));
                            Ok(Verdict::CONTINUE)
                        });
                    });
                });
            }
            "tick" => {
                return call.later(|later| {
                    *self.ticks.waiting.lock().unwrap() = Some(later);
                });
            }
            "undeclared" => call.set_document("{ other }")?,
            "retry" => {
                *passes += 1;
                call.set_header("X-Kit-Passes", &passes.to_string())?;
                if call.attempt() == 0 {
                    return call.retry(Duration::from_millis(1));
                }
            }
            "after" => {
                return call.after(Duration::from_millis(5), |call| {
                    call.set_header("X-Kit-Later", "after")?;
                    Ok(Verdict::CONTINUE)
                })
            }
            "thread" => {
                return call.later(|later| {
                    std::thread::spawn(|| {
                        later.finish(|call| {
                            call.set_header("X-Kit-Later", "thread")?;
                            Ok(Verdict::CONTINUE)
                        })
                    });
                })
            }
            "throw later" => return call.after(Duration::from_millis(1), |_| panic!("thrown later")),
            "let go" => return call.later(drop),
            "fetch" => {
                return call.fetch(&FetchRequest::get(&self.url), |call, response| {
                    let body = String::from_utf8_lossy(response.body);
                    call.set_header("X-Kit-Fetch", &format!("{} {body}", response.head.status()))?;
                    Ok(Verdict::CONTINUE)
                })
            }
            "late" => {
                let told = self.late.lock().unwrap().clone();
                if !told.is_empty() {
                    call.set_header("X-Kit-Late", &told)?;
                    return Ok(Verdict::CONTINUE);
                }
                // The call will be over by then. The next call reports the host's error.
                let late = Arc::clone(&self.late);
                return call.after(Duration::from_secs(2), move |call| {
                    if let Err(failure) = call.set_header("X-Kit-Late", "yes") {
                        *late.lock().unwrap() = failure.to_string();
                    }
                    Ok(Verdict::CONTINUE)
                });
            }
            "cancel" => {
                let request = call.request_id();
                return call.later(|later| {
                    self.waiting.lock().unwrap().insert(request, later);
                });
            }
            _ => {}
        }
        call.set_header("X-Kit-GraphQL", "request")?;
        call.set_baggage(self.note, Scope::Call, Value::Text("from graphql"))?;
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnResult for Kit {
    fn on_result(&self, call: &mut graphql::Call, _: &mut u32, result: &ResultEvent) -> Answer {
        self.panic_in("graphql.on_result");
        if self.mode == "drop" || self.mode == "drop incremental" && result.is_incremental() {
            return Ok(Verdict::DROP);
        }
        if self.mode == "finish second" && result.seq() == 1 {
            return Ok(Verdict::FINISH);
        }
        if self.mode == "parts" {
            let (has_next, is_incremental) = (result.has_next(), result.is_incremental());
            let path = if result.path().is_some() { "path" } else { "-" };
            let place = format!("{has_next} {is_incremental} {path} {}", result.label().unwrap_or("-"));
            return call.replace(&format!("{{\"data\":{{\"hero\":{{\"name\":\"{place}\"}}}}}}"));
        }
        match result.json().and_then(|json| json.rsplit_once("\"}}}")) {
            Some((start, _)) => call.replace(&format!("{start}+result\"}}}}}}")),
            None => Ok(Verdict::CONTINUE),
        }
    }
}

impl graphql::OnError for Kit {
    fn on_error(&self, call: &mut graphql::Call, _: &mut u32, error: &ErrorEvent) -> Answer {
        self.panic_in("graphql.on_error");
        if self.mode == "error" {
            let is_retryable = error.flags().contains(ErrorFlags::RETRYABLE | ErrorFlags::HTTP_STATUS);
            let kind = if is_retryable { "retryable" } else { "final" };
            return call.recover(&format!(r#"{{"data":{{"hero":{{"name":"{kind} {}"}}}}}}"#, error.origin()));
        }
        if self.mode != "recover" {
            return Ok(Verdict::CONTINUE);
        }
        call.recover(&format!(r#"{{"data":{{"hero":{{"name":"recovered from {}"}}}}}}"#, error.http_status()))
    }
}

impl graphql::OnCancel for Kit {
    fn on_cancel(&self, call: &Cancelled) {
        if let Some(later) = self.waiting.lock().unwrap().remove(&call.request_id()) {
            later.finish(|_| Ok(Verdict::CONTINUE));
        }
    }
}

impl http::Stage for Kit {
    type State = ();
    const NEEDS: Parts = Parts::HEADERS.and(Parts::METHOD).and(Parts::CHUNK);
    const MUTATES: Parts = Parts::HEADERS.and(Parts::CHUNK);

    fn on_request(&self, call: &mut http::Call, _: &mut ()) -> Answer {
        self.panic_in("http.on_request");
        if self.mode == "short circuit" {
            return call.respond(200, &[("Content-Type", "text/x-kit")], b"name=short");
        }
        let note = match call.baggage(self.note)? {
            Some(Value::Text(text)) => text,
            _ => "",
        };
        call.set_header("X-Kit-HTTP", &format!("{} {note}", call.method()?.unwrap_or("")))?;
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnHead for Kit {
    fn on_head(&self, call: &mut http::Call, _: &mut (), head: &Head) -> Answer {
        self.panic_in("http.on_head");
        call.set_header("X-Kit-Head", &head.status().to_string())?;
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnChunk for Kit {
    fn on_chunk(&self, call: &mut http::Call, _: &mut (), chunk: &Chunk) -> Answer {
        self.panic_in("http.on_chunk");
        if chunk.seq() > 0 {
            return Ok(Verdict::CONTINUE);
        }
        call.emit_buffer(carabiner::Buffer::adopting(call.host(), [chunk.bytes(), b"+chunk"].concat())?)?;
        Ok(Verdict::CONTINUE)
    }
}

impl cache::Stage for Kit {
    type State = ();
    const NEEDS: Parts = Parts::DOCUMENT.and(Parts::JSON);

    fn on_read(&self, call: &mut cache::Call, _: &mut ()) -> Answer {
        self.panic_in("cache.on_read");
        if self.mode == "store read" {
            return call.store(&StoreRequest::load(["Kit:1"]), |call, answer| {
                match answer.records.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix("}}")) {
                    Some(json) => call.respond(json),
                    None => Ok(Verdict::CONTINUE),
                }
            });
        }
        if self.mode.starts_with("store") {
            return Ok(Verdict::CONTINUE);
        }
        match self.kept.lock().unwrap().get(call.document()?.unwrap_or("")) {
            Some(json) => call.respond(json),
            None => Ok(Verdict::CONTINUE),
        }
    }
}

impl cache::OnWrite for Kit {
    fn on_write(&self, call: &mut cache::Call, _: &mut (), result: &ResultEvent) -> Answer {
        self.panic_in("cache.on_write");
        let request = match self.mode.as_str() {
            "store write" => Some(StoreRequest::publish(format!("{OPENING}{}}}}}", result.json().unwrap_or("null")))),
            "store remove" => Some(StoreRequest::remove(["Kit:1", "Kit:2"])),
            "store remove matching" => Some(StoreRequest::RemoveMatching("Kit:*".into())),
            "store skip" => return Ok(Verdict::DROP),
            "store read" => return Ok(Verdict::CONTINUE),
            _ => None,
        };
        if let Some(request) = request {
            return call.store(&request, |_, _| Ok(Verdict::CONTINUE));
        }
        let (document, json) = (call.document()?.unwrap_or(""), result.json().unwrap_or(""));
        self.kept.lock().unwrap().insert(document.into(), json.into());
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(
    Kit,
    id: "org.carabiner.test.kit",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false,"required":["mode"],"properties":{"mode":{"type":"string"},"url":{"type":"string"},"journal":{"type":"string"},"extra":{}}}"#,
    name: "Kit",
    vendor: "Carabiner",
    url: "https://kit.example",
    capabilities: ["varies"];
    Second,
    id: "org.carabiner.test.kit.second",
    version: "1.0.0",
    threads: PerCall
);
