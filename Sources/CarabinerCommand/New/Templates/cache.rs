//! my-plugin keeps the last results of queries in memory and answers the same query with the same result.
//!
//! The host calls `on_read` before it sends a request, and `on_write` after the server answered. The cache keeps few results, but
//! without a time limit; you may want to add a maximum age or a limit in bytes. Hooks of different calls run at the same time on the
//! host's threads, so a lock protects their shared data. An `Err` or a panic fails the call.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use carabiner::{cache, Answer, Failure, Level, Operation, Parts, Plugin, ResultEvent, Setup, Verdict};

const MAXIMUM_ENTRIES: usize = 32;
const MAXIMUM_BYTES: usize = 1 << 20;

/// One per manifest entry.
struct Interceptor {
    entries: Mutex<VecDeque<Entry>>,
}

struct Entry {
    key: String,
    json: String,
}

/// The key of an operation: name, document, variables and the caller's Authorization, each after its length, so that no two
/// operations or callers share a key.
fn key_of(call: &cache::Call) -> Result<String, Failure> {
    let parts = [call.operation_name()?, call.document()?, call.variables()?, call.header("authorization")?];
    let parts = parts.map(Option::unwrap_or_default);
    Ok(parts.iter().map(|part| format!("{}:{part}", part.len())).collect())
}

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor { entries: Mutex::default() })
    }
}

impl cache::Stage for Interceptor {
    // The stage has no state per call.
    type State = ();
    // Hooks can read only the parts named here.
    const NEEDS: Parts = Parts::OPERATION_NAME
        .and(Parts::DOCUMENT)
        .and(Parts::VARIABLES)
        .and(Parts::HEADERS)
        .and(Parts::JSON)
        .and(Parts::ERRORS);

    /// RESPOND with a result is a hit. CONTINUE passes the read to the next cache, or to the server.
    fn on_read(&self, call: &mut cache::Call, _: &mut ()) -> Answer {
        let key = key_of(call)?;
        let found = {
            let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.iter().find(|entry| entry.key == key).map(|entry| entry.json.clone())
        };
        let Some(json) = found else { return Ok(Verdict::CONTINUE) };
        call.log(Level::Info, "answered from memory");
        call.respond(&json)
    }
}

impl cache::OnWrite for Interceptor {
    /// A result arrived. Only complete results of queries without errors are kept.
    fn on_write(&self, call: &mut cache::Call, _: &mut (), result: &ResultEvent) -> Answer {
        let is_whole = !result.has_next() && !result.is_incremental() && !result.is_synthetic();
        let (Some(json), None, true) = (result.json(), result.errors(), is_whole) else { return Ok(Verdict::CONTINUE) };
        if !matches!(call.operation(), Operation::Query) {
            return Ok(Verdict::CONTINUE);
        }
        // Views are borrowed, so the entry holds copies.
        let made = Entry { key: key_of(call)?, json: json.to_owned() };
        if made.key.len() + made.json.len() <= MAXIMUM_BYTES {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|entry| entry.key != made.key);
            entries.push_front(made);
            entries.truncate(MAXIMUM_ENTRIES); // remove the oldest
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(Interceptor, id: "org.example.my-plugin", version: "1.0.0");
