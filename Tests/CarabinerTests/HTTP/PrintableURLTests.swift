import Carabiner
import Foundation
import Testing

@Suite("URLs in messages, logs and traces")
struct PrintableURLTests {
  @Test(
    "have no user's name and no password",
    arguments: [
      ("http://user:secret@host:1/a?b=c@d", "http://host:1/a?b=c@d"), ("https://user@host", "https://host"),
      ("//user:secret@host/", "//host/"), ("http://u:se/cret@host/a", "http://host/a"), ("http://u:se?cret@host", "http://host"),
      ("http://[::1]:2/@me", "http://[::1]:2/@me"), ("http://host:80/@me", "http://host:80/@me"),
      ("http://[::1]/@me", "http://[::1]/@me"),
      ("Unsupported proxy syntax in 'http://u:p@host:x': Port", "Unsupported proxy syntax in 'http://host:x': Port"),
      ("/a@b", "/a@b"),
    ])
  func withoutUser(_ url: String, _ shown: String) {
    #expect(PrintableURL(url).description == shown)
  }

  @Test("a span has neither user nor query")
  func withoutQuery() throws {
    let url = try #require(URL(string: "http://user:secret@host/a?key=1#b"))
    #expect(PrintableURL(url).withoutQuery == "http://host/a")
  }

  @Test("the error of a status shows where the request went, and not as whom")
  func status() throws {
    let url = try #require(URL(string: "http://user:secret@host/graphql"))
    let error = ResponseCodeError(response: Carabiner.HTTPURLResponse(url: url, statusCode: 500), body: Data())
    #expect("\(error)" == "http://host/graphql answered with status 500 without a body")
  }

  // MARK: The source

  /// The files that need the full text of a URL for anything but a message, and the number of uses.
  private static let others = [
    "Carabiner/HTTP/PrintableURL.swift": 1, "Carabiner/Transport/RequestLine.swift": 1, "Carabiner/GraphQL/JSONRequest.swift": 1,
    // Used as a table key.
    "Carabiner/Interceptors/AutomaticPersistedQueryInterceptor.swift": 1,
    // Used as a table key, and for the query of a GET.
    "CarabinerPipeline/Requests/JSONRequest.swift": 3,
    // Errors convert their URLs to printable text.
    "CarabinerCurl/BodyFeed.swift": 1, "CarabinerCurl/CurlFailure.swift": 1, "CarabinerCurl/CurlTransport.swift": 1,
    "CarabinerCurl/Redirects.swift": 1,
    "CarabinerCurl/Exchange.swift": 1, "CarabinerCurl/HTTP1/HTTP1RequestHead.swift": 1,
    "CarabinerWebSocket/SocketDriver.swift": 2, "CarabinerWebSocket/SocketOpening.swift": 2,
    "CarabinerWebSocket/WebSocketEndpoint.swift": 3, "CarabinerHost/Replay/ReplayRun.swift": 1,
    "CarabinerPipelineSockets/SocketLine.swift": 1,
    // Used for the URL itself.
    "CarabinerUpstreams/UpstreamEndpoint.swift": 2,
    "CarabinerCommand/Call/CallCommand.swift": 1, "CarabinerCurl/EasyHandle.swift": 1, "CarabinerCurl/HTTP1/HTTP1Engine.swift": 1,
    // A variable whose type is a URL.
    "Carabiner/GraphQL/GraphQLValue+Foundation.swift": 1,
    // Read and written by plugins.
    "CarabinerBridge/Bridge/Stages/HTTPMessage.swift": 1, "CarabinerBridge/Bridge/Calls/GroupCall+HTTP.swift": 1,
    "CarabinerBridge/Services/PluginFetch.swift": 1,
    // The values that all messages hide.
    "CarabinerHost/Runtime/ChainRuntime.swift": 2,
  ]

  private static func sources() throws -> [(path: String, text: String)] {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let folder = root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map { file in
      (String(file.path.dropFirst(folder.path.count + 1)), try String(contentsOf: file, encoding: .utf8))
    }
  }

  @Test("no other code takes the text of a URL to print it")
  func onlyPlace() throws {
    var found: [String: Int] = [:]
    for (path, text) in try Self.sources() {
      let count = text.components(separatedBy: ".absoluteString").count - 1
      if count > 0 { found[path] = count }
    }
    #expect(found.count > 10, "the sources are found")
    #expect(found == Self.others, "print a URL through PrintableURL, or say here what its text is needed for")
  }

  @Test("no message has a URL in it that is not printable")
  func interpolations() throws {
    // The two errors store their URL as printable text.
    let errors = ["Carabiner/Transport/TransportError.swift", "Carabiner/Transport/WebSocket/WebSocketError.swift"]
    let names =
      #/\\\((?:[\w.?!]+\.)?(?:url|URL|absoluteURL|endpointURL|graphQLEndpoint|location|websocket)(?:\.prefix\(\d+\))?\)/#
    for (path, text) in try Self.sources() where !errors.contains(path) {
      #expect(text.firstMatch(of: names) == nil, "\(path): \(text.firstMatch(of: names)?.output ?? "")")
    }
  }
}
