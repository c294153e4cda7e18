import CarabinerSchema
import Testing

/// A schema with one fault: the rule that it violates, and the place that the problem names.
struct InvalidSchema: Sendable, CustomTestStringConvertible {
  let rule: SchemaProblem.Rule
  let coordinate: String
  /// The text. The place of the problem follows the mark `‸`.
  let text: String

  init(_ rule: SchemaProblem.Rule, _ coordinate: String, _ text: String) {
    self.rule = rule
    self.coordinate = coordinate
    self.text = text
  }

  var testDescription: String { "\(rule.rawValue): \(text)" }

  static let names = [
    InvalidSchema(
      .loneSchemaDefinition, "", "type Query { a: Int } schema { query: Query }\n ‸schema { mutation: B } type B { a: Int }"),
    InvalidSchema(.uniqueOperationTypes, "", "type Query { a: Int } type B { a: Int } schema { query: Query query: ‸B }"),
    InvalidSchema(.uniqueTypeNames, "A", "type Query { a: Int }\nscalar A enum ‸A { B }"),
    InvalidSchema(.uniqueTypeNames, "Int", "type Query { a: Int } enum ‸Int { B }"),
    InvalidSchema(.uniqueDirectiveNames, "@d", "type Query { a: Int } directive @d on FIELD directive @‸d on FIELD"),
    InvalidSchema(.uniqueFieldDefinitionNames, "Query.a", "type Query { a: Int\n  ‸a: Int }"),
    InvalidSchema(.uniqueFieldDefinitionNames, "Query.a", "type Query { a: Int } extend type Query { ‸a: Int }"),
    InvalidSchema(.uniqueFieldDefinitionNames, "I.a", "type Query { a(i: I): Int } input I { a: Int ‸a: Int }"),
    InvalidSchema(.uniqueArgumentDefinitionNames, "Query.a(x:)", "type Query { a(x: Int, ‸x: Int): Int }"),
    InvalidSchema(.uniqueArgumentDefinitionNames, "@d(x:)", "type Query { a: Int } directive @d(x: Int ‸x: Int) on FIELD"),
    InvalidSchema(.uniqueEnumValueNames, "E.A", "type Query { a: E } enum E { A B ‸A }"),
    InvalidSchema(.uniqueUnionMembers, "U", "type Query { a: U } union U = Query | ‸Query"),
    InvalidSchema(.uniqueInterfaces, "Query", "type Query implements I & ‸I { a: Int } interface I { a: Int }"),
    InvalidSchema(.uniqueDirectiveLocations, "@d", "type Query { a: Int } directive @d on FIELD | ‸FIELD"),
    InvalidSchema(.knownDirectiveLocations, "@d", "type Query { a: Int } directive @d on FIELD | ‸PLACE"),
    InvalidSchema(.reservedNames, "__A", "type Query { a: Int } scalar ‸__A"),
    InvalidSchema(.reservedNames, "Query.__a", "type Query { ‸__a: Int }"),
    InvalidSchema(.reservedNames, "Query.a(__x:)", "type Query { a(‸__x: Int): Int }"),
    InvalidSchema(.reservedNames, "I.__a", "type Query { a(i: I): Int } input I { ‸__a: Int }"),
    InvalidSchema(.reservedNames, "E.__A", "type Query { a: E } enum E { ‸__A }"),
    InvalidSchema(.reservedNames, "@__d", "type Query { a: Int } directive @‸__d on FIELD"),
    InvalidSchema(.reservedNames, "E.true", "type Query { a: E } enum E { ‸true }"),
    InvalidSchema(.knownTypeNames, "Query.a", "type Query { a: [‸B!]! }"),
    InvalidSchema(.knownTypeNames, "Query.a(x:)", "type Query { a(x: ‸B): Int }"),
    InvalidSchema(.knownTypeNames, "Query", "type Query implements ‸B { a: Int }"),
    InvalidSchema(.knownTypeNames, "U", "type Query { a: U } union U = ‸B"),
    InvalidSchema(.knownTypeNames, "", "type Query { a: Int } schema { query: Query mutation: ‸B }"),
    InvalidSchema(.possibleTypeExtensions, "B", "type Query { a: Int }\nextend scalar ‸B"),
    InvalidSchema(.possibleTypeExtensions, "Query", "type Query { a: Int } extend interface ‸Query { b: Int }"),
    InvalidSchema(.possibleTypeExtensions, "Query", "extend union ‸Query type Query { a: Int }"),
    InvalidSchema(.possibleTypeExtensions, "", "type Query { a: Int } ‸\"text\" extend type Query { b: Int }"),
  ]

