//! Refuses operations that would cost the server too much, before they are sent.

mod cost;
mod document;
mod known;
mod lexer;
mod weights;

#[cfg(test)]
mod tests;

use carabiner::{graphql, Answer, Config, Failure, Level, Parts, Plugin, Setup, Validate, Verdict};

use cost::{Measure, Unmeasurable, Walk};
use document::Document;
use known::KnownCosts;
use lexer::Unreadable;
use weights::Weights;

/// The largest configuration, in bytes.
const MAXIMUM_CONFIGURATION: usize = 1 << 20;
/// The longest part of an operation's name in the log, in characters.
const MAXIMUM_NAME: usize = 64;

struct ComplexityGuard {
    weights: Weights,
    limits: Limits,
    known: KnownCosts,
    only_reports: bool,
}

#[derive(Debug)]
struct Limits {
    cost: u64,
    depth: usize,
    aliases: usize,
    root_fields: usize,
    fields: usize,
    tokens: usize,
    bytes: usize,
}

impl ComplexityGuard {
    fn read(config: &Config) -> Result<ComplexityGuard, Failure> {
        if config.json().len() > MAXIMUM_CONFIGURATION {
            return Err(format!("/: the configuration is larger than {MAXIMUM_CONFIGURATION} bytes; use fewer weights").into());
        }
        let limit = |name: &str, default: u64| -> Result<u64, Failure> {
            Ok(config.integer(name)?.map_or(default, i64::unsigned_abs))
        };
        let count = |name: &str, default: u64| -> Result<usize, Failure> {
            Ok(usize::try_from(limit(name, default)?).unwrap_or(usize::MAX))
        };
        let weights = match (config.text("weights-file")?, config.get("weights")?) {
            (Some(_), Some(_)) => return Err("/weights: give either weights or weights-file, not both".into()),
            (Some(path), None) => Weights::from_file(&path).map_err(|problem| format!("/weights-file: {problem}"))?,
            (None, Some(weights)) => Weights::read(&weights).map_err(|problem| format!("/weights{problem}"))?,
            (None, None) => Weights::standard(),
        };
        Ok(ComplexityGuard {
            weights,
            limits: Limits {
                cost: limit("maximum-cost", 1000)?,
                depth: count("maximum-depth", 15)?,
                aliases: count("maximum-aliases", 50)?,
                root_fields: count("maximum-root-fields", 50)?,
                fields: count("maximum-fields", 10_000)?,
                tokens: count("maximum-tokens", 5000)?,
                bytes: count("maximum-bytes", 256 << 10)?,
            },
            known: KnownCosts::default(),
            only_reports: config.text("mode")?.as_deref() == Some("report"),
        })
    }

    /// Measures a document. If it is not clear which operation of it runs, the most expensive one counts.
    fn check(&self, document: &str, name: Option<&str>, variables: Option<&str>) -> Result<u64, Failure> {
        if document.len() > self.limits.bytes {
            return Err(too_much("document", "bytes", document.len() as u64, self.limits.bytes as u64));
        }
        if let Some(cost) = self.known.find(document, name) {
            return Ok(cost);
        }
        let (text, requested) = (document, name);
        let document = Document::parse(document, self.limits.tokens).map_err(|problem| match problem {
            Unreadable::TooLong => refusal(format!("the document has more than {} tokens; ask for less", self.limits.tokens)),
            Unreadable::TooDeep => refusal("the document is nested too deeply; ask for less"),
            Unreadable::Syntax(at) => refusal(format!("the document is not an executable document: see byte {at}")),
        })?;
        let named = |name: &str| document.operations.iter().any(|operation| operation.name == Some(name));
        let name = name.filter(|name| named(name));
        let mut cost = 0;
        let mut uses_variables = false;
        for operation in document.operations.iter().filter(|operation| name.is_none() || operation.name == name) {
            let measure = Walk::measure(&document, operation, &self.weights, variables, self.limits.fields)
                .map_err(|problem| self.unmeasurable(problem))?;
            self.limits.compare(&measure)?;
            cost = cost.max(measure.cost);
            uses_variables |= measure.uses_variables;
        }
        if !uses_variables {
            self.known.keep(text, requested, cost);
        }
        Ok(cost)
    }

