import Carabiner
import CarabinerSchema
import Testing

@Suite("Store: the schema of a policy")
struct StoreSchemaTests {
  private static let text =
    "type Query { a(x: Int): A u: U } type A implements N { id: ID! } interface N { id: ID! } union U = A | Query"

  @Test(
    "a policy is equal to one with another schema if the store uses the same parts of both",
    arguments: [
      ("\"text\" \(text) enum E { B }", true), ("type Query { u: U a: [A!] } type A implements N { id: Int! }", false),
      (text.replacing("a(x: Int)", with: "a(x: Int!)"), false), (text.replacing("a(x: Int): A", with: "a: [A!]"), true),
      (text.replacing("U = A | Query", with: "U = A"), false), (text.replacing(" implements N", with: ""), false),
      ("\(text) schema { query: A }", false), ("\(text) extend type A { b: Int }", false),
    ])
  func equality(_ other: String, _ isEqual: Bool) throws {
    let policy = CacheKeyPolicy(schema: try Schema(parsing: Self.text))
    let second = CacheKeyPolicy(schema: try Schema(parsing: other))
    #expect((policy == second) == isEqual)
    #expect(!isEqual || policy.hashValue == second.hashValue)
    #expect(policy != CacheKeyPolicy.default)
  }

  @Test("a schema that is set later counts, and is returned as it was set")
  func change() throws {
    var policy = CacheKeyPolicy(keyFields: ["N": ["uid"]])
    #expect(policy.keyFields(of: "A") == ["id"])
    policy.schema = try Schema(parsing: Self.text)
    #expect(policy.keyFields(of: "A") == ["uid"])
    #expect(try policy.schema == Schema(parsing: Self.text))
    policy.schema = nil
    #expect(policy.keyFields(of: "A") == ["id"])
  }
}
