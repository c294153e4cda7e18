//! Waits in every hook for a timer or a request. The kit must finish the hook when the call is cancelled.

use std::time::Duration;

use carabiner::{graphql, Answer, ErrorEvent, Failure, FetchRequest, Plugin, ResultEvent, Setup, Verdict};

const MOMENT: Duration = Duration::from_millis(1);

struct Waiting;

impl Plugin for Waiting {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Waiting)
    }
}

impl graphql::Stage for Waiting {
    type State = ();

    fn on_request(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
        call.after(MOMENT, |_| Ok(Verdict::CONTINUE))
    }
}

impl graphql::OnResult for Waiting {
    fn on_result(&self, call: &mut graphql::Call, _: &mut (), _: &ResultEvent) -> Answer {
        call.fetch(&FetchRequest::get("http://auth.example/"), |_, _| Ok(Verdict::CONTINUE))
    }
}

impl graphql::OnError for Waiting {
    fn on_error(&self, call: &mut graphql::Call, _: &mut (), _: &ErrorEvent) -> Answer {
        call.later(|later| later.after(MOMENT, |_| Ok(Verdict::CONTINUE)))
    }
}

impl graphql::OnEnd for Waiting {
    fn on_end(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
        call.after(MOMENT, |_| Ok(Verdict::CONTINUE))
    }
}

carabiner::plugin!(Waiting, id: "org.carabiner.test.waiting", version: "1.0.0");
