import CarabinerSchema
import TestTools
import Testing

@Suite("Schemas: differences")
struct SchemaDifferenceTests {
  /// Two versions of a part of a schema, and the only difference.
  struct Change: Sendable {
    let kind: SchemaDifference.Kind
    let severity: SchemaDifference.Severity
    let coordinate: String
    let old: String
    let new: String

    init(
      _ kind: SchemaDifference.Kind, _ severity: SchemaDifference.Severity, _ coordinate: String, _ old: String, _ new: String
    ) {
      self.kind = kind
      self.severity = severity
      self.coordinate = coordinate
      self.old = old
      self.new = new
    }
  }

  static let breaking = [
    Change(.typeRemoved, .breaking, "A", "scalar A", ""), Change(.typeChangedKind, .breaking, "A", "scalar A", "enum A { B }"),
    Change(.typeRemovedFromUnion, .breaking, "U", "type A { a: Int } union U = A | Query", "type A { a: Int } union U = Query"),
    Change(.valueRemovedFromEnum, .breaking, "E.B", "enum E { A B }", "enum E { A }"),
    Change(.requiredInputFieldAdded, .breaking, "I.b", "input I { a: Int }", "input I { a: Int b: Int! }"),
    Change(
      .implementedInterfaceRemoved, .breaking, "A", "interface N { a: Int } type A implements N { a: Int }",
      "interface N { a: Int } type A { a: Int }"),
    Change(.fieldRemoved, .breaking, "A.b", "type A { a: Int b: Int }", "type A { a: Int }"),
    Change(.fieldRemoved, .breaking, "I.b", "input I { a: Int b: Int }", "input I { a: Int }"),
    Change(.fieldChangedKind, .breaking, "A.a", "type A { a: Int }", "type A { a: String }"),
    Change(.fieldChangedKind, .breaking, "A.a", "type A { a: Int! }", "type A { a: Int }"),
    Change(.fieldChangedKind, .breaking, "A.a", "type A { a: Int }", "type A { a: [Int] }"),
    Change(.fieldChangedKind, .breaking, "A.a", "type A { a: [Int!] }", "type A { a: [Int] }"),
    Change(.fieldChangedKind, .breaking, "I.a", "input I { a: Int }", "input I { a: Int! }"),
    Change(.fieldChangedKind, .breaking, "I.a", "input I { a: [Int] }", "input I { a: [Int!] }"),
    Change(.requiredArgumentAdded, .breaking, "A.a(x:)", "type A { a: Int }", "type A { a(x: Int!): Int }"),
    Change(.argumentRemoved, .breaking, "A.a(x:)", "type A { a(x: Int): Int }", "type A { a: Int }"),
    Change(.argumentChangedKind, .breaking, "A.a(x:)", "type A { a(x: Int): Int }", "type A { a(x: Int!): Int }"),
    Change(.argumentDefaultValueChange, .breaking, "A.a(x:)", "type A { a(x: Int! = 1): Int }", "type A { a(x: Int!): Int }"),
    Change(.directiveRemoved, .breaking, "@d", "directive @d on FIELD", ""),
    Change(.directiveArgumentRemoved, .breaking, "@d(x:)", "directive @d(x: Int) on FIELD", "directive @d on FIELD"),
    Change(.requiredDirectiveArgumentAdded, .breaking, "@d(x:)", "directive @d on FIELD", "directive @d(x: Int!) on FIELD"),
    Change(.directiveRepeatableRemoved, .breaking, "@d", "directive @d repeatable on FIELD", "directive @d on FIELD"),
    Change(.directiveLocationRemoved, .breaking, "@d", "directive @d on FIELD | QUERY", "directive @d on FIELD"),
    Change(
      .rootTypeChanged, .breaking, "A", "type A { a: Int } schema { query: Query mutation: A }",
      "type A { a: Int } schema { query: Query }"),
    Change(.oneOfAdded, .breaking, "I", "input I { a: Int }", "input I @oneOf { a: Int }"),
  ]

  static let dangerous = [
    Change(.valueAddedToEnum, .dangerous, "E.B", "enum E { A }", "enum E { B A }"),
    Change(.typeAddedToUnion, .dangerous, "U", "type A { a: Int } union U = A", "type A { a: Int } union U = A | Query"),
    Change(.optionalInputFieldAdded, .dangerous, "I.b", "input I { a: Int }", "input I { a: Int b: Int! = 1 }"),
    Change(.optionalArgumentAdded, .dangerous, "A.a(x:)", "type A { a: Int }", "type A { a(x: Int): Int }"),
    Change(
      .implementedInterfaceAdded, .dangerous, "A", "interface N { a: Int } type A { a: Int }",
      "interface N { a: Int } type A implements N { a: Int }"),
    Change(.argumentDefaultValueChange, .dangerous, "A.a(x:)", "type A { a(x: Int = 1): Int }", "type A { a(x: Int = 2): Int }"),
    Change(.argumentDefaultValueChange, .dangerous, "A.a(x:)", "type A { a(x: Int = 1): Int }", "type A { a(x: Int): Int }"),
  ]

