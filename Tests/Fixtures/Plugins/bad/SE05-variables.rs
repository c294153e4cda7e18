// Numbers lose precision: each number of the variables goes through a double.
// ONLY: SE05
//! Writes the numbers of variables without needless signs, zeros and exponents, so that caches of servers find them.

use carabiner::{graphql, Answer, Failure, Level, Parts, Plugin, Setup, Verdict};

struct Interceptor;

impl Plugin for Interceptor {
    fn new(_: &Setup) -> Result<Self, Failure> {
        Ok(Interceptor)
    }
}

/// A number in its shortest form; None if it stays as it is.
fn plain(number: &str) -> Option<String> {
    let value: f64 = number.parse().ok()?;
    if !value.is_finite() || (value != 0.0 && (value.abs() < 1e-6 || value.abs() >= 1e21)) {
        return None;
    }
    // -0 is not 0 for everybody.
    if value == 0.0 && number.starts_with('-') {
        return None;
    }
    let made = format!("{value}");
    (made != number).then_some(made)
}

/// The JSON with plain numbers, and how many were changed. Strings stay as they are.
fn rewritten(json: &str) -> (String, usize) {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let (mut i, mut kept, mut count) = (0, 0, 0);
    while i < bytes.len() {
        match bytes[i] {
            b'"' => {
                i += 1;
                while i < bytes.len() && bytes[i] != b'"' {
                    i += if bytes[i] == b'\\' { 2 } else { 1 };
                }
                i += 1;
            }
            b'-' | b'0'..=b'9' => {
                let start = i;
                while i < bytes.len() && matches!(bytes[i], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') {
                    i += 1;
                }
                if let Some(number) = plain(&json[start..i]) {
                    out.push_str(&json[kept..start]);
                    out.push_str(&number);
                    kept = i;
                    count += 1;
                }
            }
            _ => i += 1,
        }
    }
    out.push_str(&json[kept..]);
    (out, count)
}

impl graphql::Stage for Interceptor {
    type State = ();
    const NEEDS: Parts = Parts::VARIABLES;
    const MUTATES: Parts = Parts::VARIABLES;

    fn on_request(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
        let Some(variables) = call.variables()? else { return Ok(Verdict::CONTINUE) };
        let (made, count) = rewritten(variables);
        if count > 0 {
            call.set_variables(&made)?;
            if call.host().keeps(Level::Debug) {
                call.log(Level::Debug, &format!("{count} numbers were rewritten"));
            }
        }
        Ok(Verdict::CONTINUE)
    }
}

carabiner::plugin!(
    Interceptor,
    id: "org.example.plain-numbers",
    version: "1.0.0"
);
