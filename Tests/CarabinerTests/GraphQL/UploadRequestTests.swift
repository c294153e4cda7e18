import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("Uploads by the GraphQL multipart request specification")
struct UploadRequestTests {
  private struct Save: GraphQLMutation {
    typealias Data = JSONValue

    var operationName: String? { "Save" }
    var document = "mutation Save($file: Upload!) { save(file: $file) }"
    var variables: JSONObject = [:]
  }

  private static let endpoint = "http://127.0.0.1:1/graphql"

  private func request(
    _ files: [GraphQLFile], variables: JSONObject = [:], headers: HTTPHeaders = [:],
    document: String = Save().document
  ) throws -> UploadRequest<Save> {
    let request = JSONRequest(
      operation: Save(document: document, variables: variables), endpoint: try #require(URL(string: Self.endpoint)),
      additionalHeaders: headers)
    return UploadRequest(request, files: files, boundary: "b")
  }

  private func data(_ fieldName: String, _ text: String = "x", name: String = "x.txt") -> GraphQLFile {
    GraphQLFile(fieldName: fieldName, originalName: name, mimeType: "text/plain", data: Data(text.utf8))
  }

  /// The body as text. Files are shown as their paths in brackets.
  private func text(_ request: URLRequest) throws -> String {
    guard case .segmented(let body)? = request.body else { throw CancellationError() }
    return body.segments.map { segment in
      switch segment {
      case .data(let data): String(decoding: data, as: UTF8.self)
      case .file(let path, let length): "[\(path) \(length)]"
      }
    }.joined()
  }

  @Test("operations, map and files follow each other, the variable of a file is null", .rule("request.5"))
  func form() throws {
    let sent = try request([data("file", "hello")], variables: ["n": 1]).toURLRequest()
    let operations =
      #"{"operationName":"Save","query":"mutation Save($file: Upload!) { save(file: $file) }","variables":{"file":null,"n":1}}"#
    let lines = [
      "--b", #"Content-Disposition: form-data; name="operations""#, "Content-Type: application/json", "", operations,
      "--b", #"Content-Disposition: form-data; name="map""#, "Content-Type: application/json", "", #"{"0":["variables.file"]}"#,
      "--b", #"Content-Disposition: form-data; name="0"; filename="x.txt""#, "Content-Type: text/plain", "", "hello", "--b--", "",
    ]
    #expect(try text(sent) == lines.joined(separator: "\r\n"))
    #expect(sent.body?.length == lines.joined(separator: "\r\n").utf8.count)
    #expect(sent.httpBody == Data(lines.joined(separator: "\r\n").utf8))
    #expect(sent.httpMethod == "POST")
    #expect(!sent.isIdempotent)
    #expect(sent.headers["Content-Type"] == "multipart/form-data; boundary=b")
    #expect(sent.headers["Apollo-Require-Preflight"] == "true")
    #expect(sent.headers["Accept"]?.contains("application/graphql-response+json") == true)
  }