  static let types = [
    InvalidSchema(.rootTypes, "", "scalar ‸A"), InvalidSchema(.rootTypes, "", "type A { a: Int } ‸schema { mutation: A }"),
    InvalidSchema(.rootTypes, "Query", "interface ‸Query { a: Int }"),
    InvalidSchema(.rootTypes, "Query", "schema { query: Query subscription: ‸Query } type Query { a: Int }"),
    InvalidSchema(.rootTypes, "", "schema { query: Query ‸delete: Query } type Query { a: Int }"),
    InvalidSchema(.nonEmptyTypes, "Query", "type ‸Query"), InvalidSchema(.nonEmptyTypes, "Query", "type ‸Query {}"),
    InvalidSchema(.nonEmptyTypes, "I", "type Query { a: I } interface ‸I"),
    InvalidSchema(.nonEmptyTypes, "U", "type Query { a: U } union ‸U"),
    InvalidSchema(.nonEmptyTypes, "E", "type Query { a: E } enum ‸E"),
    InvalidSchema(.nonEmptyTypes, "I", "type Query { a(i: I): Int } input ‸I"),
    InvalidSchema(.outputTypes, "Query.a", "type Query { a: ‸I! } input I { a: Int }"),
    InvalidSchema(.inputTypes, "Query.a(x:)", "type Query { a(x: [‸Query]): Int }"),
    InvalidSchema(.inputTypes, "I.x", "type Query { a(i: I): Int } input I { x: ‸U } union U = Query"),
    InvalidSchema(.inputTypes, "@d(x:)", "type Query { a: Int } directive @d(x: ‸Query) on FIELD"),
    InvalidSchema(.unionMembers, "U", "type Query { a: U } union U = Query | ‸Int"),
    InvalidSchema(.unionMembers, "U", "type Query { a: U } union U = ‸U"),
    InvalidSchema(.requiredDeprecated, "Query.a(x:)", "type Query { a(‸x: Int! @deprecated): Int }"),
    InvalidSchema(.requiredDeprecated, "I.x", "type Query { a(i: I): Int } input I { ‸x: Int! @deprecated }"),
    InvalidSchema(.requiredDeprecated, "@d(x:)", "type Query { a: Int } directive @d(‸x: Int! @deprecated) on FIELD"),
    InvalidSchema(.oneOfFields, "I.a", "type Query { a(i: I): Int } input I @oneOf { ‸a: Int! }"),
    InvalidSchema(.oneOfFields, "I.a", "type Query { a(i: I): Int } input I @oneOf { ‸a: Int = 1 }"),
  ]

  static let interfaces = [
    InvalidSchema(.implementedInterfaces, "Query", "type Query implements ‸A { a: Int } type A { a: Int }"),
    InvalidSchema(.interfaceImplementations, "Query.b", "type Query implements ‸I { a: Int } interface I { a: Int b: Int }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { a: ‸Int } interface I { a: Int! }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { a: ‸Int } interface I { a: [Int] }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { a: [‸Int] } interface I { a: Int }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { a: [‸Int] } interface I { a: [Int!] }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { a: ‸B } interface I { a: I } type B { a: I }"),
    InvalidSchema(
      .interfaceImplementations, "Query.a",
      "type Query implements I { a: ‸B } interface I { a: U } union U = Query type B { b: U }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { ‸a: Int } interface I { a(x: Int): Int }"),
    InvalidSchema(
      .interfaceImplementations, "Query.a(x:)", "type Query implements I { a(x: ‸Int!): Int } interface I { a(x: Int): Int }"),
    InvalidSchema(
      .interfaceImplementations, "Query.a(x:)", "type Query implements I { a(‸x: Int!): Int } interface I { a: Int }"),
    InvalidSchema(.interfaceImplementations, "Query.a", "type Query implements I { ‸a: Int @deprecated } interface I { a: Int }"),
    InvalidSchema(
      .interfaceImplementations, "Query",
      "type Query implements ‸I { a: Int } interface I implements J { a: Int } interface J { a: Int }"),
    InvalidSchema(.interfaceCycles, "I", "type Query { a: I } interface ‸I implements I { a: Int }"),
    InvalidSchema(
      .interfaceCycles, "I",
      "interface ‸I implements J & K { a: Int } interface J implements K & I { a: Int } interface K implements I & J { a: Int } type Query { a: I }"
    ),
  ]

