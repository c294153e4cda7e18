import Carabiner
import CarabinerWire
import FoundationEssentials
import Testing

@Suite("Enumerations that a server may extend")
struct GraphQLEnumTests {
  private enum Episode: String, Sendable {
    case newHope = "NEW_HOPE"
    case empire = "EMPIRE"
  }

  private struct FilmQuery: GraphQLQuery {
    struct Data: Codable, Sendable, Equatable {
      var episodes: [GraphQLEnum<Episode>]
      var next: GraphQLEnum<Episode>?
    }

    var operationName: String? { nil }
    var document: String { "{ episodes next }" }
  }

  @Test("a value that the client does not know keeps its name, and the rest of the result")
  func unknownValue() async throws {
    let transport = RecordingTransport(json: #"{"data":{"episodes":["EMPIRE","ROGUE_ONE"],"next":null}}"#)
    let client = try ApolloClient.testing(transport)
    let data = try #require(try await client.fetch(query: FilmQuery(), cachePolicy: .networkOnly).data)
    #expect(data.episodes == [.case(.empire), .unknown("ROGUE_ONE")])
    #expect(data.episodes.map(\.value) == [.empire, nil])
    #expect(data.next == nil)
    #expect(try JSONEncoder().encode(data.episodes) == Data(#"["EMPIRE","ROGUE_ONE"]"#.utf8))
  }

  @Test("values are compared by their names, with and without the wrapper")
  func comparison() {
    let value = GraphQLEnum<Episode>(.empire)
    #expect(value == .empire)
    #expect(value != .newHope)
    #expect(GraphQLEnum<Episode>(rawValue: "EMPIRE") == value)
    #expect(GraphQLEnum<Episode>(rawValue: "X") == .unknown("X"))
    #expect(Set([value, .unknown("EMPIRE")]).count == 1)
    let word =
      switch value {
      case .empire: "known"
      default: "other"
      }
    #expect(word == "known")
    #expect("\(value)" == "EMPIRE")
  }

  @Test("a value that is not a text fails the result")
  func notText() async throws {
    let transport = RecordingTransport(json: #"{"data":{"episodes":[true]}}"#)
    await #expect(throws: ResponseParsingError.self) {
      _ = try await ApolloClient.testing(transport).fetch(query: FilmQuery(), cachePolicy: .networkOnly)
    }
  }
}
