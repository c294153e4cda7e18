import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Declared differences from the original")
struct DeclaredDifferencesTests {
  @Test("a 200 without a body is not a GraphQL response", .rule("detail.19"), arguments: ["", " \r\n"])
  func emptyBody(_ body: String) async throws {
    for writes in [true, false] {
      let error = await #expect(throws: ResponseParsingError.self) {
        _ = try await ApolloClient.testing(RecordingTransport(json: body)).fetch(
          query: HeroQuery(), cachePolicy: .networkOnly, configuration: RequestConfiguration(writeResultsToCache: writes))
      }
      #expect(error?.code == .notAGraphQLResponse)
    }
    #expect(throws: ResponseParsingError.self) { try ResponseBody(Data(body.utf8)) }
  }

  @Test("a body that ends after hasNext:true without the close delimiter is truncated", .rule("detail.19"))
  func truncated() async throws {
    let body = parts(#"{"data":{"hero":{"name":"R2"}},"hasNext":true}"#, closed: false)
    let outcome = try await ApolloClient.testing(ChunkTransport([body])).outcome(of: HeroQuery())
    #expect(outcome.results.count == 1)
    #expect(outcome.parsingCode == .truncated)
  }

  @Test("a multipart response without a spec parameter is read as the operation's type suggests", .rule("detail.19"))
  func withoutSpec() async throws {
    let deferred = ChunkTransport(
      [parts(#"{"data":{"hero":{"name":"R2"}},"hasNext":true}"#, #"{"hasNext":false}"#)],
      contentType: "multipart/mixed; boundary=b")
    #expect(try await ApolloClient.testing(deferred).outcome(of: HeroQuery()).results.count == 1)
    let counting = ChunkTransport([parts(#"{"payload":{"data":{"count":1}}}"#)], contentType: "multipart/mixed; boundary=b")
    #expect(try await ApolloClient.testing(counting).outcome(of: CountSubscription()).results == [#"{"data":{"count":1}}"#])
  }

  @Test("subscriptions name a boundary in Accept, and nothing else does", .rule("detail.19"))
  func acceptedBoundary() async throws {
    let transport = RecordingTransport { request, _ in
      .json(parts(#"{"payload":{"data":{"count":1}}}"#), headers: ["Content-Type": ChunkTransport.subscription], to: request)
    }
    let client = try ApolloClient.testing(transport)
    _ = try await client.outcome(of: CountSubscription())
    #expect(
      transport.requests.first?.headers["Accept"]?.contains("multipart/mixed;boundary=graphql;subscriptionSpec=1.0") == true)
    _ = try await client.outcome(of: HeroQuery())
    #expect(transport.requests.last?.headers["Accept"]?.contains("boundary") == false)
  }

  @Test("ids of WebSocket messages are strings, and a number is none", .rule("detail.19"))
  func messageIDs() {
    var run = SessionRun()
    run.subscribe(1)
    run.session.opened(initialPayload: nil)
    run.receive(#"{"type":"connection_ack"}"#)
    #expect(run.words().contains(#"send {"id":"1","payload":{},"type":"subscribe"}"#))
    run.receive(#"{"id":1,"type":"next","payload":{}}"#)
    #expect(!run.words().contains("1 gets {}"))
  }

  @Test("removeObjects(matching:) is a pattern with stars, and upper and lower case differ", .rule("detail.19"))
  func removal() async throws {
    let store = ApolloStore()
    let keys = ["Human:1", "human:1", "Human:10", "Humane:1", "[a]"]
    _ = try await store.cache.merge(records: RecordSet(keys.map { Record(key: $0, fields: ["a": Data("1".utf8)]) }))
    #expect(try await store.removeObjects(matching: "HUMAN*") == 0)
    #expect(try await store.removeObjects(matching: "Human:?") == 0)
    #expect(try await store.removeObjects(matching: "[a-z]") == 0)
    #expect(try await store.removeObjects(matching: "Human:*") == 2)
    #expect(try await store.keys() == ["Humane:1", "[a]", "human:1"])
  }

  @Test(
    "boundaries are those of RFC 2046: at most 70 characters of ASCII", .rule("detail.19"),
    arguments: [
      (String(repeating: "b", count: 70), true), (String(repeating: "b", count: 71), false), ("gränze", false), ("a b", true),
      ("a ", false),
    ])
  func boundaries(_ boundary: String, _ isTaken: Bool) async throws {
    let body =
      "--\(boundary)\r\nContent-Type: application/json\r\n\r\n{\"data\":{\"hero\":null},\"hasNext\":false}\r\n--\(boundary)--\r\n"
    let transport = ChunkTransport([body], contentType: #"multipart/mixed; boundary="\#(boundary)""#)
    let outcome = try await ApolloClient.testing(transport).outcome(of: HeroQuery())
    #expect((outcome.error == nil) == isTaken, "\(String(describing: outcome.error))")
  }

  @Test("an error has the places in the document that a server names", .rule("detail.18"))
  func locations() throws {
    func error(_ text: String) throws -> GraphQLError {
      GraphQLError(try #require(try JSONValue(parsing: text).object))
    }
    let places = try error(#"{"message":"no","locations":[{"line":2,"column":5},{"line":"x"},7,{"line":3,"column":1,"x":0}]}"#)
      .locations
    #expect(places == [.init(line: 2, column: 5), .init(line: 3, column: 1)])
    #expect(try error(#"{"message":"no"}"#).locations == nil)
    #expect(try error(#"{"message":"no","locations":null}"#).locations == nil)
  }
}