  static let cycles = [
    InvalidSchema(.inputObjectCycles, "I", "type Query { a(i: I): Int } input ‸I { i: I! }"),
    InvalidSchema(
      .inputObjectCycles, "I", "type Query { a(i: I): Int } input ‸I { j: J! } input J { k: K! n: Int } input K { i: I! }"),
    InvalidSchema(.inputObjectCycles, "I", "type Query { a(i: Z): Int } input Z { i: I! } input ‸I { i: I! }"),
    InvalidSchema(.inputObjectCycles, "I", "type Query { a(i: I): Int } input ‸I @oneOf { i: I }"),
    InvalidSchema(.inputObjectCycles, "I", "type Query { a(i: I): Int } input ‸I @oneOf { j: J } input J { i: I! }"),
    InvalidSchema(.defaultValueCycles, "I.i", "type Query { a(i: I): Int } input I { ‸i: I = {} }"),
    InvalidSchema(.defaultValueCycles, "I.i", "type Query { a(i: I): Int } input I { ‸i: [I] = [{n: 1}] n: Int }"),
    InvalidSchema(.defaultValueCycles, "I.i", "type Query { a(i: I): Int } input I { ‸i: I = {i: {}} }"),
    InvalidSchema(
      .defaultValueCycles, "I.j",
      "type Query { a(i: I): Int } input I { ‸j: J = {} n: Int = 1 } input J { i: I = {n: 2} m: J = {i: null, m: null} }"),
    InvalidSchema(
      .directiveCycles, "@d", "type Query { a: Int } directive @‸d(x: Int @d) on ARGUMENT_DEFINITION"),
    InvalidSchema(
      .directiveCycles, "@d",
      "type Query { a: Int } directive @‸d(x: Int @e) on ARGUMENT_DEFINITION directive @e(x: Int @d) on ARGUMENT_DEFINITION"),
    InvalidSchema(
      .directiveCycles, "@d",
      "type Query { a: Int } directive @‸d(i: I) on INPUT_FIELD_DEFINITION | ENUM_VALUE input I { j: J } input J { i: I e: E } enum E { A @d }"
    ),
  ]

  static let values = [
    ("Int", "2147483648"), ("Int", "1.0"), ("Int", "\"1\""), ("Float", "\"1\""), ("String", "1"), ("String", "A"),
    ("Boolean", "1"),
    ("ID", "1.5"), ("ID", "true"), ("E", "\"A\""), ("E", "B"), ("E", "1"), ("Int!", "null"), ("[Int!]", "[1, null]"),
    ("[Int]", "[[1]]"),
    ("I", "1"), ("I", "{}"), ("I", "{n: 1, m: 2}"), ("I", "{n: 1, n: 1}"), ("I", "{n: \"1\"}"), ("O", "{}"),
    ("O", "{a: 1, b: 2}"),
    ("O", "{a: null}"), ("Float", "1e999"),
  ].map { type, value in
    InvalidSchema(
      .defaultValues, "Query.a(x:)",
      "type Query { a(‸x: \(type) = \(value)): Int } enum E { A } input I { n: Int! } input O @oneOf { a: Int b: Int } scalar T")
  }

  static let directives = [
    InvalidSchema(.knownDirectives, "Query", "type Query ‸@d { a: Int }"),
    InvalidSchema(.knownDirectives, "Query", "type Query ‸@d { a: Int } directive @d on FIELD"),
    InvalidSchema(.knownDirectives, "Query", "type Query ‸@deprecated { a: Int }"),
    InvalidSchema(.knownDirectives, "Query.a", "type Query { a: Int ‸@d }"),
    InvalidSchema(.knownDirectives, "Query.a(x:)", "type Query { a(x: Int ‸@d): Int }"),
    InvalidSchema(.knownDirectives, "I.x", "type Query { a(i: I): Int } input I { x: Int ‸@d }"),
    InvalidSchema(.knownDirectives, "E.A", "type Query { a: E } enum E { A ‸@d }"),
    InvalidSchema(.knownDirectives, "", "type Query { a: Int } extend schema ‸@d"),
    InvalidSchema(.knownDirectives, "@e(x:)", "type Query { a: Int } directive @e(x: Int ‸@d) on FIELD"),
    InvalidSchema(.uniqueDirectivesPerLocation, "Query", "type Query @d ‸@d { a: Int } directive @d on OBJECT"),
    InvalidSchema(.uniqueDirectivesPerLocation, "Query", "type Query @d { a: Int } extend type Query ‸@d directive @d on OBJECT"),
    InvalidSchema(.uniqueDirectivesPerLocation, "Query.a", "type Query { a: Int @deprecated ‸@deprecated }"),
    InvalidSchema(
      .uniqueDirectivesPerLocation, "T", "type Query { a: T } scalar T @specifiedBy(url: \"a\") ‸@specifiedBy(url: \"b\")"),
    InvalidSchema(.knownArgumentNames, "Query", "type Query ‸@d(x: 1) { a: Int } directive @d on OBJECT"),
    InvalidSchema(.knownArgumentNames, "Query.a", "type Query { a: Int ‸@deprecated(why: \"x\") }"),
    InvalidSchema(.uniqueArgumentNames, "Query", "type Query ‸@d(x: 1, x: 1) { a: Int } directive @d(x: Int) on OBJECT"),
    InvalidSchema(.providedRequiredArguments, "Query", "type Query ‸@d { a: Int } directive @d(x: Int!) on OBJECT"),
    InvalidSchema(.providedRequiredArguments, "T", "type Query { a: T } scalar T ‸@specifiedBy"),
    InvalidSchema(.valuesOfCorrectType, "Query", "type Query ‸@d(x: \"1\") { a: Int } directive @d(x: Int!) on OBJECT"),
    InvalidSchema(.valuesOfCorrectType, "Query.a", "type Query { a: Int ‸@deprecated(reason: 1) }"),
  ]
}
