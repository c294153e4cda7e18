//! my-plugin sends the operation's name in the header X-Operation-Name, and logs the number of results of each operation.
//!
//! A stage never calls the next one. The host calls a hook, and the hook returns a verdict. The kit's first page
//! lists the hooks, and carabiner.h describes their parts and verdicts. Hooks of different calls run at the same time on the
//! host's threads: `&self` is shared by all of them, `state` belongs to one call. An `Err` or a panic fails the call.

use carabiner::{graphql, Answer, Failure, Level, Parts, Plugin, ResultEvent, Setup, Verdict};

/// One per manifest entry.
struct Interceptor;

/// One per call; freed when the call ends.
#[derive(Default)]
struct Tally {
    results: u32,
    with_errors: u32,
}

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor)
    }
}

impl graphql::Stage for Interceptor {
    type State = Tally;
    // Hooks can read and change only the parts named here.
    const NEEDS: Parts = Parts::OPERATION_NAME.and(Parts::ERRORS);
    const MUTATES: Parts = Parts::HEADERS;

    /// Called before a request is sent, and again for each retry. A retry has the state of the previous attempt.
    fn on_request(&self, call: &mut graphql::Call, state: &mut Tally) -> Answer {
        *state = Tally::default();
        // Names come from clients, and not every text is a valid header value.
        let is_name = |text: &&str| text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        if let Some(name) = call.operation_name()?.filter(is_name) {
            call.set_header("X-Operation-Name", name)?;
        }
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnResult for Interceptor {
    /// Called for each result: one for a query, any number for a subscription.
    fn on_result(&self, _: &mut graphql::Call, state: &mut Tally, result: &ResultEvent) -> Answer {
        state.results += 1;
        state.with_errors += u32::from(result.errors().is_some());
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnEnd for Interceptor {
    /// The operation has ended.
    fn on_end(&self, call: &mut graphql::Call, state: &mut Tally) -> Answer {
        if call.host().keeps(Level::Info) {
            call.log(Level::Info, &format!("{} results, {} with errors", state.results, state.with_errors));
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(Interceptor, id: "org.example.my-plugin", version: "1.0.0");
