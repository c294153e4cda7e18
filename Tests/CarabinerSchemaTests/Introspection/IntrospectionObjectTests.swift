import CarabinerWire
import TestTools
import Testing

@testable import CarabinerSchema

@Suite("Schemas: answering introspection")
struct IntrospectionObjectTests {
  private func json(_ value: IntrospectionValue, in schema: Schema, isWhole: Bool = true) -> JSONValue {
    switch value {
    case .leaf(let leaf): return leaf
    case .list(let values): return .array(values.map { json($0, in: schema, isWhole: isWhole) })
    case .object(let object):
      var members = JSONObject()
      let fields = Schema.introspection.type(named: object.typeName)?.fields ?? []
      for field in fields where isWhole || ["kind", "name", "ofType"].contains(field.name) {
        // The whole of a type is in the list of types only.
        let isType = field.type.name == "__Type"
        let value = schema.introspection(field.name, of: object, arguments: ["includeDeprecated": true])
        members[field.name] = json(value, in: schema, isWhole: !isType || field.name == "types")
      }
      return .object(members)
    }
  }

  @Test("a schema describes all of itself", .rule("schema.2"), arguments: IntrospectionSample.all)
  func whole(_ sample: IntrospectionSample) throws {
    let schema = try Schema(parsing: sample.text)
    let value = try #require(schema.introspection("__schema", arguments: [:]))
    #expect(try Schema(introspection: ["__schema": json(value, in: schema)]) == schema)
  }

  @Test("deprecated fields, values and arguments are described on request", .rule("schema.2"))
  func deprecated() throws {
    let schema = try Schema(
      parsing: """
        type Query { a(x: Int, y: Int @deprecated): E b: Int @deprecated(reason: "old") }
        enum E { A B @deprecated }
        input I { x: Int y: Int @deprecated }
        """)
    func count(_ type: String, _ field: String, all: Bool) throws -> Int? {
      guard case .object(let object) = try #require(schema.introspection("__type", arguments: ["name": .string(type)])) else {
        return nil
      }
      return json(
        schema.introspection(field, of: object, arguments: all ? ["includeDeprecated": true] : [:]), in: schema, isWhole: false
      ).array?.count
    }
    for (type, field) in [("Query", "fields"), ("E", "enumValues"), ("I", "inputFields")] {
      #expect(try count(type, field, all: false) == 1)
      #expect(try count(type, field, all: true) == 2)
    }
  }

  @Test(
    "each query for introspection is valid, up to the deepest type", .rule("schema.2"),
    arguments: IntrospectionQuery.Edition.allCases)
  func queries(_ edition: IntrospectionQuery.Edition) throws {
    var validator = DocumentValidator(schema: try Schema(parsing: "type Query { a: Int }"))
    validator.limits = GraphQLLimits(maximumDepth: 2 * IntrospectionQuery.maximumLevels)
    for levels in [IntrospectionQuery.usualLevels, IntrospectionQuery.maximumLevels] {
      #expect(try validator.problems(in: IntrospectionQuery(edition, levels: levels).document) == [])
    }
  }
}