  @Test(
    "files may lie in lists and input objects", .rule("request.5"),
    arguments: [
      (["a"], "{}", #"{"a":null}"#), (["a.0", "a.1"], "{}", #"{"a":[null,null]}"#), (["a.1"], "{}", #"{"a":[null,null]}"#),
      (["i.f"], #"{"i":{"x":1}}"#, #"{"i":{"f":null,"x":1}}"#), (["i.l.0.f"], "{}", #"{"i":{"l":[{"f":null}]}}"#),
      (["a.0"], #"{"a":[null,null]}"#, #"{"a":[null,null]}"#), (["a"], #"{"a":null}"#, #"{"a":null}"#),
      (["o.0"], #"{"o":{"1":2}}"#, #"{"o":{"0":null,"1":2}}"#),
    ])
  func places(files: [String], variables: String, expected: String) throws {
    let variables = try #require(try JSONValue(parsing: variables).object)
    let sent = try text(request(files.map { data($0) }, variables: variables).toURLRequest())
    #expect(sent.contains(#""variables":\#(expected)}"#), "\(sent)")
    for (index, file) in files.enumerated() { #expect(sent.contains(#""\#(index)":["variables.\#(file)"]"#)) }
  }

  @Test(
    "files with one name are a list, and a file replaces a placeholder", .rule("detail.17"),
    arguments: [
      (["a", "a"], "{}", #"{"a":[null,null]}"#, ["a.0", "a.1"]),
      (["i.l", "b", "i.l"], "{}", #"{"b":null,"i":{"l":[null,null]}}"#, ["i.l.0", "b", "i.l.1"]),
      (["a", "a"], #"{"a":["x","y"]}"#, #"{"a":[null,null]}"#, ["a.0", "a.1"]),
      (["a", "a"], #"{"a":"x"}"#, #"{"a":[null,null]}"#, ["a.0", "a.1"]),
      (["a"], #"{"a":"placeholder"}"#, #"{"a":null}"#, ["a"]), (["a"], #"{"a":{"x":[1]}}"#, #"{"a":null}"#, ["a"]),
      (["a.0", "a.1"], #"{"a":["x",1]}"#, #"{"a":[null,null]}"#, ["a.0", "a.1"]),
    ])
  func sharedLists(files: [String], variables: String, expected: String, places: [String]) throws {
    let variables = try #require(try JSONValue(parsing: variables).object)
    let sent = try text(request(files.map { data($0) }, variables: variables).toURLRequest())
    #expect(sent.contains(#""variables":\#(expected)}"#), "\(sent)")
    for (index, place) in places.enumerated() { #expect(sent.contains(#""\#(index)":["variables.\#(place)"]"#), "\(sent)") }
  }

  @Test(
    "a single file is an element if its variable is a list, by the document or by a placeholder", .rule("detail.17"),
    arguments: [
      ("[Upload!]!", "{}", #"{"a":[null]}"#, "a.0"), ("[Upload]", "{}", #"{"a":[null]}"#, "a.0"),
      ("Upload!", "{}", #"{"a":null}"#, "a"),
      ("Upload", #"{"a":["x"]}"#, #"{"a":[null]}"#, "a.0"), ("[Upload!]!", #"{"a":null}"#, #"{"a":[null]}"#, "a.0"),
      ("Files", #"{"a":{"l":[]}}"#, #"{"a":{"l":[null]}}"#, "a.l.0"),
    ])
  func singleElements(type: String, variables: String, expected: String, place: String) throws {
    let variables = try #require(try JSONValue(parsing: variables).object)
    let file = data(place.hasPrefix("a.l") ? "a.l" : "a")
    let sent = try text(request([file], variables: variables, document: "mutation Save($a: \(type)) { s(a: $a) }").toURLRequest())
    #expect(sent.contains(#""variables":\#(expected)}"#), "\(sent)")
    #expect(sent.contains(#""0":["variables.\#(place)"]"#), "\(sent)")
  }

  @Test("the body of a request is in httpBody only if all of it is in memory")
  func bodyInMemory() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "carabiner-upload-\(UUID().uuidString)")
    try Data("hello".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let onDisk = GraphQLFile(fieldName: "file", path: file.path)
    #expect(try request([data("file", "hello")]).toURLRequest().httpBody?.isEmpty == false)
    #expect(try request([onDisk]).toURLRequest().httpBody == nil)
  }

  @Test(
    "a place that cannot hold a file is refused", .rule("request.5"),
    arguments: [
      (["a", "a", "a.0"], "{}", "has two files"),
      (["a", "a.b"], "{}", "is a file and also has members"), (["a.b", "a"], "{}", "is a file and also has members"),
      (["a.b"], #"{"a":"x"}"#, "without members"),
      (["a.x"], #"{"a":[]}"#, "x is not an index"), (["a.99999"], "{}", "not an index from 0 to 9999"),
      (["a..b"], "{}", "is not a path"), ([""], "{}", "is not a path"),
    ])
  func refusedPlaces(files: [String], variables: String, fragment: String) throws {
    let variables = try #require(try JSONValue(parsing: variables).object)
    let error = #expect(throws: RequestChainError.self) {
      _ = try request(files.map { data($0) }, variables: variables).toURLRequest()
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains(fragment) == true, "\(String(describing: error))")
  }

  @Test("a file's name cannot end its header line, and neither can a media type", .rule("request.5"))
  func hostileNames() throws {
    let sent = try text(request([data("a", name: "a\"; x=\"\r\nX: é")]).toURLRequest())
    #expect(sent.contains(#"filename="a%22; x=%22%0D%0AX: é""#))
    let file = GraphQLFile(fieldName: "a", originalName: "a", mimeType: "text/plain\r\nX: y", data: Data())
    #expect(throws: RequestChainError.self) { _ = try request([file]).toURLRequest() }
  }

  @Test("variables that an interceptor changed get their nulls too", .rule("request.5"))
  func changedVariables() throws {
    var request = try request([data("file")], variables: ["n": 1])
    request.wireOverrides.variables = JSONText(["n": 2])
    #expect(try text(request.toURLRequest()).contains(#""variables":{"file":null,"n":2}}"#))
  }

  // MARK: Files on disk

  /// Runs a test with a temporary folder.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-upload-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test("a file on disk is not read when the request is made, only measured, links followed", .rule("request.5"))
  func files() throws {
    try withFolder { folder in
      try Data("12345".utf8).write(to: URL(filePath: "\(folder)/five.bin"))
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "five.bin")
      let sent = try text(
        request([GraphQLFile(fieldName: "a", path: "\(folder)/five.bin"), GraphQLFile(fieldName: "b", path: "\(folder)/link")])
          .toURLRequest())
      #expect(sent.contains("[\(folder)/five.bin 5]"))
      #expect(sent.contains("[\(folder)/link 5]"))
      #expect(sent.contains(#"filename="five.bin""#))
      #expect(sent.contains("Content-Type: application/octet-stream\r\n"))
    }
  }

  @Test("a missing file, a folder and a device are refused before anything is sent", .rule("request.5"))
  func refusedFiles() throws {
    try withFolder { folder in
      for (path, fragment) in [
        ("\(folder)/none", "there is no file"), (folder, "not a regular file"), ("/dev/null", "not a regular file"),
      ] {
        let error = #expect(throws: RequestChainError.self) {
          _ = try request([GraphQLFile(fieldName: "a", path: path)]).toURLRequest()
        }
        #expect(error?.message.contains(fragment) == true, "\(String(describing: error))")
      }
    }
  }

  // MARK: Through the chain

  @Test("the results of an upload are written like those of a mutation", .rule("detail.8"))
  func cached() async throws {
    struct SetAvatar: GraphQLMutation {
      typealias Data = JSONValue

      var operationName: String? { "SetAvatar" }
      var document: String { "mutation SetAvatar($file: Upload!) { me: setAvatar(file: $file) { __typename id avatar } }" }
    }
    let client = try ApolloClient.testing(
      RecordingTransport(json: #"{"data":{"me":{"__typename":"User","id":1,"avatar":"new"}}}"#))
    _ = try await client.upload(operation: SetAvatar(), files: [data("file")])
    #expect(try await client.store.record("User:1")?["avatar"] == "new")
    let silent = try ApolloClient.testing(
      RecordingTransport(json: #"{"data":{"me":{"__typename":"User","id":1,"avatar":"new"}}}"#))
    _ = try await silent.upload(
      operation: SetAvatar(), files: [data("file")], configuration: RequestConfiguration(writeResultsToCache: false))
    #expect(try await silent.store.keys().isEmpty)
  }

  @Test("an upload is sent once with its document, and returns its result", .rule("request.5"))
  func throughTheChain() async throws {
    let transport = RecordingTransport(json: #"{"data":{"save":5}}"#)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        endpointURL: try #require(URL(string: Self.endpoint)), httpTransport: transport,
        wireOptions: WireOptions(usesGETForQueries: true, persistedQueries: .init(isEnabled: true, usesGETForHashes: true))))
    let response = try await client.upload(operation: Save(), files: [data("file")])
    #expect(try response.data?["save"]?.int == 5)
    let sent = try #require(transport.requests.first)
    #expect(transport.requests.count == 1)
    #expect(sent.httpMethod == "POST")
    #expect(try text(sent).contains(#""query":"mutation Save"#))
    #expect(try !text(sent).contains("persistedQuery"))
  }

  @Test("an upload without files, and a transport that cannot upload, are refused", .rule("request.5"))
  func misuse() async throws {
    struct Deaf: NetworkTransport {
      func send<Operation: GraphQLOperation>(
        _ operation: Operation, fetchBehavior: FetchBehavior, configuration: RequestConfiguration
      ) throws -> PullStream<GraphQLResponse<Operation>> { .empty }
    }
    let client = try ApolloClient.testing(RecordingTransport(json: heroJSON))
    await #expect(throws: RequestChainError.self) { _ = try await client.upload(operation: Save(), files: []) }
    let deaf = ApolloClient(networkTransport: Deaf(), store: ApolloStore())
    let error = await #expect(throws: RequestChainError.self) {
      _ = try await deaf.upload(operation: Save(), files: [data("file")])
    }
    #expect(error?.message.contains("UploadingNetworkTransport") == true)
  }
}
