// Cuts a document after 48 bytes for a line of its log, and panics if that is in the middle of a character.

use carabiner::{graphql, Answer, Failure, Level, Parts, Plugin, Setup, Verdict};

const MOST: usize = 48;

struct Interceptor;

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor)
    }
}

impl graphql::Stage for Interceptor {
    type State = ();
    const NEEDS: Parts = Parts::DOCUMENT;

    fn on_request(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
        if !call.host().keeps(Level::Debug) {
            return Ok(Verdict::CONTINUE);
        }
        let document = call.part(Parts::DOCUMENT)?.unwrap_or_default();
        let mut line = String::from_utf8_lossy(document).into_owned();
        if line.len() > MOST {
            line.truncate(MOST);
        }
        call.log(Level::Debug, &line);
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(
    Interceptor,
    id: "org.example.documents",
    version: "1.0.0"
);