  static let safe = [
    Change(.typeAdded, .safe, "A", "", "scalar A"),
    Change(.fieldAdded, .safe, "A.b", "type A { a: Int }", "type A { a: Int b: Int }"),
    Change(.fieldChangedKindSafe, .safe, "A.a", "type A { a: [Int] }", "type A { a: [Int!]! }"),
    Change(.fieldChangedKindSafe, .safe, "I.a", "input I { a: [Int!]! }", "input I { a: [Int] }"),
    Change(.argumentChangedKindSafe, .safe, "A.a(x:)", "type A { a(x: Int!): Int }", "type A { a(x: Int): Int }"),
    Change(.argumentDefaultValueAdded, .safe, "A.a(x:)", "type A { a(x: Int): Int }", "type A { a(x: Int = 1): Int }"),
    Change(.directiveAdded, .safe, "@d", "", "directive @d on FIELD"),
    Change(.optionalDirectiveArgumentAdded, .safe, "@d(x:)", "directive @d on FIELD", "directive @d(x: Int) on FIELD"),
    Change(.directiveRepeatableAdded, .safe, "@d", "directive @d on FIELD", "directive @d repeatable on FIELD"),
    Change(.directiveLocationAdded, .safe, "@d", "directive @d on FIELD", "directive @d on QUERY | FIELD"),
    Change(.descriptionChanged, .safe, "A", "scalar A", "\"text\" scalar A"),
    Change(.descriptionChanged, .safe, "A.a(x:)", "type A { a(\"one\" x: Int): Int }", "type A { a(\"two\" x: Int): Int }"),
    Change(.oneOfRemoved, .safe, "I", "input I @oneOf { a: Int }", "input I { a: Int }"),
    Change(.deprecationChanged, .safe, "E.A", "enum E { A }", "enum E { A @deprecated }"),
    Change(.deprecationChanged, .safe, "A.a", "type A { a: Int @deprecated }", "type A { a: Int }"),
    Change(
      .rootTypeChanged, .safe, "A", "type A { a: Int } schema { query: Query }",
      "type A { a: Int } schema { query: Query mutation: A }"),
  ]

  @Test("a breaking difference is found", .rule("schema.5"), arguments: breaking)
  func findsBreaking(_ change: Change) throws { try expectOnlyDifference(change) }

  @Test("a dangerous difference is found", .rule("schema.5"), arguments: dangerous)
  func findsDangerous(_ change: Change) throws { try expectOnlyDifference(change) }

  @Test("a safe difference is found", .rule("schema.5"), arguments: safe)
  func findsSafe(_ change: Change) throws { try expectOnlyDifference(change) }

  private func expectOnlyDifference(_ change: Change) throws {
    let old = try Schema(parsing: "type Query { q: Int } \(change.old)")
    let new = try Schema(parsing: "\(change.new) type Query { q: Int }")
    let differences = new.differences(since: old)
    #expect(differences.map(\.kind) == [change.kind], "\(differences)")
    #expect(differences.map(\.severity) == [change.severity])
    #expect(differences.map(\.coordinate) == [change.coordinate])
    #expect(differences.first?.description.hasSuffix("[\(change.kind.rawValue)]") == true)
    #expect(old.differences(since: old) == [])
  }

  @Test("each kind of difference has an example", .rule("schema.5"))
  func completeness() {
    #expect(Set((Self.breaking + Self.dangerous + Self.safe).map(\.kind)) == Set(SchemaDifference.Kind.allCases))
  }

  @Test("order is not a difference, of definitions and within default values", .rule("schema.5"))
  func order() throws {
    let old = try Schema(parsing: "type Query { a(i: I = {x: 1, y: [2]}): E b: Int } enum E { A B } input I { x: Int y: [Int] }")
    let new = try Schema(parsing: "input I { y: [Int] x: Int } enum E { B A } type Query { b: Int a(i: I = {y: [2], x: 1}): E }")
    #expect(new.differences(since: old) == [])
  }

  @Test("several differences are all reported", .rule("schema.5"))
  func several() throws {
    let old = try Schema(parsing: "type Query { a: Int b: Int! } enum E { A }")
    let new = try Schema(parsing: "type Query { b: Int c: Int } enum E { B }")
    #expect(
      new.differences(since: old).map(\.message) == [
        "the field Query.a was removed", "the field Query.c was added", "the type of Query.b was Int! and is Int",
        "the value E.A was removed", "the value E.B was added",
      ])
  }

  @Test("a generated schema of 70,000 lines is compared with one of another seed", .rule("schema.5"))
  func large() throws {
    let old = try Schema(parsing: GeneratedSchema.text(lines: 70_000, seed: 1))
    let new = try Schema(parsing: GeneratedSchema.text(lines: 70_000, seed: 2))
    let differences = new.differences(since: old)
    #expect(Set(differences.map(\.severity)) == Set(SchemaDifference.Severity.allCases))
    #expect(try Schema(parsing: old.text()).differences(since: old) == [])
  }
}
