//! Weights of fields, from the configuration or from a file.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;

use carabiner::Config;

/// The largest file of weights, in bytes.
const MAXIMUM_FILE: u64 = 1 << 20;
/// How many fields may have a weight.
const MAXIMUM_FIELDS: usize = 10_000;
const MAXIMUM_ARGUMENTS: usize = 16;
const MAXIMUM_WEIGHT: i64 = 1_000_000_000;

/// The cost of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    pub weight: u64,
    /// How many items the field returns; `None` for a field that is not a list.
    pub list: Option<ListSize>,
}

/// How the number of items of a list is found.
#[derive(Clone, Debug, PartialEq)]
pub struct ListSize {
    /// Names of arguments, or paths such as `page.size`.
    pub arguments: Vec<String>,
    /// The number without such an argument.
    pub default: u64,
}

/// The weights of fields, by `name`, or by `parent.name`, where the parent is the enclosing field or `Query`, `Mutation` or
/// `Subscription`.
#[derive(Debug)]
pub struct Weights {
    default: Weight,
    fields: HashMap<String, Weight>,
    /// Names that have a weight with a parent.
    has_parents: HashMap<String, HashMap<String, Weight>>,
}

impl Weights {
    /// All fields have the weight 1, except `__typename`.
    pub fn standard() -> Weights {
        let fields = HashMap::from([("__typename".to_owned(), Weight { weight: 0, list: None })]);
        Weights { default: Weight { weight: 1, list: None }, fields, has_parents: HashMap::new() }
    }

    /// Reads a file of weights. Errors begin with the file and the place in it.
    pub fn from_file(path: &str) -> Result<Weights, String> {
        let refused = |error: std::io::Error| format!("{path}: the file of weights cannot be read: {error}");
        let mut text = String::new();
        let file = File::open(path).map_err(refused)?;
        if !file.metadata().map_err(refused)?.is_file() {
            return Err(format!("{path}: this is not a regular file; name a JSON file of weights"));
        }
        file.take(MAXIMUM_FILE + 1).read_to_string(&mut text).map_err(refused)?;
        if text.len() as u64 > MAXIMUM_FILE {
            return Err(format!("{path}: the file of weights is larger than {MAXIMUM_FILE} bytes"));
        }
        // In a list, text after the end of the object is a mistake.
        let list = format!("[{text}\n]");
        let items = Config::new(&list).elements().map_err(|_| format!("{path}: this is not valid JSON"))?;
        let [weights] = items[..] else { return Err(format!("{path}: this is not one JSON object")) };
        Weights::read(&weights).map_err(|problem| format!("{path}: {problem}"))
    }

    /// Reads weights. Errors begin with the place.
    pub fn read(config: &Config) -> Result<Weights, String> {
        let mut weights = Weights::standard();
        for (name, value) in members(config, "")? {
            match name.as_str() {
                "default" => weights.default.weight = number(&value, "/default", 0)?,
                "fields" => weights.read_fields(&value)?,
                _ => return Err(format!("/{}: unknown; the members are default and fields", escaped(&name))),
            }
        }
        Ok(weights)
    }

    fn read_fields(&mut self, config: &Config) -> Result<(), String> {
        let fields = members(config, "/fields")?;
        if fields.len() > MAXIMUM_FIELDS {
            return Err(format!("/fields: {} fields; at most {MAXIMUM_FIELDS} are allowed", fields.len()));
        }
        for (name, value) in fields {
            let place = format!("/fields/{}", escaped(&name));
            let weight = self.weight(&value, &place)?;
            let (parent, field) = name.split_once('.').map_or((None, name.as_str()), |(parent, field)| (Some(parent), field));
            if !is_name(field) || !parent.is_none_or(is_name) {
                return Err(format!("{place}: this is neither a field nor parent.field"));
            }
            let group = match parent {
                None => &mut self.fields,
                Some(_) => self.has_parents.entry(field.to_owned()).or_default(),
            };
            group.insert(parent.unwrap_or(field).to_owned(), weight);
        }
        Ok(())
    }

    fn weight(&self, config: &Config, place: &str) -> Result<Weight, String> {
        if !config.json().starts_with('{') {
            return Ok(Weight { weight: number(config, place, 0)?, list: None });
        }
        let mut weight = self.default.clone();
        for (name, value) in members(config, place)? {
            match name.as_str() {
                "weight" => weight.weight = number(&value, &format!("{place}/weight"), 0)?,
                "list" => weight.list = Some(list(&value, &format!("{place}/list"))?),
                _ => return Err(format!("{place}/{}: unknown; the members are weight and list", escaped(&name))),
            }
        }
        Ok(weight)
    }

    /// The weight of a field in its parent.
    pub fn of(&self, parent: &str, field: &str) -> &Weight {
        let special = self.has_parents.get(field).and_then(|parents| parents.get(parent));
        special.or_else(|| self.fields.get(field)).unwrap_or(&self.default)
    }
}

fn list(config: &Config, place: &str) -> Result<ListSize, String> {
    let mut size = ListSize { arguments: Vec::new(), default: 1 };
    for (name, value) in members(config, place)? {
        match name.as_str() {
            "arguments" => {
                let place = format!("{place}/arguments");
                let items = value.elements().map_err(|_| format!("{place}: this is not a list"))?;
                if items.len() > MAXIMUM_ARGUMENTS {
                    return Err(format!("{place}: at most {MAXIMUM_ARGUMENTS} arguments are allowed"));
                }
                for (index, item) in items.iter().enumerate() {
                    let path = item.as_text().ok().filter(|path| path.split('.').all(is_name));
                    let path = path.ok_or_else(|| format!("{place}/{index}: this is not the name of an argument"))?;
                    size.arguments.push(path.into_owned());
                }
            }
            "default" => size.default = number(&value, &format!("{place}/default"), 1)?,
            _ => return Err(format!("{place}/{}: unknown; the members are arguments and default", escaped(&name))),
        }
    }
    Ok(size)
}

fn members<'a>(config: &Config<'a>, place: &str) -> Result<Vec<(String, Config<'a>)>, String> {
    let members = config.members().map_err(|_| format!("{}: this is not an object", if place.is_empty() { "/" } else { place }))?;
    Ok(members.into_iter().map(|(name, value)| (name.into_owned(), value)).collect())
}

fn number(config: &Config, place: &str, least: i64) -> Result<u64, String> {
    let number = config.as_integer().ok().filter(|number| (least..=MAXIMUM_WEIGHT).contains(number));
    number.map(i64::unsigned_abs).ok_or_else(|| format!("{place}: this is not an integer from {least} to {MAXIMUM_WEIGHT}"))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// A member's name in a JSON pointer, cut if it is long.
fn escaped(name: &str) -> String {
    name.chars().take(64).collect::<String>().replace('~', "~0").replace('/', "~1")
}
