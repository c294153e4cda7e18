// A header is appended again by each attempt of a call.
// ONLY: ER03
//! Adds itself to Via, and refuses requests that have come through too many stations.

use carabiner::{graphql, Answer, ErrorEvent, Failure, Level, Parts, Plugin, Setup, Verdict};

const STATIONS: usize = 16;

struct Interceptor {
    station: String,
}

impl Plugin for Interceptor {
    fn new(setup: &Setup) -> Result<Self, Failure> {
        let name: String = setup.entry_name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
        let name = if name.is_empty() { "carabiner".to_owned() } else { name };
        Ok(Interceptor { station: format!("1.1 {name}") })
    }
}

#[derive(Default)]
struct Path {
    stations: usize,
}

impl graphql::Stage for Interceptor {
    type State = Path;
    const NEEDS: Parts = Parts::HEADERS;
    const MUTATES: Parts = Parts::HEADERS;

    fn on_request(&self, call: &mut graphql::Call, state: &mut Path) -> Answer {
        let mut stations = 0;
        for field in call.headers()?.iter() {
            if field.name.eq_ignore_ascii_case("via") {
                let value = String::from_utf8_lossy(field.value);
                stations += value.split(',').filter(|part| !part.trim().is_empty()).count();
            }
        }
        state.stations = stations;
        if stations >= STATIONS {
            return Err(Failure::new("the request goes in circles: it has come through too many stations").with_status(508));
        }
        call.add_header("Via", &self.station)?;
        Ok(Verdict::CONTINUE)
    }
}

impl graphql::OnError for Interceptor {
    fn on_error(&self, call: &mut graphql::Call, state: &mut Path, error: &ErrorEvent) -> Answer {
        if call.host().keeps(Level::Debug) {
            let line = format!("status {} after {} stations", error.http_status(), state.stations + 1);
            call.log(Level::Debug, &line);
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(
    Interceptor,
    id: "org.example.via",
    version: "1.0.0"
);
