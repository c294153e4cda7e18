import CarabinerSchema
import Testing

/// A document with one fault, and the rule that it violates.
struct InvalidDocument: Sendable, CustomTestStringConvertible {
  let rule: DocumentProblem.Rule
  /// The text. A mark `‸` precedes each part that the problem names.
  let text: String

  init(_ rule: DocumentProblem.Rule, _ text: String) {
    self.rule = rule
    self.text = text
  }

  var testDescription: String { "\(rule.rawValue): \(text)" }

  /// The schema of the samples.
  static let schema = """
    directive @onQuery on QUERY
    directive @onField(x: Int) on FIELD
    directive @many repeatable on FIELD
    directive @needs(x: Int!, y: Int! = 2) on FIELD
    type Query {
      a: Int s: String n(x: Int!, y: Int! = 1): Int pet: Pet dog: Dog cat: Cat any: Any pets(first: Int): [Pet!]! list: [Int]
      find(by: Find): Pet one(by: By): Pet color(is: Color): Int date(on: Date): Date tags(in: [[String!]]): Int flag(on: Boolean!): Int
      float(f: Float): Float id(id: ID): ID
    }
    type Mutation { set: Pet all: [Int] }
    type Subscription { tick: Int pet: Pet ticks: [Int] }
    interface Pet { name: String owner: Human }
    type Dog implements Pet { name: String owner: Human barks(loud: Boolean): Boolean volume: Int age: Int }
    type Cat implements Pet { name: String owner: Human meows: Boolean volume: Int! age: String }
    type Human { name: String id: ID! friends(first: Int): [Human] }
    union Any = Dog | Human
    input Find { name: String! limit: Int! = 10 tags: [String!] nested: Find }
    input By @oneOf { id: ID name: String }
    enum Color { RED GREEN }
    scalar Date
    """

  static let definitions = [
    InvalidDocument(.uniqueOperationNames, "query ‸A { a } query ‸A { s }"),
    InvalidDocument(.uniqueOperationNames, "query ‸A { a } mutation ‸A { set { name } }"),
    InvalidDocument(.loneAnonymousOperation, "‸{ a } query A { a }"),
    InvalidDocument(.uniqueFragmentNames, "{ dog { ...F } } fragment ‸F on Dog { name } fragment ‸F on Dog { age }"),
    InvalidDocument(.knownTypeNames, "{ pet { ... on ‸Bird { name } } }"),
    InvalidDocument(.knownTypeNames, "{ pet { ...F } } fragment F on ‸Bird { name }"),
    InvalidDocument(.knownTypeNames, "query ($x: [‸Bird!]) { n(x: $x) }"),
    InvalidDocument(.fragmentsOnCompositeTypes, "{ pet { ... on ‸Color { name } } }"),
    InvalidDocument(.fragmentsOnCompositeTypes, "{ pet { ...F } } fragment F on ‸Find { name }"),
    InvalidDocument(.variablesAreInputTypes, "query ($x: ‸[Pet!]!) { n(x: $x) }"),
    InvalidDocument(.uniqueVariableNames, "query ($‸x: Int!, $‸x: Int!) { n(x: $x) }"),
    InvalidDocument(.knownFragmentNames, "{ pet { ...‸F } }"),
    InvalidDocument(.noUnusedFragments, "{ a } ‸fragment F on Dog { name }"),
    InvalidDocument(.noFragmentCycles, "{ dog { ...F } } fragment F on Dog { name ‸...F }"),
    InvalidDocument(.noFragmentCycles, "{ dog { ...F } } fragment F on Dog { ‸...G } fragment G on Dog { name ... { ‸...F } }"),
    InvalidDocument(.possibleFragmentSpreads, "{ dog { ‸... on Cat { name } } }"),
    InvalidDocument(.possibleFragmentSpreads, "{ dog { ‸...F } } fragment F on Human { name }"),
    InvalidDocument(.possibleFragmentSpreads, "{ cat { ‸... on Any { __typename } } }"),
  ]

