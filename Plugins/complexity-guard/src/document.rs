//! Executable documents (GraphQL, September 2025), as far as their cost needs them.

use std::collections::HashMap;

use crate::lexer::{Lexer, Token, Unreadable};

/// How deeply selections and values may be nested in the text. The reader calls itself, and the stack is limited.
const MAXIMUM_NESTING: usize = 200;

#[derive(Debug)]
pub struct Document<'a> {
    pub operations: Vec<Operation<'a>>,
    pub fragments: HashMap<&'a str, Vec<Selection<'a>>>,
}

#[derive(Debug)]
pub struct Operation<'a> {
    /// `Query`, `Mutation` or `Subscription`, as the root types are usually named.
    pub root: &'static str,
    pub name: Option<&'a str>,
    /// The default values of variables.
    pub defaults: Vec<(&'a str, Value<'a>)>,
    pub selections: Vec<Selection<'a>>,
}

#[derive(Debug)]
pub enum Selection<'a> {
    Field { name: &'a str, has_alias: bool, arguments: Vec<(&'a str, Value<'a>)>, selections: Vec<Selection<'a>> },
    Spread(&'a str),
    Inline(Vec<Selection<'a>>),
}

#[derive(Debug, PartialEq)]
pub enum Value<'a> {
    Number(&'a str),
    Variable(&'a str),
    List(Vec<Value<'a>>),
    Object(Vec<(&'a str, Value<'a>)>),
    Other,
}

impl<'a> Document<'a> {
    /// Reads a document of at most so many tokens.
    pub fn parse(text: &'a str, maximum_tokens: usize) -> Result<Document<'a>, Unreadable> {
        let mut lexer = Lexer::new(text, maximum_tokens);
        let token = lexer.next()?;
        let mut reader = Reader { lexer, token };
        let mut document = Document { operations: Vec::new(), fragments: HashMap::new() };
        while reader.token != Token::End {
            // Definitions may have a description.
            if reader.token == Token::Text {
                reader.advance()?;
            }
            reader.definition(&mut document)?;
        }
        if document.operations.is_empty() {
            return reader.lexer.wrong();
        }
        Ok(document)
    }
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
}

impl<'a> Reader<'a> {
    fn advance(&mut self) -> Result<Token<'a>, Unreadable> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Moves past this punctuator, if it is the next token.
    fn take(&mut self, mark: u8) -> Result<bool, Unreadable> {
        let is_next = self.token == Token::Mark(mark);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, mark: u8) -> Result<(), Unreadable> {
        if self.take(mark)? {
            Ok(())
        } else {
            self.lexer.wrong()
        }
    }

    fn name(&mut self) -> Result<&'a str, Unreadable> {
        match self.token {
            Token::Name(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => self.lexer.wrong(),
        }
    }

    fn definition(&mut self, document: &mut Document<'a>) -> Result<(), Unreadable> {
        let root = match self.token {
            Token::Mark(b'{') => {
                let selections = self.selections(0)?;
                document.operations.push(Operation { root: "Query", name: None, defaults: Vec::new(), selections });
                return Ok(());
            }
            Token::Name("query") => "Query",
            Token::Name("mutation") => "Mutation",
            Token::Name("subscription") => "Subscription",
            Token::Name("fragment") => return self.fragment(document),
            _ => return self.lexer.wrong(),
        };
        self.advance()?;
        let name = if matches!(self.token, Token::Name(_)) { Some(self.name()?) } else { None };
        let defaults = self.variables()?;
        self.directives()?;
        let selections = self.selections(0)?;
        document.operations.push(Operation { root, name, defaults, selections });
        Ok(())
    }

    fn fragment(&mut self, document: &mut Document<'a>) -> Result<(), Unreadable> {
        self.advance()?;
        let name = self.name()?;
        if name == "on" || self.name()? != "on" {
            return self.lexer.wrong();
        }
        self.name()?;
        self.directives()?;
        let selections = self.selections(0)?;
        // Two fragments of one name: a server could use either.
        if document.fragments.insert(name, selections).is_some() {
            return self.lexer.wrong();
        }
        Ok(())
    }

    fn variables(&mut self) -> Result<Vec<(&'a str, Value<'a>)>, Unreadable> {
        let mut defaults = Vec::new();
        if !self.take(b'(')? {
            return Ok(defaults);
        }
        while !self.take(b')')? {
            if self.token == Token::Text {
                self.advance()?;
            }
            self.expect(b'$')?;
            let name = self.name()?;
            self.expect(b':')?;
            self.variable_type(0)?;
            if self.take(b'=')? {
                defaults.push((name, self.value(0)?));
            }
            self.directives()?;
        }
        Ok(defaults)
    }

    fn variable_type(&mut self, depth: usize) -> Result<(), Unreadable> {
        if depth > MAXIMUM_NESTING {
            return Err(Unreadable::TooDeep);
        }
        if self.take(b'[')? {
            self.variable_type(depth + 1)?;
            self.expect(b']')?;
        } else {
            self.name()?;
        }
        self.take(b'!').map(|_| ())
    }

    fn directives(&mut self) -> Result<(), Unreadable> {
        while self.take(b'@')? {
            self.name()?;
            self.arguments()?;
        }
        Ok(())
    }

    fn arguments(&mut self) -> Result<Vec<(&'a str, Value<'a>)>, Unreadable> {
        let mut arguments = Vec::new();
        if self.take(b'(')? {
            while !self.take(b')')? {
                let name = self.name()?;
                self.expect(b':')?;
                arguments.push((name, self.value(0)?));
            }
        }
        Ok(arguments)
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Unreadable> {
        if depth > MAXIMUM_NESTING {
            return Err(Unreadable::TooDeep);
        }
        match self.advance()? {
            Token::Number(digits) => Ok(Value::Number(digits)),
            Token::Text | Token::Name(_) => Ok(Value::Other),
            Token::Mark(b'$') => Ok(Value::Variable(self.name()?)),
            Token::Mark(b'[') => {
                let mut items = Vec::new();
                while !self.take(b']')? {
                    items.push(self.value(depth + 1)?);
                }
                Ok(Value::List(items))
            }
            Token::Mark(b'{') => {
                let mut members = Vec::new();
                while !self.take(b'}')? {
                    let name = self.name()?;
                    self.expect(b':')?;
                    members.push((name, self.value(depth + 1)?));
                }
                Ok(Value::Object(members))
            }
            _ => self.lexer.wrong(),
        }
    }

    fn selections(&mut self, depth: usize) -> Result<Vec<Selection<'a>>, Unreadable> {
        if depth > MAXIMUM_NESTING {
            return Err(Unreadable::TooDeep);
        }
        self.expect(b'{')?;
        let mut selections = Vec::new();
        while !self.take(b'}')? {
            selections.push(if self.take(b'.')? { self.spread(depth)? } else { self.field(depth)? });
        }
        Ok(selections)
    }

    fn spread(&mut self, depth: usize) -> Result<Selection<'a>, Unreadable> {
        match self.token {
            Token::Name("on") => {
                self.advance()?;
                self.name()?;
            }
            Token::Name(name) => {
                self.advance()?;
                self.directives()?;
                return Ok(Selection::Spread(name));
            }
            _ => {}
        }
        self.directives()?;
        Ok(Selection::Inline(self.selections(depth + 1)?))
    }

    fn field(&mut self, depth: usize) -> Result<Selection<'a>, Unreadable> {
        let first = self.name()?;
        let has_alias = self.take(b':')?;
        let name = if has_alias { self.name()? } else { first };
        let arguments = self.arguments()?;
        self.directives()?;
        let selections = if self.token == Token::Mark(b'{') { self.selections(depth + 1)? } else { Vec::new() };
        Ok(Selection::Field { name, has_alias, arguments, selections })
    }
}
