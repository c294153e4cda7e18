//! my-plugin tells the server the operation's name in the header X-Operation-Name, and logs how each operation ended.
//!
//! A stage never calls the next one: the host calls a hook, the hook does its part and answers with a verdict. The kit's first page
//! lists the hooks, carabiner.h says which parts and verdicts there are in which. Hooks of different calls run at once, on the
//! host's threads: `&self` is shared by all of them, `state` belongs to one call. An `Err`, or a panic, fails the call.

use carabiner::{graphql, Answer, Failure, Level, Parts, Plugin, ResultEvent, Setup, Verdict};

/// One for each entry in a manifest.
struct Interceptor;

/// One for each call; it goes when the call is over.
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
    // What is not needed cannot be read, what is not named as changed cannot be changed.
    const NEEDS: Parts = Parts::OPERATION_NAME.and(Parts::ERRORS);
    const MUTATES: Parts = Parts::HEADERS;

    /// Before anything is sent, and again for each retry, which finds the state of the attempt before.
    fn on_request(&self, call: &mut graphql::Call, state: &mut Tally) -> Answer {
        *state = Tally::default();
        // Names come from outside, and not all a host may be handed can stand in a header.
        let is_name = |text: &&str| text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        if let Some(name) = call.operation_name()?.filter(is_name) {
            call.set_header("X-Operation-Name", name)?;
        }
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnResult for Interceptor {
    /// For each result: one of a query, any number of a subscription.
    fn on_result(&self, _: &mut graphql::Call, state: &mut Tally, result: &ResultEvent) -> Answer {
        state.results += 1;
        state.with_errors += u32::from(result.errors().is_some());
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnEnd for Interceptor {
    /// Nothing more will come.
    fn on_end(&self, call: &mut graphql::Call, state: &mut Tally) -> Answer {
        if call.host().keeps(Level::Info) {
            call.log(Level::Info, &format!("{} results, {} with errors", state.results, state.with_errors));
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(Interceptor, id: "org.example.my-plugin", version: "1.0.0");
