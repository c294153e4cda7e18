//! my-plugin keeps the last results of queries in memory and answers the same query with the same result.
//!
//! A cache is asked in `on_read`, before anything is sent, and told in `on_write`, after a server answered. It keeps few results and
//! keeps them for ever: a limit of age or of bytes is what you may want to add. Hooks of different calls run at once, on the host's
//! threads, so what they share is behind a lock. An `Err`, or a panic, fails the call.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use carabiner::{cache, Answer, Failure, Level, Operation, Parts, Plugin, ResultEvent, Setup, Verdict};

const MAXIMUM_ENTRIES: usize = 32;
const MAXIMUM_BYTES: usize = 1 << 20;

/// One for each entry in a manifest.
struct Interceptor {
    entries: Mutex<VecDeque<Entry>>,
}

struct Entry {
    key: String,
    json: String,
}

/// What tells one operation from another: name, document and variables, each after its length, so that no two share a key.
fn key_of(call: &cache::Call) -> Result<String, Failure> {
    let parts = [call.operation_name()?, call.document()?, call.variables()?].map(Option::unwrap_or_default);
    Ok(parts.iter().map(|part| format!("{}:{part}", part.len())).collect())
}

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor { entries: Mutex::default() })
    }
}

impl cache::Stage for Interceptor {
    // Nothing is kept of a call; `()` costs nothing.
    type State = ();
    // What is not needed cannot be read.
    const NEEDS: Parts =
        Parts::OPERATION_NAME.and(Parts::DOCUMENT).and(Parts::VARIABLES).and(Parts::JSON).and(Parts::ERRORS);

    /// RESPOND with a result is a hit; CONTINUE asks the next cache, or the server.
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
    /// A result came. Only what will be as good the next time is kept: whole results of queries, without errors.
    fn on_write(&self, call: &mut cache::Call, _: &mut (), result: &ResultEvent) -> Answer {
        let is_whole = !result.has_next() && !result.is_incremental() && !result.is_synthetic();
        let (Some(json), None, true) = (result.json(), result.errors(), is_whole) else { return Ok(Verdict::CONTINUE) };
        if !matches!(call.operation(), Operation::Query) {
            return Ok(Verdict::CONTINUE);
        }
        // Views are borrowed: what is kept is a copy.
        let made = Entry { key: key_of(call)?, json: json.to_owned() };
        if made.key.len() + made.json.len() <= MAXIMUM_BYTES {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|entry| entry.key != made.key);
            entries.push_front(made);
            entries.truncate(MAXIMUM_ENTRIES); // the oldest goes
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(Interceptor, id: "org.example.my-plugin", version: "1.0.0");
