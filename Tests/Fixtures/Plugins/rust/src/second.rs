//! Another interceptor of the library.

use std::sync::Mutex;

use carabiner::{graphql, Answer, Failure, Plugin, Setup};

/// The second interceptor of the library, with an instance for each call.
#[derive(Default)]
pub struct Second {
    calls: Mutex<u32>,
}

impl Plugin for Second {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Second::default())
    }
}

impl graphql::Stage for Second {
    type State = ();

    fn on_request(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
        let mut calls = self.calls.lock().unwrap();
        *calls += 1;
        call.respond(&format!(r#"{{"data":{{"hero":{{"name":"second {calls}"}}}}}}"#))
    }
}
