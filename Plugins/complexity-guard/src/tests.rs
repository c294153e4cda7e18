use carabiner::Config;

use crate::ComplexityGuard;

fn guard(config: &str) -> ComplexityGuard {
    match ComplexityGuard::read(&Config::new(config)) {
        Ok(guard) => guard,
        Err(failure) => panic!("{failure}"),
    }
}

fn mistake(config: &str) -> String {
    ComplexityGuard::read(&Config::new(config)).err().map(|failure| failure.message.into_owned()).unwrap_or_default()
}

const WEIGHTS: &str = r#"{"weights":{"fields":{
    "books":{"weight":2,"list":{"arguments":["first","last","page.size","ids"],"default":10}},
    "Query.search":50,"author.books":5}},"maximum-cost":1000000000000}"#;

fn cost(document: &str, variables: Option<&str>) -> u64 {
    match guard(WEIGHTS).check(document, None, variables) {
        Ok(cost) => cost,
        Err(failure) => panic!("{document}: {failure}"),
    }
}

fn refusal(config: &str, document: &str) -> String {
    guard(config).check(document, None, None).err().map(|failure| failure.message.into_owned()).unwrap_or_default()
}

#[test]
fn fields_cost_their_weight_once_for_each_item() {
    for (document, expected) in [
        ("{ a }", 1),
        ("{ __typename }", 0),
        ("{ a b c { d } }", 4),
        ("{ books { title } }", 30),
        ("{ books(first: 3) { title } }", 9),
        ("{ books(first: 3, last: 5) { title } }", 15),
        ("{ books(ids: [1, 2, 3, 4]) { title } }", 12),
        ("{ books(page: {size: 7, x: {size: 9}}) { title } }", 21),
        ("{ books(first: -1) { title } }", 30),
        ("{ books(first: null) { title } }", 30),
        ("{ books(first: \"3\") { title } }", 30),
        ("{ books(first: 2) { books(first: 3) { title } } }", 2 * (2 + 3 * 3)),
        ("{ books(first: 0) { title } }", 0),
        ("{ search }", 50),
        ("{ a { search } }", 2),
        ("{ author { books { title } } }", 7),
        ("{ author { ... { ...F } } } fragment F on A { books { title } }", 7),
        ("mutation { search }", 1),
        ("{ x: a y: a }", 2),
        ("\"described\" query Q($f: [Int!]! = [1,2] @d(a: 1) $u: Int = 3) @d { books(ids: $f) @include(if: true) { t } }", 6),
        ("query Q($n: Int = 4) { books(first: $n) { t } }", 12),
        ("query Q($p: P = {size: 4}) { books(page: $p) { t } }", 12),
        ("query A { a } query B { b c }", 2),
        ("\u{feff}{ a(x: \"\"\"b\\\"\"\" }\"\"\") # }\n}", 1),
    ] {
        assert_eq!(cost(document, None), expected, "{document}");
    }
}