    fn unmeasurable(&self, problem: Unmeasurable) -> Failure {
        match problem {
            Unmeasurable::FragmentCycle => refusal("a fragment of the document contains itself"),
            Unmeasurable::UnknownFragment => refusal("the document uses a fragment that it does not define"),
            Unmeasurable::TooManyFields => {
                refusal(format!("the document has more than {} fields with its fragments; ask for less", self.limits.fields))
            }
            Unmeasurable::TooDeep => refusal("the fragments of the document are nested too deeply; ask for less"),
            Unmeasurable::VariablesTooLong => refusal("the variables are too long to be searched for the sizes of lists"),
        }
    }
}

impl Limits {
    fn compare(&self, measure: &Measure) -> Result<(), Failure> {
        for (what, unit, found, limit) in [
            ("operation", "levels of fields", measure.depth as u64, self.depth as u64),
            ("operation", "aliases", measure.aliases as u64, self.aliases as u64),
            ("operation", "root fields", measure.root_fields as u64, self.root_fields as u64),
            ("operation", "units of cost", measure.cost, self.cost),
        ] {
            if found > limit {
                return Err(too_much(what, unit, found, limit));
            }
        }
        Ok(())
    }
}

fn refusal(message: impl Into<std::borrow::Cow<'static, str>>) -> Failure {
    Failure::new(message).with_status(400)
}

fn too_much(what: &str, unit: &str, found: u64, limit: u64) -> Failure {
    refusal(format!("the {what} has {found} {unit}; at most {limit} are allowed; ask for less"))
        .with_detail(format!(r#"{{"unit":"{unit}","found":{found},"maximum":{limit}}}"#))
}

/// A name from outside, for the log: cut, and without control characters.
fn shown(name: Option<&str>) -> String {
    let name = name.unwrap_or("(anonymous)").chars().take(MAXIMUM_NAME);
    name.map(|character| if character.is_control() { ' ' } else { character }).collect()
}

impl Plugin for ComplexityGuard {
    fn new(setup: &Setup) -> Result<Self, Failure> {
        ComplexityGuard::read(&setup.config)
    }
}

impl Validate for ComplexityGuard {
    fn validate(config: &Config) -> Result<(), Failure> {
        ComplexityGuard::read(config).map(|_| ())
    }
}

impl graphql::Stage for ComplexityGuard {
    type State = ();
    const NEEDS: Parts = Parts::DOCUMENT.and(Parts::VARIABLES).and(Parts::OPERATION_NAME);

    fn on_request(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
        let name = call.operation_name()?;
        let answer = match call.document()? {
            Some(document) if self.known.find(document, name).is_some() => return Ok(Verdict::CONTINUE),
            Some(document) => self.check(document, name, call.variables()?),
            None => Err(refusal("the request has no document to measure")),
        };
        match answer {
            Ok(cost) => {
                if call.host().keeps(Level::Debug) {
                    call.log(Level::Debug, &format!("operation {}: cost {cost}", shown(name)));
                }
                Ok(Verdict::CONTINUE)
            }
            Err(failure) if self.only_reports => {
                call.log(Level::Warning, &format!("operation {} would be refused: {failure}", shown(name)));
                Ok(Verdict::CONTINUE)
            }
            Err(failure) => Err(failure),
        }
    }
}

carabiner::plugin!(
    ComplexityGuard,
    id: "org.carabiner.complexity-guard",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false,"properties":{
        "mode":{"enum":["refuse","report"]},
        "weights-file":{"type":"string","minLength":1,"maxLength":4096},
        "weights":{"type":"object"},
        "maximum-cost":{"type":"integer","minimum":1},
        "maximum-depth":{"type":"integer","minimum":1,"maximum":200},
        "maximum-aliases":{"type":"integer","minimum":0,"maximum":100000},
        "maximum-root-fields":{"type":"integer","minimum":1,"maximum":100000},
        "maximum-fields":{"type":"integer","minimum":1,"maximum":100000},
        "maximum-tokens":{"type":"integer","minimum":1,"maximum":100000},
        "maximum-bytes":{"type":"integer","minimum":1,"maximum":4194304}}}"#,
    name: "Complexity guard"
);