  static let fields = [
    InvalidDocument(.fieldsOnCorrectType, "{ ‸b }"), InvalidDocument(.fieldsOnCorrectType, "{ ‸x: b }"),
    InvalidDocument(.fieldsOnCorrectType, "{ pet { ‸barks } }"),
    InvalidDocument(.fieldsOnCorrectType, "{ any { ‸name } }"),
    InvalidDocument(.fieldsOnCorrectType, "{ dog { ‸__schema { types { name } } } }"),
    InvalidDocument(.fieldsOnCorrectType, "{ __schema { ‸kinds } }"),
    InvalidDocument(.scalarLeafs, "{ ‸pet }"), InvalidDocument(.scalarLeafs, "{ a ‸{ b } }"),
    InvalidDocument(.scalarLeafs, "{ ‸any }"), InvalidDocument(.scalarLeafs, "{ ‸__schema }"),
    InvalidDocument(.singleFieldSubscriptions, "subscription { tick ‸ticks }"),
    InvalidDocument(.singleFieldSubscriptions, "subscription { ...F } fragment F on Subscription { tick ... { ‸ticks } }"),
    InvalidDocument(.singleFieldSubscriptions, "subscription { ‸__typename }"),
    InvalidDocument(.singleFieldSubscriptions, "subscription ($b: Boolean!) { tick ‸@include(if: $b) }"),
    InvalidDocument(.singleFieldSubscriptions, "subscription ($b: Boolean!) { ... ‸@skip(if: $b) { tick } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ ‸x: a ‸x: s }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ ‸n(x: 1) ‸n(x: 2) }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ ‸pets { name } ‸pets(first: 1) { name } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ ‸dog { ‸x: name } ‸dog { ‸x: age } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ dog { ‸x: name ‸x: age } dog { name } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ pet { ... on Dog { ‸age } ... on Cat { ‸age } } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ pet { ... on Dog { ‸volume } ... on Cat { ‸volume } } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ pet { ‸x: name ... on Dog { ‸x: barks } } }"),
    InvalidDocument(
      .overlappingFieldsCanBeMerged,
      "{ ‸pet { ...F } ‸pet { ...G } } fragment F on Pet { ‸x: name } fragment G on Dog { ‸x: barks }"),
    InvalidDocument(
      .overlappingFieldsCanBeMerged,
      "{ pet { ... on Dog { ‸x: owner { ‸y: name } } ... on Cat { ‸x: owner { ‸y: id } } } }"),
    InvalidDocument(.overlappingFieldsCanBeMerged, "{ ‸list ‸list @stream }"),
  ]

