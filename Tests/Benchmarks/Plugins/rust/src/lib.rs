//! The smallest possible stage on the Rust kit.
use carabiner::{graphql, Answer, Failure, Plugin, ResultEvent, Setup, Verdict};

struct Noop;

impl Plugin for Noop {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Noop)
    }
}

impl graphql::Stage for Noop {
    type State = ();

    fn on_request(&self, _: &mut graphql::Call, _: &mut ()) -> Answer {
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnResult for Noop {
    fn on_result(&self, _: &mut graphql::Call, _: &mut (), _: &ResultEvent) -> Answer {
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(Noop, id: "org.carabiner.bench.noop.rust", version: "1.0.0");