#[test]
fn variables_give_the_number_of_items() {
    let document = "query Q($n: Int = 2, $i: [ID], $p: P) { books(first: $n, ids: $i, page: $p) { t } }";
    for (variables, items) in [
        (r#"{}"#, 2),
        (r#"{"n":7}"#, 7),
        (r#"{"n":7,"n":3}"#, 7),
        (r#"{"n":null}"#, 10),
        (r#"{"n":1.5e1}"#, 15),
        (r#"{"n":1,"i":["a","b","c"]}"#, 3),
        (r#"{"n":1,"p":{"size":8}}"#, 8),
        (r#"{"n":"x"}"#, 10),
        (r#"{"n":-5}"#, 10),
        (r#"{"\u006e":7}"#, 7),
    ] {
        assert_eq!(cost(document, Some(variables)), items * 3, "{variables}");
    }
}

#[test]
fn a_document_is_measured_again_if_its_cost_depends_on_variables_or_on_its_operation() {
    let guard = guard(WEIGHTS);
    let check = |document: &str, name: Option<&str>, variables: &str| guard.check(document, name, Some(variables)).ok();
    let document = "query Q($n: Int) { books(first: $n) { t } }";
    for (variables, cost) in [(r#"{"n":1}"#, 3), (r#"{"n":2}"#, 6), (r#"{"n":1}"#, 3)] {
        assert_eq!(check(document, Some("Q"), variables), Some(cost));
    }
    let document = "query A { a } query B { a b }";
    for (name, cost) in [(Some("A"), 1), (Some("B"), 2), (None, 2), (Some("A"), 1), (Some("C"), 2)] {
        assert_eq!(check(document, name, "{}"), Some(cost), "{name:?}");
    }
}

#[test]
fn costs_do_not_overflow() {
    let config = r#"{"weights":{"fields":{"a":{"weight":1000000000,"list":{"arguments":["n"]}}}}}"#;
    let document = format!("{} b {}", "{ a(n: 99999999999999999999)".repeat(10), "}".repeat(10));
    assert!(refusal(config, &document).contains("has 18446744073709551615 units of cost"));
}

#[test]
fn each_limit_is_named() {
    for (config, document, reason) in [
        (r#"{"maximum-cost":2}"#, "{ a b c }", "has 3 units of cost; at most 2"),
        (r#"{"maximum-depth":2}"#, "{ a { b { c } } }", "has 3 levels of fields"),
        (r#"{"maximum-depth":2}"#, "{ a { ...F } } fragment F on A { b { ... on C { c } } }", "has 3 levels of fields"),
        (r#"{"maximum-aliases":1}"#, "{ x: a y: a }", "has 2 aliases"),
        (r#"{"maximum-aliases":1}"#, "{ ...F ...F } fragment F on Q { x: a }", "has 2 aliases"),
        (r#"{"maximum-root-fields":1}"#, "{ a ...F } fragment F on Q { b }", "has 2 root fields"),
        (r#"{"maximum-tokens":4}"#, "{ a b c }", "more than 4 tokens"),
        (r#"{"maximum-bytes":4}"#, "{ a }", "has 5 bytes"),
        (r#"{"maximum-fields":2}"#, "{ a b c }", "more than 2 fields"),
    ] {
        assert!(refusal(config, document).contains(reason), "{document}: {}", refusal(config, document));
    }
}

#[test]
fn hostile_documents_are_refused_in_bounded_time() {
    let nested = format!("{}a{}", "{a".repeat(2000), "}".repeat(2000));
    let values = format!("{{ a(x: {}1{}) }}", "[".repeat(2000), "]".repeat(2000));
    let types = format!("query($a: {}Int{}) {{ a }}", "[".repeat(2000), "]".repeat(2000));
    // Each fragment doubles the fields of the next one.
    let doubling: String = (0..60).map(|n| format!("fragment F{n} on Q {{ ...F{} ...F{} }} ", n + 1, n + 1)).collect();
    let doubling = format!("{{ ...F0 }} {doubling} fragment F60 on Q {{ a }}");
    let chain: String = (0..900).map(|n| format!("fragment F{n} on Q {{ ...F{} }} ", n + 1)).collect();
    let chain = format!("{{ ...F0 }} {chain} fragment F900 on Q {{ a }}");
    let aliases: String = (0..1000).map(|n| format!("a{n}: a ")).collect();
    for (document, reason) in [
        (nested.as_str(), "nested too deeply"),
        (&values, "nested too deeply"),
        (&types, "nested too deeply"),
        (&doubling, "more than 10000 fields"),
        (&chain, "nested too deeply"),
        (&format!("{{ {aliases} }}"), "1000 aliases"),
        ("{ ...A } fragment A on Q { ...B } fragment B on Q { a { ...A } }", "contains itself"),
        ("{ ...A } fragment A on Q { ...A }", "contains itself"),
        ("{ ...A }", "does not define"),
        ("{ a } fragment A on Q { a } fragment A on Q { b }", "not an executable document"),
        ("type A { a: Int }", "not an executable document"),
        ("{ a", "not an executable document"),
        ("", "not an executable document"),
        ("fragment A on Q { a }", "not an executable document"),
        ("{ a(x: \"", "not an executable document"),
        ("{ a \u{0} }", "not an executable document"),
        ("{ a(x: $) }", "not an executable document"),
    ] {
        let config = r#"{"maximum-tokens":10000}"#;
        assert!(refusal(config, document).contains(reason), "{reason}: {}", refusal(config, document));
    }
}

#[test]
fn cut_documents_are_refused_and_do_not_panic() {
    let whole = "query Q($a: [Int!]! = [1, {b: \"\"\"x\"\"\"}]) @d { a: b(c: $a) { ... on D @e { f } ...G } } fragment G on D { h }";
    assert_eq!(refusal("{}", whole), "");
    for end in 0..whole.len() {
        // Without its last definition, the document lacks a fragment.
        assert_ne!(refusal("{}", &whole[..end]), "", "{end}");
    }
}

#[test]
fn mistakes_in_weights_are_named_by_their_place() {
    for (weights, place) in [
        ("{\"a\":1}", "/weights/a: unknown"),
        ("{\"default\":-1}", "/weights/default: this is not an integer"),
        ("{\"fields\":[]}", "/weights/fields: this is not an object"),
        ("{\"fields\":{\"a\":1.5}}", "/weights/fields/a: this is not an integer"),
        ("{\"fields\":{\"a b\":1}}", "/weights/fields/a b: this is neither"),
        ("{\"fields\":{\"a.b.c\":1}}", "/weights/fields/a.b.c: this is neither"),
        ("{\"fields\":{\"a/b\":1}}", "/weights/fields/a~1b: this is neither"),
        ("{\"fields\":{\"a\":{\"x\":1}}}", "/weights/fields/a/x: unknown"),
        ("{\"fields\":{\"a\":{\"list\":{\"arguments\":[\"\"]}}}}", "/weights/fields/a/list/arguments/0: this is not the name"),
        ("{\"fields\":{\"a\":{\"list\":{\"default\":0}}}}", "/weights/fields/a/list/default: this is not an integer"),
    ] {
        let found = mistake(&format!("{{\"weights\":{weights}}}"));
        assert!(found.starts_with(place), "{weights}: {found}");
    }
    assert!(mistake(r#"{"weights":{},"weights-file":"x"}"#).starts_with("/weights: give either"));
    assert!(mistake(r#"{"weights-file":"/no/such/file"}"#).starts_with("/weights-file: /no/such/file: the file"));
    assert!(mistake(r#"{"weights-file":"/"}"#).starts_with("/weights-file: /: this is not a regular file"));
}
