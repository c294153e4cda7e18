import Carabiner
import CarabinerWire
import Testing

@Suite("Normalised store: keys of objects by a function")
struct ObjectKeyTests {
  private static let isbn = ObjectKeyFunction { $0["isbn"]?.string }

  private func store(_ function: ObjectKeyFunction = Self.isbn, keyFields: [String] = ["id"]) -> ApolloStore {
    ApolloStore(policy: CacheKeyPolicy(defaultKeyFields: keyFields, objectKey: function))
  }

  @Test("the text of the function is the whole key, and nil means the path")
  func wholeKey() async throws {
    let store = store()
    let query = DynamicOperation.query("{ book { __typename isbn author { name } } }")
    try await store.publish(#"{"book":{"__typename":"Book","isbn":"x-1","author":{"name":"Lem"}}}"#, for: query)
    #expect(try await store.keys() == ["QUERY_ROOT", "x-1", "x-1.author"])
    #expect(try await store.data(query) == json(#"{"book":{"__typename":"Book","isbn":"x-1","author":{"name":"Lem"}}}"#))
  }

  @Test("an object that has a key by its key fields keeps it", arguments: [["id"], []])
  func keyFieldsWin(keyFields: [String]) async throws {
    let store = store(keyFields: keyFields)
    try await store.publish(
      #"{"book":{"__typename":"Book","id":7,"isbn":"x-1"}}"#, for: .query("{ book { __typename id isbn } }"))
    #expect(try await store.keys() == ["QUERY_ROOT", keyFields.isEmpty ? "x-1" : "Book:7"].sorted())
  }

  @Test("the function is asked once for each object but the root, and sees the names of the response")
  func objects() async throws {
    let journal = Journal()
    let function = ObjectKeyFunction { object in
      journal.note(String(decoding: JSONValue.object(object).serialized(), as: UTF8.self))
      return nil
    }
    let query = DynamicOperation.query("{ first: book(n: 1) { code: isbn pages tags } list { name parts { n } } none { n } }")
    let data =
      #"{"first":{"code":"\u0041","pages":1.50,"tags":[true,null,{"free":[]}]},"list":[{"name":"a","parts":[[{"n":1}],[]]},null],"none":null}"#
    try await store(function).publish(data, for: query)
    #expect(
      journal.entries == [
        #"{"code":"A","pages":1.50,"tags":[true,null,{"free":[]}]}"#, #"{"name":"a","parts":[[{"n":1}],[]]}"#, #"{"n":1}"#,
      ])
  }

  @Test("operations that select an object under other names share its record, and watchers see the change")
  func shared() async throws {
    let store = store(ObjectKeyFunction { ($0["isbn"] ?? $0["code"])?.string })
    let query = DynamicOperation.query("{ book { isbn title } }")
    try await store.publish(#"{"book":{"isbn":"x-1","title":"Old"}}"#, for: query)
    var results = store.watch(query).makeAsyncIterator()
    #expect(try await results.next()?.data?["book"]?["title"] == "Old")
    try await store.publish(
      #"{"books":[{"code":"x-1","title":"New"}]}"#, for: .query("{ books { code: isbn title } }"))
    #expect(try await results.next()?.data?["book"]?["title"] == "New")
    #expect(try await store.keys() == ["QUERY_ROOT", "x-1"])
  }

  @Test("transactions ask the function too, and may write an object in part")
  func transactions() async throws {
    let store = store()
    let query = DynamicOperation.query("{ book { isbn title } }")
    try await store.write(json(#"{"book":{"isbn":"x-1","title":"Old"}}"#), for: query)
    try await store.update(query) { data in data = try json(#"{"book":{"isbn":"x-2"}}"#) }
    #expect(try await store.keys() == ["QUERY_ROOT", "x-1", "x-2"])
    #expect(try await store.record("x-2") == json(#"{"isbn":"x-2"}"#))
  }

  @Test("a deeply nested response gives the function its whole object")
  func deep() async throws {
    let depth = JSONLimits.defaultMaximumDepth - 3
    let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let function = ObjectKeyFunction { object in
      object["tree"]?.array?.isEmpty == false ? "deep" : nil
    }
    let store = store(function)
    try await store.publish(#"{"book":{"tree":\#(nested)}}"#, for: .query("{ book { tree } }"))
    #expect(try await store.keys() == ["QUERY_ROOT", "deep"])
  }

  @Test("policies with copies of one function are equal, and those with two functions are not")
  func equality() {
    #expect(CacheKeyPolicy(objectKey: Self.isbn) == CacheKeyPolicy(objectKey: Self.isbn))
    #expect(CacheKeyPolicy(objectKey: Self.isbn).hashValue == CacheKeyPolicy(objectKey: Self.isbn).hashValue)
    #expect(CacheKeyPolicy(objectKey: Self.isbn) != CacheKeyPolicy(objectKey: ObjectKeyFunction { _ in nil }))
    #expect(CacheKeyPolicy(objectKey: Self.isbn) != CacheKeyPolicy())
  }
}
