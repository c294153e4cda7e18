import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Normalised store: local changes")
struct ObjectTransactionTests {
  private struct ProfileQuery: GraphQLQuery {
    struct Data: Codable, Sendable, Equatable {
      struct Me: Codable, Sendable, Equatable {
        enum CodingKeys: String, CodingKey {
          case type = "__typename"
          case id, name, nickname, home
        }

        var type: String
        var id: String
        var name: String
        var nickname: String?
        var home: Home?
      }

      struct Home: Codable, Sendable, Equatable { var planet: String? }

      var me: Me?
    }

    var operationName: String? { "Profile" }
    var document: String { "query Profile { me { __typename id name nickname home { planet } } }" }
  }

  private struct Person: GraphQLFragment, Equatable {
    static var document: String {
      "fragment Person on User { name nickname posts(first: $n) { title } } fragment Other on User { x }"
    }

    struct Post: Codable, Sendable, Equatable { var title: String }

    var name: String
    var nickname: String?
    var posts: [Post]?
  }

  private let store = ApolloStore()

  private func fill() async throws {
    try await store.publish(#"{"me":{"__typename":"User","id":"1","name":"Ann"}}"#, for: .query("{ me { __typename id name } }"))
  }

  @Test("an update works although optional fields were never fetched", .rule("detail.11"))
  func optionalFields() async throws {
    try await fill()
    #expect(try await store.load(ProfileQuery()) == nil)
    let isChanged = try await store.update(ProfileQuery()) { (data: inout ProfileQuery.Data) in
      #expect(data.me?.nickname == nil)
      data.me?.name = "Bea"
    }
    #expect(isChanged)
    #expect(try await store.record("User:1") == ["__typename": "User", "id": "1", "name": "Bea"])
    try await store.update(ProfileQuery()) { (data: inout ProfileQuery.Data) in
      data.me?.nickname = "B"
      data.me?.home = .init(planet: "Mars")
    }
    #expect(try await store.data(.query("{ me { nickname home { planet } } }"))?["me"]?["home"]?["planet"] == "Mars")
  }

  @Test("an update without the data of a field that must be there changes nothing", .rule("detail.11"))
  func requiredFields() async throws {
    try await store.publish(#"{"me":{"__typename":"User","id":"1"}}"#, for: .query("{ me { __typename id } }"))
    #expect(try await store.update(ProfileQuery()) { (_: inout ProfileQuery.Data) in Issue.record("called") } == false)
    #expect(try await ApolloStore().update(ProfileQuery()) { (_: inout ProfileQuery.Data) in Issue.record("called") } == false)
  }

  @Test("a property that is set to nil is null in the store, in operations and in fragments", .rule("detail.13"))
  func setToNil() async throws {
    try await store.write(
      ["me": ["__typename": "User", "id": "1", "name": "Ann", "nickname": "A", "home": ["planet": "Mars"]]], for: ProfileQuery())
    try await store.update(ProfileQuery()) { (data: inout ProfileQuery.Data) in
      data.me?.nickname = nil
      data.me?.home?.planet = nil
    }
    let me = try #require(try await store.load(ProfileQuery())?.data?.me)
    #expect(me.nickname == nil && me.home == .init(planet: nil))
    try await store.publish(
      #"{"me":{"__typename":"User","id":"1","nickname":"B"}}"#, for: .query("{ me { __typename id nickname } }"))
    try await store.updateObject(ofType: Person.self, withKey: "User:1") { $0.nickname = nil }
    #expect(try await store.record("User:1")?["nickname"] == .null)
    #expect(try await store.record("User:1")?["posts"] == nil)
    try await store.update(ProfileQuery()) { (data: inout ProfileQuery.Data) in data.me = nil }
    #expect(try await store.load(ProfileQuery())?.data == .init(me: nil))
  }

  @Test("a typed write can be read back, also with optionals that are nil", .rule("detail.13"))
  func writtenNil() async throws {
    let data = ProfileQuery.Data(me: .init(type: "User", id: "1", name: "Ann", nickname: nil, home: .init(planet: nil)))
    try await store.withinReadWriteTransaction { try await $0.write(data, for: ProfileQuery()) }
    #expect(try await store.load(ProfileQuery())?.data == data)
    try await store.withinReadWriteTransaction { try await $0.write(.init(me: nil), for: ProfileQuery()) }
    #expect(try await store.load(ProfileQuery())?.data == .init(me: nil))
  }

  private struct FriendsQuery: GraphQLQuery {
    struct Data: Codable, Sendable, Equatable {
      struct Friend: Codable, Sendable, Equatable {
        enum CodingKeys: String, CodingKey {
          case type = "__typename"
          case id, nick
        }

        var type = "User"
        var id: String
        var nick: String?
      }

      var friends: [Friend]
    }

    var operationName: String? { nil }
    var document: String { "{ friends { __typename id nick } }" }
  }

  @Test("in a list, only what an object of the store has becomes null, however the list is changed", .rule("detail.11"))
  func nilsInLists() async throws {
    try await store.publish(
      #"{"friends":[{"__typename":"User","id":"1","nick":"x"},{"__typename":"User","id":"2","nick":"y"}]}"#,
      for: .query("{ friends { __typename id nick } }"))
    try await store.publish(
      #"{"other":{"__typename":"User","id":"3"}}"#, for: .query("{ other { __typename id } }"))
    try await store.update(FriendsQuery()) { (data: inout FriendsQuery.Data) in
      data.friends.removeFirst()
      data.friends[0].nick = nil
      data.friends.append(.init(id: "3"))
      data.friends.append(.init(id: "4"))
    }
    #expect(try await store.record("User:1")?["nick"] == "x")
    #expect(try await store.record("User:2")?["nick"] == .null)
    #expect(try await store.record("User:3")?.object?.contains("nick") == false)
    #expect(try await store.record("User:4")?["nick"] == .null)
  }

  private struct CreatureQuery: GraphQLQuery {
    struct Data: Codable, Sendable, Equatable {
      struct Creature: Codable, Sendable, Equatable {
        var name: String
        var height: Int?
        var model: String?
      }

      var it: Creature
    }

    var operationName: String? { nil }
    var document: String { "{ it { name ... on Human { height } ... on Droid { model } } }" }
  }

  @Test("a nil of a fragment that does not apply proves nothing about the type", .rule("detail.2"))
  func fragmentsOfTypes() async throws {
    let data = CreatureQuery.Data(it: .init(name: "R2", height: nil, model: "Astromech"))
    try await store.withinReadWriteTransaction { try await $0.write(data, for: CreatureQuery()) }
    #expect(try await store.load(CreatureQuery())?.data == data)
    #expect(try await store.record("QUERY_ROOT.it")?.object?.contains("height") == false)
  }

  @Test("a field that is left out of a JSON update is missing, and proves nothing about fragments", .rule("detail.11"))
  func jsonUpdate() async throws {
    try await fill()
    let query = DynamicOperation.query("{ me { __typename id name nickname ... on Node { secret } } }")
    let isChanged = try await store.update(query) { data in
      #expect(data["me"]?.object?.contains("nickname") == false)
      guard var me = data["me"]?.object else { return }
      me["name"] = "Bea"
      data = ["me": .object(me)]
    }
    #expect(isChanged)
    #expect(try await store.record("User:1") == ["__typename": "User", "id": "1", "name": "Bea"])
  }

  @Test("objects are read, changed and written by their key", .rule("detail.13"))
  func objects() async throws {
    try await fill()
    #expect(try await store.readObject(ofType: Person.self, withKey: "User:1", variables: ["n": 2]) == nil)
    #expect(
      try await store.updateObject(ofType: Person.self, withKey: "User:1", variables: ["n": 2]) { person in
        person.name = "Bea"
        person.nickname = "B"
        person.posts = [.init(title: "T")]
      })
    #expect(
      try await store.readObject(ofType: Person.self, withKey: "User:1", variables: ["n": 2])
        == Person(name: "Bea", nickname: "B", posts: [.init(title: "T")]))
    #expect(try await store.data(.query("{ me { name posts(first: 2) { title } } }"))?["me"]?["name"] == "Bea")
    #expect(try await store.readObject(ofType: Person.self, withKey: "User:1", variables: ["n": 3]) == nil)
    try await store.writeObject(Person(name: "Cleo"), withKey: "User:2")
    #expect(try await store.record("User:2") == ["name": "Cleo", "nickname": nil, "posts": nil])
    #expect(try await store.readObject(ofType: Person.self, withKey: "User:2") == Person(name: "Cleo"))
    let isChanged = try await store.updateObject(ofType: Person.self, withKey: "User:3") { _ in Issue.record("called") }
    #expect(!isChanged)
  }

  @Test("within a transaction objects are JSON too, and a change that is thrown away leaves nothing", .rule("detail.13"))
  func inTransactions() async throws {
    struct Failure: Error {}
    try await fill()
    let fragment = "fragment F on User { name ... on Admin { level } }"
    try await store.withinReadWriteTransaction { transaction in
      try await transaction.writeObject(["name": "Zoe", "level": 3], fragment: fragment, withKey: "User:1")
      #expect(try await transaction.readObject(fragment: fragment, withKey: "User:1")?["name"] == "Zoe")
      #expect(try await transaction.updateObject(fragment: fragment, withKey: "User:1") { $0 = ["name": "Yve"] })
    }
    #expect(try await store.record("User:1")?["name"] == "Yve")
    #expect(try await store.record("User:1")?["level"] == 3)
    await #expect(throws: Failure.self) {
      try await store.withinReadWriteTransaction { transaction in
        try await transaction.writeObject(["name": "Xia"], fragment: fragment, withKey: "User:1")
        throw Failure()
      }
    }
    #expect(try await store.record("User:1")?["name"] == "Yve")
    let error = await #expect(throws: StoreError.self) {
      try await store.withinReadTransaction { _ = try await $0.readObject(fragment: "{ a }", withKey: "User:1") }
    }
    #expect(error?.code == .notNormalisable)
  }

