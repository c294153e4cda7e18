// One bad response disables all later calls: a panic under a lock poisons it.
// ONLY: PR02
//! Remembers when the server's quota starts again, and tells it in the log.

use std::sync::Mutex;
use std::time::Duration;

use carabiner::{http, Answer, Failure, Head, Level, Parts, Plugin, Setup, Verdict};

#[derive(Default)]
struct Quota {
    requests: u64,
    remaining: Option<u64>,
    reset: Duration,
}

struct Interceptor {
    quota: Mutex<Quota>,
}

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor { quota: Mutex::default() })
    }
}

impl http::Stage for Interceptor {
    type State = ();
    const NEEDS: Parts = Parts::HEADERS;

    fn on_request(&self, call: &mut http::Call, _: &mut ()) -> Answer {
        let (is_empty, reset) = {
            let mut quota = self.quota.lock().unwrap();
            quota.requests += 1;
            (quota.remaining == Some(0), quota.reset)
        };
        if is_empty && call.host().keeps(Level::Warning) {
            call.log(Level::Warning, &format!("the quota is used up for {} s", reset.as_secs()));
        }
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnHead for Interceptor {
    fn on_head(&self, call: &mut http::Call, _: &mut (), head: &Head) -> Answer {
        let headers = head.headers();
        let remaining = headers.get("RateLimit-Remaining").and_then(|value| value.trim().parse().ok());
        let reset = headers.get("RateLimit-Reset");
        let mut quota = self.quota.lock().unwrap();
        if remaining.is_some() {
            quota.remaining = remaining;
        }
        if let Some(reset) = reset {
            quota.reset = Duration::from_secs(reset.trim().parse().expect("RateLimit-Reset is a number of seconds"));
        }
        let requests = quota.requests;
        drop(quota);
        if head.status() == 429 && call.host().keeps(Level::Info) {
            call.log(Level::Info, &format!("refused after {requests} requests"));
        }
        Ok(Verdict::CONTINUE)
    }
}

impl http::OnEnd for Interceptor {
    fn on_end(&self, call: &mut http::Call, _: &mut ()) -> Answer {
        let remaining = self.quota.lock().unwrap().remaining;
        if let (Some(remaining), true) = (remaining, call.host().keeps(Level::Trace)) {
            call.log(Level::Trace, &format!("{remaining} requests are left"));
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(
    Interceptor,
    id: "org.example.rate-watch",
    version: "1.0.0"
);
