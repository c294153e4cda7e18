//! my-plugin puts the header X-Team on every HTTP request, with the value of its configuration, and logs what servers answer.
//!
//! A stage never calls the next one: the host calls a hook, the hook does its part and answers with a verdict. The kit's first page
//! lists the hooks, carabiner.h says which parts and verdicts there are in which. Hooks of different calls run at once, on the
//! host's threads: `&self` is shared by all of them. An `Err`, or a panic, fails the call.

use carabiner::{http, Answer, Failure, Head, Level, Parts, Plugin, Setup, Verdict};

/// One for each entry in a manifest.
struct Interceptor {
    team: String,
}

impl Plugin for Interceptor {
    /// What is refused here is what the operator reads.
    fn new(setup: &Setup) -> Result<Self, Failure> {
        match setup.config.text("team")? {
            Some(team) if !team.is_empty() => Ok(Interceptor { team: team.into_owned() }),
            _ => Err("config: team is missing; write config: {team: NAME}".into()),
        }
    }
}

impl http::Stage for Interceptor {
    // Nothing is kept of a call; `()` costs nothing.
    type State = ();
    // What is not named here cannot be changed.
    const MUTATES: Parts = Parts::HEADERS;

    /// Before the request is sent, and again for each retry.
    fn on_request(&self, call: &mut http::Call, _: &mut ()) -> Answer {
        call.set_header("X-Team", &self.team)?;
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnHead for Interceptor {
    /// Status and headers arrived; the head is borrowed until this hook completes.
    fn on_head(&self, call: &mut http::Call, _: &mut (), head: &Head) -> Answer {
        if call.host().keeps(Level::Info) {
            call.log(Level::Info, &format!("the server answered with status {}", head.status()));
        }
        Ok(Verdict::CONTINUE)
    }
}

// The schema is what the host refuses manifests by.
carabiner::plugin!(
    Interceptor,
    id: "org.example.my-plugin",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false,"required":["team"],"properties":{
        "team":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$"}}}"#
);
