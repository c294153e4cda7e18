import Carabiner
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("The text of errors for people")
struct ErrorTextTests {
  private static let url = "http://shop.example/graphql"

  @Test(
    "the localized description of an error is its message",
    arguments: [
      (TransportError(.cannotConnect, "no connection", url: url), "no connection"),
      (WebSocketError(.closed, "it closed", url: url), "it closed"),
      (StoreError(.locked, "it is locked"), "it is locked"),
      (ResponseParsingError(.invalidJSON, "not JSON"), "not JSON"),
      (RequestChainError(.idle, "nothing arrived"), "nothing arrived"),
      (MultipartError(.truncated, "it ends early"), "it ends early"),
      (IncrementalError(.duplicate, "it came twice"), "it came twice"),
      (GraphQLError(["message": "no such book"]), "no such book"),
    ] as [(any Error, String)])
  func messages(_ error: any Error, _ message: String) {
    #expect(error.localizedDescription == message)
  }

  @Test(
    "the localized description of an error without a message is its description",
    arguments: [
      ResponseCodeError(response: HTTPURLResponse(url: URL(filePath: "/"), statusCode: 404), body: Data("gone".utf8)),
      MaxRetriesError(count: 3, operationName: "Hero"), SubscriptionError(errors: [GraphQLError(["message": "no"])]),
      GraphQLError(["code": 1]), JSONError(.tooDeep, at: 7, "too deep"),
      Self.error { _ = try GraphQLDocument(parsing: "{") },
      Self.error {
        var reader = EventReader(maximumEventBytes: 1)
        reader.append("data: long\n\n".utf8)
        _ = try reader.next()
      },
    ] as [any Error])
  func descriptions(_ error: any Error) {
    #expect(error.localizedDescription == "\(error)")
    #expect(!error.localizedDescription.isEmpty)
  }

  private static func error(of body: () throws -> Void) -> any Error {
    do { try body() } catch { return error }
    return CancellationError()
  }

  /// The modules that programs and plugins link, and the one whose types they see with them.
  private static let modules = [
    "Carabiner", "CarabinerCalls", "CarabinerConnect", "CarabinerCurl", "CarabinerGateway", "CarabinerBridge",
    "CarabinerPipeline", "CarabinerPipelineSockets", "CarabinerPlugin", "CarabinerProvider", "CarabinerSchema",
    "CarabinerSQLite", "CarabinerHost", "CarabinerTracing", "CarabinerWebSocket", "CarabinerWire", "CarabinerWorkers",
  ]

  @Test("each public type of an error gives its text to localizedDescription", arguments: modules)
  func publicErrors(of module: String) throws {
    let described = try matches(of: /extension (?<name>\w+): DescribedError/, in: "Carabiner")
    let plain = /public (?:struct|enum|class) (?<name>\w+)[^{\n]*: (?:[^{\n]*, )?Error\b/
    for name in try matches(of: plain, in: module) {
      #expect(described.contains(name), "\(name) of \(module) is only an Error; make it a DescribedError")
    }
  }

  private func matches(of pattern: Regex<(Substring, name: Substring)>, in module: String) throws -> Set<String> {
    let folder = Repository.root.appending(path: "Sources/\(module)")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var names: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      names.formUnion(try String(contentsOf: file, encoding: .utf8).matches(of: pattern).map { String($0.name) })
    }
    return names
  }
}
