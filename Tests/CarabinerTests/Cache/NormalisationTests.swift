import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Normalised store: records and keys")
struct NormalisationTests {
  private let store = ApolloStore()

  @Test("an object with an id is one record under its type and id, whatever refers to it", .rule("store.1"))
  func objectKeys() async throws {
    let query = DynamicOperation.query("{ hero { __typename id name friends { __typename id name } } }")
    try await store.publish(
      #"{"hero":{"__typename":"Droid","id":"1","name":"R2","friends":[{"__typename":"Human","id":2,"name":"Luke"},null,{"__typename":"Droid","id":"1","name":"R2-D2"}]}}"#,
      for: query)
    #expect(try await store.keys() == ["Droid:1", "Human:2", "QUERY_ROOT"])
    #expect(try await store.record("QUERY_ROOT") == json(##"{"hero":{"$ref":"Droid:1"}}"##))
    #expect(try await store.record("Droid:1")?["friends"] == json(##"[{"$ref":"Human:2"},null,{"$ref":"Droid:1"}]"##))
  }

  @Test("an object without a key is kept under its path, its parts under its parent's key", .rule("store.1"))
  func pathKeys() async throws {
    let query = DynamicOperation.query("{ hero { name friends { name } } grid(x: 1) { v } ship { __typename id dock { name } } }")
    try await store.publish(
      #"{"hero":{"name":"R2","friends":[{"name":"Luke"}]},"grid":[[{"v":1}],[{"v":2},{"v":3}]],"ship":{"__typename":"Ship","id":7,"dock":{"name":"Mos"}}}"#,
      for: query)
    #expect(
      try await store.keys() == [
        "QUERY_ROOT", "QUERY_ROOT.grid(x:1).0.0", "QUERY_ROOT.grid(x:1).1.0", "QUERY_ROOT.grid(x:1).1.1", "QUERY_ROOT.hero",
        "QUERY_ROOT.hero.friends.0", "Ship:7", "Ship:7.dock",
      ])
    #expect(try await store.data(query)?["grid"] == json(#"[[{"v":1}],[{"v":2},{"v":3}]]"#))
  }

  @Test(
    "roots are named by the kind of the operation", .rule("store.1"),
    arguments: [
      ("query", GraphQLOperationType.query, "QUERY_ROOT"), ("mutation", .mutation, "MUTATION_ROOT"),
      ("subscription", .subscription, "SUBSCRIPTION_ROOT"),
    ])
  func roots(_ word: String, _ type: GraphQLOperationType, _ root: String) async throws {
    try await store.publish(#"{"a":1}"#, for: DynamicOperation(document: "\(word) { a }", operationType: type))
    #expect(try await store.keys() == [root])
  }

  @Test("several key fields are joined with + and escaped, so that no two objects share a key", .rule("store.1"))
  func severalKeyFields() async throws {
    let store = ApolloStore(policy: CacheKeyPolicy(keyFields: ["Book": ["shelf", "isbn"], "Note": []]))
    let query = DynamicOperation.query("{ books { __typename i: isbn shelf } note { __typename id } }")
    try await store.publish(
      #"{"books":[{"__typename":"Book","i":"b+c","shelf":"a"},{"__typename":"Book","i":"c","shelf":"a+b"},{"__typename":"Book","i":9,"shelf":"x\\y"}],"note":{"__typename":"Note","id":1}}"#,
      for: query)
    #expect(
      try await store.keys() == [#"Book:a+b\+c"#, #"Book:a\+b+c"#, #"Book:x\\y+9"#, "QUERY_ROOT", "QUERY_ROOT.note"])
  }

  @Test("an id that is null, missing or an object gives no key", .rule("store.1"))
  func unusableIDs() async throws {
    let query = DynamicOperation.query("{ a { __typename id } b { __typename id } c { __typename id } }")
    try await store.publish(
      #"{"a":{"__typename":"T","id":null},"b":{"__typename":"T"},"c":{"__typename":"T","id":{"x":1}}}"#, for: query)
    #expect(try await store.keys() == ["QUERY_ROOT", "QUERY_ROOT.a", "QUERY_ROOT.b", "QUERY_ROOT.c"])
  }

  @Test("keys with quotes, backslashes and other alphabets survive", .rule("store.1"))
  func oddKeys() async throws {
    let query = DynamicOperation.query("{ hero { __typename id name } }")
    let data = #"{"hero":{"__typename":"T","id":"a\"b\\c\u00e9\n","name":"\u0041"}}"#
    try await store.publish(data, for: query)
    #expect(try await store.keys() == ["QUERY_ROOT", "T:a\"b\\cé\n"])
    #expect(try await store.data(query) == json(data))
  }

  @Test(
    "arguments are part of a field's key, sorted and unambiguous", .rule("store.2"),
    arguments: [
      ("f(b: {k: 1, a: [2, null]}, a: \"x\")", "f(a:x,b:[a:[2,null],k:1])"),
      ("f(a: JEDI)", "f(a:JEDI)"), ("f(a: \"JEDI\")", "f(a:JEDI)"), ("f(a: \"1\")", #"f(a:"1")"#), ("f(a: 1)", "f(a:1)"),
      ("f(a: \"a,b:c\")", #"f(a:"a,b:c")"#), ("f(a: \"true\")", #"f(a:"true")"#), ("f(a: true)", "f(a:true)"),
      ("f(a: {})", "f(a:[:])"), ("f(a: [])", "f(a:[])"), ("f(a: 1.50)", "f(a:1.50)"), ("f(a: \"\")", #"f(a:"")"#),
    ])
  func arguments(_ field: String, _ key: String) async throws {
    try await store.publish(#"{"f":1}"#, for: .query("{ \(field) }"))
    #expect(try await store.record("QUERY_ROOT") == .object([key: 1]))
  }

  @Test("variables and their defaults are in a key as their values", .rule("store.2"))
  func variables() async throws {
    let document = "query($a: Int = 5, $b: String, $c: In) { f(a: $a, b: $b, c: $c) }"
    try await store.publish(#"{"f":1}"#, for: .query(document))
    try await store.publish(#"{"f":2}"#, for: .query(document, ["a": 6, "b": nil, "c": ["y": 1, "x": [2]]]))
    #expect(try await store.record("QUERY_ROOT") == .object(["f(a:5)": 1, "f(a:6,b:null,c:[x:[2],y:1])": 2]))
    #expect(try await store.data(.query("{ f(a: 5) }")) == ["f": 1])
    #expect(try await store.data(.query(document, ["a": 7])) == nil)
  }

  @Test("aliases do not matter", .rule("store.2"))
  func aliases() async throws {
    try await store.publish(
      #"{"one":{"t":"Human","key":"1","n":"Luke"},"two":2}"#,
      for: .query("{ one: hero(e: A) { t: __typename key: id n: name } two: hero2 }"))
    #expect(try await store.keys() == ["Human:1", "QUERY_ROOT"])
    #expect(try await store.data(.query("{ hero(e: A) { name } x: hero2 }")) == ["hero": ["name": "Luke"], "x": 2])
  }

  @Test("@include and @skip are respected with variables, defaults and constants, on fields and fragments", .rule("store.2"))
  func conditions() async throws {
    let document = """
      query($x: Boolean = true, $y: Boolean!) {
        a b @include(if: $x) c @skip(if: $y) d @skip(if: true) e @include(if: false)
        ... @include(if: $y) { f } ...G @skip(if: $x)
      }
      fragment G on Query { g }
      """
    try await store.publish(#"{"a":1,"b":2,"c":3}"#, for: .query(document, ["y": false]))
    #expect(try await store.data(.query(document, ["y": false])) == ["a": 1, "b": 2, "c": 3])
    #expect(try await store.data(.query(document, ["y": true])) == nil)
    #expect(try await store.data(.query(document, ["x": false, "y": false])) == nil)
    try await store.publish(#"{"a":1,"f":6,"g":7}"#, for: .query(document, ["x": false, "y": true]))
    #expect(try await store.data(.query(document, ["x": false, "y": true])) == ["a": 1, "f": 6, "g": 7])
  }

  @Test("fields of one name are merged with all that is asked of them", .rule("store.2"))
  func merging() async throws {
    let document = "{ hero { name } ...F hero { id __typename } } fragment F on Query { hero { friends { name } } }"
    let data = #"{"hero":{"name":"R2","friends":[{"name":"Luke"}],"id":1,"__typename":"Droid"}}"#
    try await store.publish(data, for: .query(document))
    #expect(try await store.keys().contains("Droid:1"))
    #expect(try await store.data(.query(document)) == json(data))
  }

  @Test("a recursive fragment goes as deep as the response, and one directly within itself ends", .rule("store.2"))
  func recursiveFragments() async throws {
    let document = "{ node { ...N } } fragment N on Node { v next { ...N } ...N }"
    try await store.publish(#"{"node":{"v":1,"next":{"v":2,"next":{"v":3,"next":null}}}}"#, for: .query(document))
    #expect(try await store.record("QUERY_ROOT.node.next.next")?["v"] == 3)
    #expect(try await store.data(.query(document))?["node"]?["next"]?["next"]?["v"] == 3)
  }

  @Test("two operations of one document have different records, and variables' order does not matter")
  func operationsOfOneDocument() async throws {
    let document = "query A($x: Int, $y: Int) { f(x: $x, y: $y) } query B { g }"
    try await store.publish(#"{"f":1}"#, for: .query(document, name: "A", ["x": 1, "y": 2]))
    #expect(try await store.data(.query(document, name: "A", ["y": 2, "x": 1])) == ["f": 1])
    #expect(try await store.data(.query(document, name: "B")) == nil)
  }

  @Test(
    "a response that cannot be taken apart is kept whole",
    arguments: [
      ("{ broken", #"{"a":1}"#), ("query A { a } query B { b }", #"{"a":1}"#), ("{ ...Unknown }", #"{"a":1}"#),
      ("{ hero { name } }", #"{"hero":"a string"}"#), ("{ hero { name } }", #"{"hero":[{"name":1},2]}"#),
    ])
  func whole(_ document: String, _ data: String) async throws {
    let query = DynamicOperation.query(document, ["v": 1])
    try await store.publish(data, for: query)
    #expect(try await store.data(query) == json(data))
    #expect(try await store.data(.query(document, ["v": 2])) == nil)
    #expect(try await store.keys().count == 1)
  }

  @Test("custom scalars keep their text: objects, lists, long numbers")
  func customScalars() async throws {
    let query = DynamicOperation.query("{ a b c d }")
    let data = #"{"a":{"$ref":"no reference"},"b":[[1.10]],"c":12345678901234567890.10,"d":"\u00e9"}"#
    try await store.publish(data, for: query)
    let body = try #require(try await store.load(query)).body
    #expect(String(decoding: body.bytes, as: UTF8.self) == #"{"data":\#(data)}"#)
  }

  @Test("names of 1 to 40 bytes are not confused with names that differ in one byte", arguments: [false, true])
  func similarNames(isReversed: Bool) async throws {
    let names = (1...40).map { String(repeating: "n", count: $0) }
    let operation = DynamicOperation.query("{ \(names.joined(separator: " ")) }")
    var members = names.flatMap { name in
      let similar = (0..<name.count).map { place in String(name.prefix(place)) + "m" + String(name.dropFirst(place + 1)) }
      return similar.map { #""\#($0)":"wrong""# } + [#""\#(name)":\#(name.count)"#]
    }
    if isReversed { members.reverse() }
    let store = ApolloStore()
    try await store.publish("{\(members.joined(separator: ","))}", for: operation)
    let data = try await store.data(operation)?.object
    for name in names { #expect(data?[name] == JSONValue(integerLiteral: name.count)) }
  }
}