  static let values = [
    InvalidDocument(.knownArgumentNames, "{ n(x: 1, ‸z: 2) }"),
    InvalidDocument(.knownArgumentNames, "{ a @skip(if: true, ‸x: 1) }"),
    InvalidDocument(.uniqueArgumentNames, "{ n(‸x: 1, ‸x: 1) }"),
    InvalidDocument(.uniqueArgumentNames, "{ a @onField(‸x: 1, ‸x: 1) }"),
    InvalidDocument(.providedRequiredArguments, "{ ‸n }"), InvalidDocument(.providedRequiredArguments, "{ ‸n(y: 1) }"),
    InvalidDocument(.providedRequiredArguments, "{ a ‸@needs }"), InvalidDocument(.providedRequiredArguments, "{ a ‸@include }"),
    InvalidDocument(.uniqueInputFieldNames, "{ find(by: {‸name: \"a\", ‸name: \"b\"}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸\"1\") }"), InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸null) }"),
    InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸2147483648) }"), InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸1.0) }"),
    InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸[1]) }"), InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸{a: 1}) }"),
    InvalidDocument(.valuesOfCorrectType, "{ n(x: ‸RED) }"), InvalidDocument(.valuesOfCorrectType, "{ color(is: ‸BLUE) }"),
    InvalidDocument(.valuesOfCorrectType, "{ color(is: ‸\"RED\") }"),
    InvalidDocument(.valuesOfCorrectType, "{ color(is: ‸{a: 1}) }"),
    InvalidDocument(.valuesOfCorrectType, "{ flag(on: ‸1) }"), InvalidDocument(.valuesOfCorrectType, "{ id(id: ‸1.5) }"),
    InvalidDocument(.valuesOfCorrectType, "{ float(f: ‸\"1\") }"),
    InvalidDocument(.valuesOfCorrectType, "{ tags(in: [[\"a\"], [‸null]]) }"),
    InvalidDocument(.valuesOfCorrectType, "{ tags(in: [[\"a\", ‸1]]) }"),
    InvalidDocument(.valuesOfCorrectType, "{ find(by: ‸{limit: 1}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ find(by: ‸\"x\") { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ find(by: {name: \"a\", ‸size: 1}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ find(by: {name: \"a\", nested: {name: ‸1}}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ one(by: ‸{}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ one(by: ‸{id: null}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "{ one(by: ‸{id: 1, name: \"a\"}) { name } }"),
    InvalidDocument(.valuesOfCorrectType, "query ($x: Int! = ‸\"1\") { n(x: $x) }"),
    InvalidDocument(.valuesOfCorrectType, "query ($x: Int! = ‸null) { n(x: $x) }"),
    InvalidDocument(.valuesOfCorrectType, "{ a @skip(if: ‸1) }"),
    InvalidDocument(.noUndefinedVariables, "‸{ n(x: ‸$x) }"),
    InvalidDocument(.noUndefinedVariables, "‸query A { a @skip(if: ‸$x) }"),
    InvalidDocument(
      .noUndefinedVariables,
      "query A($b: Boolean!) { ...F } ‸query B { ...F } fragment F on Query { flag(on: ‸$b) }"),
    InvalidDocument(.noUndefinedVariables, "‸{ find(by: {name: \"a\", tags: [‸$t]}) { name } }"),
    InvalidDocument(.noUnusedVariables, "query (‸$x: Int) { a }"),
    InvalidDocument(.noUnusedVariables, "query (‸\"text\" $x: Int) { a }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: Int) { n(x: ‸$x) }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: String!) { n(x: ‸$x) }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: Int! = 1) { n(x: 1, y: 2) color(is: ‸$x) }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: Boolean) { ...F } fragment F on Query { flag(on: ‸$x) }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: String) { tags(in: [[‸$x]]) }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: [String]) { tags(in: [‸$x]) }"),
    InvalidDocument(.variablesInAllowedPosition, "query (‸$x: ID) { one(by: {id: ‸$x}) { name } }"),
  ]

  static let directives = [
    InvalidDocument(.knownDirectives, "{ a ‸@nothing }"), InvalidDocument(.knownDirectives, "{ a ‸@onQuery }"),
    InvalidDocument(.knownDirectives, "query ‸@onField { a }"),
    InvalidDocument(.knownDirectives, "query ($x: Int! ‸@skip(if: true)) { n(x: $x) }"),
    InvalidDocument(.knownDirectives, "{ dog { ...F } } fragment F on Dog ‸@onQuery { name }"),
    InvalidDocument(.knownDirectives, "{ a ‸@defer }"), InvalidDocument(.knownDirectives, "{ ... ‸@stream { a } }"),
    InvalidDocument(.uniqueDirectivesPerLocation, "{ a ‸@onField ‸@onField }"),
    InvalidDocument(.uniqueDirectivesPerLocation, "query ‸@onQuery ‸@onQuery { a }"),
    InvalidDocument(.deferStreamDirectiveOnRootField, "mutation { ... ‸@defer { set { name } } }"),
    InvalidDocument(.deferStreamDirectiveOnRootField, "mutation { all ‸@stream }"),
    InvalidDocument(.deferStreamDirectiveOnRootField, "subscription { ... ‸@defer(if: false) { tick } }"),
    InvalidDocument(.deferStreamDirectiveOnValidOperations, "subscription { pet { ... ‸@defer { name } } }"),
    InvalidDocument(
      .deferStreamDirectiveOnValidOperations,
      "subscription { pet { ...F } } fragment F on Pet { owner { friends ‸@stream { name } } }"),
    InvalidDocument(
      .deferStreamDirectiveLabel, "{ dog { ... ‸@defer(label: \"a\") { name } ... ‸@defer(label: \"a\") { age } } }"),
    InvalidDocument(.deferStreamDirectiveLabel, "query ($l: String) { dog { ... ‸@defer(label: $l) { name } } }"),
    InvalidDocument(.streamDirectiveOnListField, "{ dog { name ‸@stream } }"),
  ]
}
