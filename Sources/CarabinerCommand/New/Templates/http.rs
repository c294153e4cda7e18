//! my-plugin adds the header X-Team with the configured value to every HTTP request, and logs the status of each response.
//!
//! A stage never calls the next one. The host calls a hook, and the hook returns a verdict. The kit's first page
//! lists the hooks, and carabiner.h describes their parts and verdicts. Hooks of different calls run at the same time on the
//! host's threads: `&self` is shared by all of them. An `Err` or a panic fails the call.

use carabiner::{http, Answer, Failure, Head, Level, Parts, Plugin, Setup, Verdict};

/// One per manifest entry.
struct Interceptor {
    team: String,
}

impl Plugin for Interceptor {
    /// The operator sees errors that are returned here.
    fn new(setup: &Setup) -> Result<Self, Failure> {
        match setup.config.text("team")? {
            Some(team) if !team.is_empty() => Ok(Interceptor { team: team.into_owned() }),
            _ => Err("config: team is missing; write config: {team: NAME}".into()),
        }
    }
}

impl http::Stage for Interceptor {
    // The stage has no state per call.
    type State = ();
    // Hooks can change only the parts named here.
    const MUTATES: Parts = Parts::HEADERS;

    /// Called before the request is sent, and again for each retry.
    fn on_request(&self, call: &mut http::Call, _: &mut ()) -> Answer {
        call.set_header("X-Team", &self.team)?;
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnHead for Interceptor {
    /// Status and headers have arrived. The head is valid until this hook completes.
    fn on_head(&self, call: &mut http::Call, _: &mut (), head: &Head) -> Answer {
        if call.host().keeps(Level::Info) {
            call.log(Level::Info, &format!("the server answered with status {}", head.status()));
        }
        Ok(Verdict::CONTINUE)
    }
}

// The host checks the configuration against the schema.
carabiner::plugin!(
    Interceptor,
    id: "org.example.my-plugin",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false,"required":["team"],"properties":{
        "team":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$"}}}"#
);