  @Test("changes of objects reach watchers", .rule("detail.13"))
  func watched() async throws {
    try await fill()
    let query = DynamicOperation.query("{ me { name } }")
    var results = store.watch(query).makeAsyncIterator()
    #expect(try await results.next()?.data?["me"]?["name"] == "Ann")
    try await store.writeObject(Person(name: "Dora"), withKey: "User:1")
    #expect(try await results.next()?.data?["me"]?["name"] == "Dora")
  }

  @Test("a number is taken for a string and an integer for a Double, whether from the server or the cache", .rule("detail.15"))
  func lenientScalars() async throws {
    struct Numbers: GraphQLQuery {
      struct Data: Decodable, Sendable, Equatable {
        let id: String
        let ids: [String]
        let maybe: String?
        let ratio: Double
        let ratios: [Double]
      }

      var operationName: String? { nil }
      var document: String { "{ id ids maybe ratio ratios }" }
    }
    let client = try ApolloClient.testing(
      RecordingTransport(json: #"{"data":{"id":7,"ids":[1,"b",9007199254740993],"maybe":-0,"ratio":3,"ratios":[1,2.5]}}"#))
    for policy in [CachePolicy.networkOnly, .cacheOnly] {
      let data = try await client.fetch(query: Numbers(), cachePolicy: policy).data
      #expect(data == .init(id: "7", ids: ["1", "b", "9007199254740993"], maybe: "-0", ratio: 3, ratios: [1, 2.5]))
    }
    let error = await #expect(throws: ResponseParsingError.self) {
      _ = try await ApolloClient.testing(
        RecordingTransport(json: #"{"data":{"id":true,"ids":[],"maybe":null,"ratio":3,"ratios":[]}}"#)
      ).fetch(query: Numbers(), cachePolicy: .networkOnly)
    }
    #expect(error?.code == .dataMismatch)
  }
}
