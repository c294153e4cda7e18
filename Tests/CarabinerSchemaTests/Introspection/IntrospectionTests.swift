import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Schemas: reading introspection results")
struct IntrospectionTests {
  @Test(
    "an introspection result and the text of the same schema are equal", .rule("schema.2"), arguments: IntrospectionSample.all)
  func equality(_ sample: IntrospectionSample) throws {
    let schema = try Schema(introspection: sample.result)
    #expect(try schema == Schema(parsing: sample.text))
    #expect(try schema.text(isSorted: true) == Schema(parsing: sample.text).text(isSorted: true))
    #expect(try Schema(parsing: schema.text()) == schema)
    #expect(schema.types.allSatisfy { $0.location == nil })
  }

  @Test("samples of different editions are not equal", .rule("schema.2"))
  func difference() throws {
    let schemas = try IntrospectionSample.all.map { try Schema(introspection: $0.result) }
    #expect(Set(schemas).count == schemas.count)
  }

  @Test(
    "the depth of types is not limited by the usual query", .rule("schema.2"),
    arguments: [1, 10, Schema.TypeReference.maximumListDepth])
  func typeDepth(_ depth: Int) throws {
    let inner = #"{"kind": "SCALAR", "name": "Int"}"#
    let type = (0..<depth).reduce(inner) { type, _ in
      #"{"kind": "NON_NULL", "ofType": {"kind": "LIST", "ofType": \#(type)}}"#
    }
    let expected = String(repeating: "[", count: depth) + "Int" + String(repeating: "]!", count: depth)
    #expect(try Schema(introspection: Self.result(type: type)).field("a", of: "Query")?.type.description == expected)
  }

  @Test("a type that is nested too deep is refused", .rule("schema.2", "schema.6"), arguments: [64, 200, 10_000])
  func tooDeep(_ depth: Int) {
    let type = (0..<depth).reduce(#"{"kind": "SCALAR", "name": "Int"}"#) { type, _ in #"{"kind": "LIST", "ofType": \#(type)}"# }
    let error = #expect(throws: SchemaError.self) { try Schema(introspection: Self.result(type: type)) }
    #expect(error?.code == .tooDeep)
  }

  @Test(
    "a result with a fault is refused, and the message names the place", .rule("schema.2"),
    arguments: [
      (#"{"kind": "LIST", "ofType": null}"#, "Query.a: its type is incomplete"),
      (
        #"{"kind": "NON_NULL", "ofType": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}}"#,
        "two exclamation marks"
      ),
      (#"{"kind": "SCALAR"}"#, "Query.a: a name is missing"),
      (#"{"kind": "SCALAR", "name": "1x"}"#, "Query.a: a name is missing"),
      ("3", "Query.a: its type is incomplete"),
    ])
  func faults(_ type: String, _ message: String) {
    let error = #expect(throws: SchemaError.self) { try Schema(introspection: Self.result(type: type)) }
    #expect(error?.code == .notIntrospection)
    #expect(error?.message.contains(message) == true)
  }

  @Test(
    "a text that is not an introspection result is refused", .rule("schema.2"),
    arguments: [
      ("", SchemaError.Code.notJSON), ("{", .notJSON), ("[]", .notIntrospection), (#"{"data": null}"#, .notIntrospection),
      (#"{"__schema": {}}"#, .notIntrospection), (#"{"__schema": {"types": [1]}}"#, .notIntrospection),
      (#"{"__schema": {"types": [{"name": "A", "kind": "THING"}]}}"#, .notIntrospection),
      (#"{"__schema": {"types": [{"name": "A", "kind": "ENUM", "enumValues": [{}]}]}}"#, .notIntrospection),
      (#"{"__schema": {"types": [{"name": "A", "kind": "OBJECT", "fields": {}}]}}"#, .notIntrospection),
      (#"{"__schema": {"types": [], "queryType": 1}}"#, .notIntrospection),
    ])
  func refused(_ text: String, _ code: SchemaError.Code) {
    let error = #expect(throws: SchemaError.self) { try Schema(introspection: text) }
    #expect(error?.code == code)
  }

  @Test("the message of a server that refuses introspection is shown", .rule("schema.2"))
  func serverMessage() {
    let error = #expect(throws: SchemaError.self) {
      try Schema(introspection: #"{"errors": [{"message": "introspection is off"}]}"#)
    }
    #expect(error?.description.hasSuffix("the server answered: introspection is off") == true)
  }

  @Test("a default value that is not a value is refused", .rule("schema.2"), arguments: ["", "{", "1 2", "$v", "[1", "'a'"])
  func defaultValues(_ value: String) {
    let argument = #"{"name": "x", "type": {"kind": "SCALAR", "name": "Int"}, "defaultValue": \#(JSONValue.string(value))}"#
    let error = #expect(throws: SchemaError.self) {
      try Schema(introspection: Self.result(type: #"{"kind": "SCALAR", "name": "Int"}"#, arguments: argument))
    }
    #expect(error?.message.contains("Query.a(x:): its default value") == true)
  }

  @Test("an introspection result that names types it does not define is refused", .rule("schema.6"))
  func undefinedTypes() {
    let error = #expect(throws: SchemaError.self) {
      try Schema(introspection: Self.result(type: #"{"kind": "OBJECT", "name": "Missing"}"#))
    }
    #expect(error?.code == .undefinedType)
    #expect(error?.message.contains("Missing") == true)
  }

  @Test("an introspection result that is too large is refused before it is read", .rule("schema.6"))
  func tooLarge() {
    let text = String(decoding: [UInt8](repeating: UInt8(ascii: "{"), count: 200_000_000), as: UTF8.self)
    #expect(throws: SchemaError.self) { try Schema(introspection: text) }
    let error = #expect(throws: SchemaError.self) {
      try Schema(introspection: IntrospectionSample.all[0].result, limits: SchemaLimits(maximumIntrospectionBytes: 100))
    }
    #expect(error?.code == .tooLarge)
  }

  /// A result with one field of a type.
  private static func result(type: String, arguments: String = "") -> String {
    """
    {"__schema": {"queryType": {"name": "Query"}, "types": [
      {"kind": "OBJECT", "name": "Query", "fields": [{"name": "a", "args": [\(arguments)], "type": \(type)}]}]}}
    """
  }
}
