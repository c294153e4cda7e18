//! The costs of documents that were measured before. Clients repeat their documents, so most operations need no measurement.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory of all entries, in bytes. When it is full, all entries are removed.
const MAXIMUM_BYTES: usize = 4 << 20;
/// How many operations of one document are kept.
const MAXIMUM_OPERATIONS: usize = 16;
/// The memory of an entry besides its texts, in bytes.
const ENTRY: usize = 128;

#[derive(Default)]
struct State {
    /// For each document, the costs of its operations by their names.
    costs: HashMap<String, Vec<(Option<String>, u64)>>,
    bytes: usize,
}

/// Costs of accepted operations that do not depend on variables.
#[derive(Default)]
pub struct KnownCosts(Mutex<State>);

impl KnownCosts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn find(&self, document: &str, name: Option<&str>) -> Option<u64> {
        let state = self.state();
        let operations = state.costs.get(document)?;
        operations.iter().find(|(operation, _)| operation.as_deref() == name).map(|(_, cost)| *cost)
    }

    pub fn keep(&self, document: &str, name: Option<&str>, cost: u64) {
        let bytes = document.len() + name.map_or(0, str::len) + ENTRY;
        let mut state = self.state();
        if bytes > MAXIMUM_BYTES {
            return;
        }
        if state.bytes + bytes > MAXIMUM_BYTES {
            *state = State::default();
        }
        let operations = state.costs.entry(document.to_owned()).or_default();
        if operations.len() < MAXIMUM_OPERATIONS && !operations.iter().any(|(operation, _)| operation.as_deref() == name) {
            operations.push((name.map(str::to_owned), cost));
            state.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_one_document_differ_and_the_memory_is_bounded() {
        let known = KnownCosts::default();
        known.keep("document", None, 1);
        known.keep("document", Some("A"), 2);
        known.keep("document", Some("A"), 3);
        assert_eq!(known.find("document", None), Some(1));
        assert_eq!(known.find("document", Some("A")), Some(2));
        assert_eq!(known.find("document", Some("B")), None);
        for index in 0..100 {
            known.keep("document", Some(&index.to_string()), 4);
        }
        assert_eq!(known.state().costs["document"].len(), MAXIMUM_OPERATIONS);
        for index in 0..100 {
            known.keep(&format!("{index}{}", "x".repeat(1 << 18)), None, 5);
            assert!(known.state().bytes <= MAXIMUM_BYTES);
        }
        assert_eq!(known.find("document", None), None);
    }
}
