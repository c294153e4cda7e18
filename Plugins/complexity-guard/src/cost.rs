//! The cost of an operation: the sum of its fields, where the fields in a list count once for each item.

use carabiner::Config;

use crate::document::{Document, Operation, Selection, Value};
use crate::weights::{ListSize, Weights};

/// How deeply fields and fragments may be nested. The walk calls itself, and the stack is limited.
const MAXIMUM_NESTING: usize = 300;
/// The largest text of variables that is searched for the sizes of lists, in bytes.
const MAXIMUM_VARIABLES: usize = 1 << 20;

/// The size of an operation, with all fragments in place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    pub cost: u64,
    /// How many fields enclose each other.
    pub depth: usize,
    pub aliases: usize,
    pub root_fields: usize,
    /// Whether the size of a list is a variable.
    pub uses_variables: bool,
}

/// Why an operation cannot be measured.
#[derive(Debug, PartialEq)]
pub enum Unmeasurable {
    FragmentCycle,
    UnknownFragment,
    /// More fields and fragments than allowed, with all fragments in place.
    TooManyFields,
    TooDeep,
    VariablesTooLong,
}

/// The walk through one operation.
pub struct Walk<'a> {
    document: &'a Document<'a>,
    weights: &'a Weights,
    operation: &'a Operation<'a>,
    variables: Option<&'a str>,
    /// The members of the variables, read when the first one is needed.
    members: Option<Vec<(String, Config<'a>)>>,
    /// The fragments around the current selection.
    fragments: Vec<&'a str>,
    /// How many fields and fragments may follow.
    left: usize,
    measure: Measure,
}

impl<'a> Walk<'a> {
    pub fn measure(
        document: &'a Document<'a>,
        operation: &'a Operation<'a>,
        weights: &'a Weights,
        variables: Option<&'a str>,
        maximum_fields: usize,
    ) -> Result<Measure, Unmeasurable> {
        let mut walk = Walk {
            document,
            weights,
            operation,
            variables,
            members: None,
            fragments: Vec::new(),
            left: maximum_fields,
            measure: Measure::default(),
        };
        walk.measure.cost = walk.selections(&operation.selections, operation.root, 0, 0)?;
        Ok(walk.measure)
    }

    fn selections(&mut self, all: &'a [Selection<'a>], parent: &str, depth: usize, nesting: usize) -> Result<u64, Unmeasurable> {
        if nesting > MAXIMUM_NESTING {
            return Err(Unmeasurable::TooDeep);
        }
        let mut cost = 0u64;
        for selection in all {
            self.left = self.left.checked_sub(1).ok_or(Unmeasurable::TooManyFields)?;
            cost = cost.saturating_add(match selection {
                Selection::Field { name, has_alias, arguments, selections } => {
                    self.measure.aliases += usize::from(*has_alias);
                    self.measure.root_fields += usize::from(depth == 0);
                    self.measure.depth = self.measure.depth.max(depth + 1);
                    let inner = self.selections(selections, name, depth + 1, nesting + 1)?;
                    let weights = self.weights;
                    let weight = weights.of(parent, name);
                    let size = match &weight.list {
                        None => 1,
                        Some(list) => self.size(list, arguments)?,
                    };
                    size.saturating_mul(weight.weight.saturating_add(inner))
                }
                Selection::Inline(selections) => self.selections(selections, parent, depth, nesting + 1)?,
                Selection::Spread(name) => {
                    if self.fragments.contains(name) {
                        return Err(Unmeasurable::FragmentCycle);
                    }
                    let document = self.document;
                    let selections = document.fragments.get(name).ok_or(Unmeasurable::UnknownFragment)?;
                    self.fragments.push(name);
                    let cost = self.selections(selections, parent, depth, nesting + 1)?;
                    self.fragments.pop();
                    cost
                }
            });
        }
        Ok(cost)
    }

    /// The number of items of a list: the largest of its arguments.
    fn size(&mut self, list: &ListSize, arguments: &'a [(&'a str, Value<'a>)]) -> Result<u64, Unmeasurable> {
        let mut largest = None;
        for path in &list.arguments {
            let mut steps = path.split('.');
            let first = steps.next().unwrap_or("");
            for (_, value) in arguments.iter().filter(|(name, _)| *name == first) {
                largest = largest.max(self.literal(value, steps.clone())?);
            }
        }
        Ok(largest.unwrap_or(list.default))
    }

    /// The number of items that a value requests: a number itself, or the number of elements of a list. `None` for other values.
    fn literal<'b>(
        &mut self,
        value: &'a Value<'a>,
        mut path: impl Iterator<Item = &'b str> + Clone,
    ) -> Result<Option<u64>, Unmeasurable> {
        match value {
            Value::Variable(name) => self.variable(name, path),
            Value::Object(members) => {
                let Some(step) = path.next() else { return Ok(None) };
                let mut largest = None;
                for (_, value) in members.iter().filter(|(name, _)| *name == step) {
                    largest = largest.max(self.inner(value, path.clone().collect::<Vec<_>>())?);
                }
                Ok(largest)
            }
            _ if path.next().is_some() => Ok(None),
            Value::List(items) => Ok(Some(items.len() as u64)),
            Value::Number(digits) => Ok(number(digits)),
            Value::Other => Ok(None),
        }
    }

    /// Calls `literal` with a path of a fixed type. Otherwise each call would create a new type.
    fn inner(&mut self, value: &'a Value<'a>, path: Vec<&str>) -> Result<Option<u64>, Unmeasurable> {
        self.literal(value, path.into_iter())
    }

    fn variable<'b>(&mut self, name: &str, path: impl Iterator<Item = &'b str> + Clone) -> Result<Option<u64>, Unmeasurable> {
        self.measure.uses_variables = true;
        let mut largest = None;
        let mut is_given = false;
        // Of members with the same name, a server could use either.
        for (_, value) in self.members()?.iter().filter(|(member, _)| member == name) {
            is_given = true;
            largest = largest.max(json(*value, path.clone()));
        }
        if is_given {
            return Ok(largest);
        }
        let operation = self.operation;
        for (_, value) in operation.defaults.iter().filter(|(variable, _)| *variable == name) {
            // A default value has no variables, so this does not come back here.
            if !matches!(value, Value::Variable(_)) {
                largest = largest.max(self.inner(value, path.clone().collect())?);
            }
        }
        Ok(largest)
    }

    fn members(&mut self) -> Result<&[(String, Config<'a>)], Unmeasurable> {
        if self.members.is_none() {
            let text = self.variables.unwrap_or("{}");
            if text.len() > MAXIMUM_VARIABLES {
                return Err(Unmeasurable::VariablesTooLong);
            }
            let members = Config::new(text).members().unwrap_or_default();
            self.members = Some(members.into_iter().map(|(name, value)| (name.into_owned(), value)).collect());
        }
        Ok(self.members.as_deref().unwrap_or_default())
    }
}

/// The number of items that a JSON value requests.
fn json<'b>(mut value: Config, path: impl Iterator<Item = &'b str>) -> Option<u64> {
    for step in path {
        value = value.get(step).ok()??;
    }
    let text = value.json();
    if text.starts_with('[') {
        return value.elements().ok().map(|items| items.len() as u64);
    }
    number(text)
}

/// A number that is not negative, rounded up. Servers read a negative one in different ways, for example as no limit.
fn number(digits: &str) -> Option<u64> {
    let number: f64 = digits.parse().ok()?;
    // A conversion from a floating-point number saturates.
    (number >= 0.0).then(|| number.ceil() as u64)
}
