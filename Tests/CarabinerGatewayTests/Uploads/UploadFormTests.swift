import Carabiner
import CarabinerWire
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("Uploads: forms of clients")
struct UploadFormTests {
  private static let mutation: String =
    #"{"query":"mutation M($file: Upload, $list: [Upload]) { upload(file: $file) }","variables":{"file":null,"list":[null,null]}}"#

  /// A part of a form; a file if it has a file name.
  private static func part(_ name: String, _ content: String, file: String? = nil) -> String {
    "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\(file.map { "; filename=\"\($0)\"" } ?? "")\r\n\r\n\(content)\r\n"
  }

  private static func form(_ parts: String...) -> String { parts.joined() + "--b--\r\n" }

  /// Runs uploads by reading their files, and records them.
  private final class Uploads: Sendable {
    let files = Mutex<[String: [UInt8]]>([:])
    let operations = Mutex<[DynamicOperation]>([])

    func runner() -> ScriptedRunner {
      ScriptedRunner { operation in
        self.operations.withLock { $0.append(operation) }
        return PullStream {
          var name = ""
          while let piece = try await operation.form?.next() {
            switch piece {
            case .file(let next, let fileName, let mediaType):
              name = "\(next) \(fileName) \(mediaType)"
              self.files.withLock { $0[name] = [] }
            case .bytes(let bytes): self.files.withLock { $0[name, default: []] += bytes }
            }
          }
          return .last(try GraphQLResponse(json: ["data": ["upload": "done"]]))
        }
      }
    }
  }

  private static func head(
    _ fields: [(String, String)], _ type: String = "multipart/form-data; boundary=b"
  ) throws -> RequestHead {
    var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/graphql")
    head.headers = ["Host": "localhost", "Content-Type": type]
    for (name, value) in fields { head.headers.add(name: name, value: value) }
    return try RequestHead(head)
  }

  private static let preflight = [("Apollo-Require-Preflight", "1")]

  /// Sends a form in pieces of `size` bytes, and returns the response.
  private func answer(
    _ form: String, _ fields: [(String, String)] = preflight, type: String = "multipart/form-data; boundary=b", size: Int = 7,
    limits: GatewayLimits = GatewayLimits(), uploads: Uploads = Uploads()
  ) async throws -> OperationChannel.Answer {
    let connection = try await OperationChannel(uploads.runner(), limits: limits)
    try await connection.channel.writeInbound(RequestPart.head(Self.head(fields, type)))
    let bytes = Array(form.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = bytes[start..<min(start + size, bytes.count)]
      try await connection.channel.writeInbound(RequestPart.body(ByteBuffer(bytes: piece)))
    }
    try await connection.channel.writeInbound(RequestPart.end)
    guard case .whole(let head, let body) = try await connection.channel.waitForOutboundWrite(as: ReplyPart.self) else {
      throw CancellationError()
    }
    return OperationChannel.Answer(head: head, body: String(buffer: body))
  }

  @Test("stages get the operation, and the files arrive byte for byte, however the form is cut", arguments: [1, 7, 100_000])
  func filesArrive(size: Int) async throws {
    let uploads = Uploads()
    let content = "line\r\n--b x\r\n--boundary\r\n\r\n"
    let form = Self.form(
      Self.part("operations", Self.mutation),
      Self.part("map", #"{"0":["variables.file"],"x":["variables.list.1"]}"#),
      Self.part("x", content, file: "a%22b.txt"), Self.part("0", "", file: "ü.bin"))
    let answer = try await answer(form, size: size, uploads: uploads)
    #expect(answer.body == #"{"data":{"upload":"done"}}"#)
    #expect(
      uploads.files.withLock(\.self) == [
        "x a\"b.txt application/octet-stream": Array(content.utf8), "0 ü.bin application/octet-stream": [],
      ])
    let operation = try #require(uploads.operations.withLock { $0.first })
    #expect(operation.operationName == "M" && operation.operationType == .mutation)
    #expect(operation.form?.files.map(\.places) == [["variables.file"], ["variables.list.1"]])
  }

  @Test("a form in one piece with its head is read like one in many")
  func whole() async throws {
    let uploads = Uploads()
    let connection = try await OperationChannel(uploads.runner())
    let form = Self.form(
      Self.part("operations", Self.mutation), Self.part("map", #"{"0":["variables.file"]}"#),
      Self.part("0", "abc", file: "a"))
    try await connection.channel.writeInbound(RequestPart.whole(Self.head(Self.preflight), ByteBuffer(string: form)))
    guard case .whole(let head, _) = try await connection.channel.waitForOutboundWrite(as: ReplyPart.self) else {
      throw CancellationError()
    }
    #expect(head.status == .ok)
    #expect(uploads.files.withLock(\.self) == ["0 a application/octet-stream": Array("abc".utf8)])
  }

  @Test("a form without files is a request like others", arguments: [1, 7, 100_000])
  func withoutFiles(size: Int) async throws {
    let uploads = Uploads()
    let form = Self.form(Self.part("operations", #"{"query":"{ a }","variables":{"b":1}}"#), Self.part("map", "{}"))
    #expect(try await answer(form, size: size, uploads: uploads).body == #"{"data":{"upload":"done"}}"#)
    let operation = try #require(uploads.operations.withLock { $0.first })
    #expect(operation.form == nil && operation.document == "{ a }" && operation.variables == ["b": 1])
  }

  @Test(
    "backslashes in a file name stand for themselves, except before a quote or another one",
    arguments: [
      (#"C:\images\cat.png"#, #"C:\images\cat.png"#), (#"a\"b"#, #"a"b"#), (#"a\\b"#, #"a\b"#), (#"a\"#, #"a\"#),
      (#"\\\x"#, #"\\x"#), (#"\n\%0A"#, "\\n\\\n"),
    ])
  func backslashes(sent: String, name: String) async throws {
    let uploads = Uploads()
    let form = Self.form(
      Self.part("operations", Self.mutation), Self.part("map", #"{"0":["variables.file"]}"#), Self.part("0", "x", file: sent))
    #expect(try await answer(form, uploads: uploads).status == 200)
    #expect(uploads.files.withLock { Array($0.keys) } == ["0 \(name) application/octet-stream"])
  }

  @Test(
    "a form that does not follow the specification is refused, and its reason is in the answer",
    arguments: [
      (form(part("map", "{}")), 400, "where operations is expected"),
      (form(part("0", "x", file: "a"), part("operations", mutation)), 400, "send operations, map, and then the files"),
      (form(part("operations", mutation), part("0", "x", file: "a")), 400, "where map is expected"),
      (form(part("operations", mutation)), 400, "the form has no part map"),
      (form(part("operations", mutation), part("map", #"{"0":["variables.file"]}"#)), 400, "the file \"0\" of map has not come"),
      ("--b--", 400, "the form has no part operations"), ("", 400, "it ends before its close delimiter"),
      ("--b\r\nnothing\r\n\r\n", 400, "a header of a part is malformed"),
      ("--b\r\nA: \(String(repeating: "a", count: 9000))", 400, "the headers of a part are too long"),
      (String(repeating: "x", count: 5000), 400, "the first part does not begin"),
      ("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", 400, "no Content-Disposition"),
    ] as [(String, UInt, String)])
  func malformedForm(_ form: String, _ status: UInt, _ reason: String) async throws {
    let answer = try await answer(form)
    #expect(answer.status == status)
    #expect(answer.json?["errors"]?[0]?["message"]?.string?.contains(reason) == true, "\(answer.body)")
  }

  @Test(
    "a map that does not fit to the variables and the files is refused",
    arguments: [
      (#"{"0":["variables.none"]}"#, "is not the path of a variable that is null"),
      (#"{"0":["variables.list.2"]}"#, "is not the path"), (#"{"0":["variables.list.-1"]}"#, "is not the path"),
      (#"{"0":["variables.file.x"]}"#, "is not the path"), (#"{"0":["file"]}"#, "is not the path"),
      (#"{"0":["variables.list"]}"#, "is not the path"), (#"{"0":["0.variables.file"]}"#, "is not the path"),
      (#"{"0":["query"]}"#, "is not the path"), (#"{"0":["variables."]}"#, "is not the path"),
      (#"{"0":["variables.file","variables.file"]}"#, "two files for"),
      (#"{"0":["variables.file"],"1":["variables.file"]}"#, "two files for"),
      (#"{"0":[]}"#, "must be a list of paths"), (#"{"0":"variables.file"}"#, "must be a list of paths"),
      (#"{"0":[1]}"#, "must be a list of paths"), ("{}", "map does not name"), ("[]", "not an object"), ("{", "is not JSON"),
      (#"{"0":["variables.file"],"1":["variables.list.0"]}"#, "the file \\\"1\\\" of map has not come"),
      (#"{"1":["variables.file"]}"#, "map does not name"),
    ])
  func badMap(_ map: String, _ reason: String) async throws {
    let answer = try await answer(
      Self.form(Self.part("operations", Self.mutation), Self.part("map", map), Self.part("0", "x", file: "a")))
    #expect(answer.status == 400)
    #expect(answer.json?["errors"]?[0]?["extensions"]?["code"] == "BAD_UPLOAD", "\(answer.body)")
    #expect(answer.body.contains(reason), "\(answer.body)")
  }

  @Test("a part twice, and a part behind the files, are refused")
  func duplicates() async throws {
    let opening = Self.part("operations", Self.mutation) + Self.part("map", #"{"0":["variables.file"]}"#)
    for second in ["0", "map", "operations", "other"] {
      let answer = try await answer(Self.form(opening, Self.part("0", "x", file: "a"), Self.part(second, "y", file: "b")))
      #expect(answer.status == 400)
      #expect(answer.body.contains("a part that the form has twice"), "\(answer.body)")
    }
  }

  @Test("limits for files, their size and the whole upload are kept")
  func exceededLimits() async throws {
    var limits = GatewayLimits()
    limits.maximumFiles = 1
    limits.maximumFileBytes = 10
    limits.maximumUploadBytes = 2000
    let operations = Self.part("operations", Self.mutation)
    let two = Self.part("map", #"{"0":["variables.file"],"1":["variables.list.0"]}"#)
    let one = Self.part("map", #"{"0":["variables.file"]}"#)
    func code(_ form: String, _ fields: [(String, String)] = Self.preflight) async throws -> (UInt, JSONValue?) {
      let answer = try await answer(form, fields, limits: limits)
      return (answer.status, answer.json?["errors"]?[0]?["extensions"]?["code"])
    }
    #expect(try await code(Self.form(operations, one, Self.part("0", "0123456789", file: "a"))) == (200, nil))
    #expect(
      try await code(Self.form(operations, one, Self.part("0", "0123456789a", file: "a"))) == (413, "FILE_TOO_LARGE"))
    #expect(try await code(Self.form(operations, two, Self.part("0", "x", file: "a"))) == (413, "TOO_MANY_FILES"))
    let preamble = String(repeating: "y", count: 900) + "\r\n"
    let long = Self.form(operations, one, Self.part("0", "0", file: "a")) + String(repeating: preamble, count: 3)
    #expect(try await code(long) == (413, "PAYLOAD_TOO_LARGE"))
    #expect(
      try await code("", Self.preflight + [("Content-Length", "2001")]) == (413, "PAYLOAD_TOO_LARGE"))
    limits.maximumFiles = 0
    #expect(try await code(Self.form(operations, one, Self.part("0", "x", file: "a"))) == (415, "UNSUPPORTED_MEDIA_TYPE"))
  }

  /// A form whose part of this name has so many bytes, by spaces behind its JSON. It ends within that part.
  private static func unfinished(_ name: String, bytes: Int) -> String {
    let json = name == "map" ? #"{"0":["variables.file"]}"# : mutation
    let long = json + String(repeating: " ", count: bytes - json.utf8.count)
    let opening = (name == "map" ? part("operations", mutation) : "") + part(name, long)
    return String(opening.dropLast())
  }

  @Test(
    "a part that is longer than its limit is refused as soon as that is known, with the name of the limit",
    arguments: [("operations", 4 << 20, "maximum-body"), ("map", UploadMap.maximumBytes, "a fixed limit")])
  func longPart(_ name: String, _ maximum: Int, _ limit: String) async throws {
    var limits = GatewayLimits()
    limits.maximumBodyBytes = 4 << 20
    let connection = try await OperationChannel(Uploads().runner(), limits: limits)
    try await connection.channel.writeInbound(RequestPart.head(Self.head(Self.preflight)))
    // The rest of the form never comes, so an answer shows that nothing waits for it.
    let form = Array(Self.unfinished(name, bytes: maximum + 100).utf8)
    for start in stride(from: 0, to: form.count, by: 60_000) {
      let piece = form[start..<min(start + 60_000, form.count)]
      try await connection.channel.writeInbound(RequestPart.body(ByteBuffer(bytes: piece)))
    }
    guard case .whole(let head, let body) = try await connection.channel.waitForOutboundWrite(as: ReplyPart.self) else {
      throw CancellationError()
    }
    let answer = OperationChannel.Answer(head: head, body: String(buffer: body))
    #expect(answer.status == 413)
    #expect(
      answer.json?["errors"]?[0]?["message"]?.string == "the part \(name) is longer than \(maximum) bytes (\(limit))",
      "\(answer.body)")
    #expect(answer.json?["errors"]?[0]?["extensions"]?["code"] == "PAYLOAD_TOO_LARGE")
  }

  @Test("parts as long as their limits are accepted", arguments: [("operations", 4 << 20), ("map", UploadMap.maximumBytes)])
  func longestPart(_ name: String, _ maximum: Int) async throws {
    var limits = GatewayLimits()
    limits.maximumBodyBytes = 4 << 20
    let map = name == "map" ? "" : Self.part("map", #"{"0":["variables.file"]}"#)
    let form = Self.form(Self.unfinished(name, bytes: maximum) + "\n", map, Self.part("0", "x", file: "a"))
    let answer = try await answer(form, size: 60_000, limits: limits)
    #expect(answer.body == #"{"data":{"upload":"done"}}"#)
  }

  @Test("a batch, a subscription, and an operation that the gateway refuses are refused")
  func refusedOperations() async throws {
    let cases = [
      ("[\(Self.mutation)]", "BATCHING_NOT_SUPPORTED"), (#"{"query":"subscription { a }","variables":{}}"#, "BAD_UPLOAD"),
      (#"{"query":"{ a "}"#, "GRAPHQL_PARSE_FAILED"), ("nothing", "BAD_REQUEST"),
    ]
    for (operations, code) in cases {
      let answer = try await answer(
        Self.form(
          Self.part("operations", operations), Self.part("map", #"{"0":["variables.file"]}"#), Self.part("0", "x", file: "a")))
      #expect(answer.json?["errors"]?[0]?["extensions"]?["code"]?.string == code, "\(answer.body)")
    }
  }

  @Test("a form of another site's page is refused before its body is read")
  func forgery() async throws {
    let connection = try await OperationChannel(Uploads().runner())
    try await connection.channel.writeInbound(RequestPart.head(Self.head([("Content-Length", "1000000")])))
    guard case .whole(let head, let body) = try await connection.channel.waitForOutboundWrite(as: ReplyPart.self) else {
      throw CancellationError()
    }
    #expect(head.status == .badRequest && String(buffer: body).contains("CSRF"))
    #expect(head.fields.list.values(for: "connection") == ["close"])
    for field in ["Apollo-Require-Preflight", "X-Apollo-Operation-Name"] {
      let answer = try await answer("--b--", [(field, "M")])
      #expect(!answer.body.contains("CSRF"))
    }
  }

  @Test("a form with a content coding or without a valid boundary is refused")
  func contentType() async throws {
    let coded = try await answer("x", Self.preflight + [("Content-Encoding", "gzip")])
    #expect(coded.status == 415)
    for type in ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=a; boundary=b"] {
      let answer = try await answer("x", type: type)
      #expect(answer.status == 400 && answer.body.contains("no valid boundary"), "\(answer.body)")
    }
    let other = try await answer("x", type: "multipart/form-datax; boundary=b")
    #expect(other.status == 415)
  }

  @Test("the connection is not read while the operation does not read the form")
  func backPressure() async throws {
    let gate = AsyncStream<Void>.makeStream()
    let runner = ScriptedRunner { operation in
      PullStream {
        for await _ in gate.stream { break }
        while try await operation.form?.next() != nil {}
        return .last(try GraphQLResponse(json: ["data": ["upload": "done"]]))
      }
    }
    let connection = try await OperationChannel(runner)
    let opening = Self.part("operations", Self.mutation) + Self.part("map", #"{"0":["variables.file"]}"#)
    try await connection.channel.writeInbound(RequestPart.head(Self.head(Self.preflight)))
    // CRLF is one character.
    let begin = opening + Self.part("0", "", file: "a").dropLast()
    try await connection.channel.writeInbound(RequestPart.body(ByteBuffer(string: begin)))
    let handler = try await connection.channel.testingEventLoop.executeInContext { [channel = connection.channel] in
      NIOLoopBound(try channel.pipeline.syncOperations.handler(type: ConnectionHandler.self), eventLoop: channel.eventLoop)
    }
    @Sendable func isSuspended() async throws -> Bool {
      try await connection.channel.testingEventLoop.executeInContext { [channel = connection.channel] in
        channel.read()
        return handler.value.input.owesRead
      }
    }
    #expect(try await !isSuspended())
    let chunk = ByteBuffer(repeating: 0x61, count: 64 << 10)
    for _ in 0..<8 { try await connection.channel.writeInbound(RequestPart.body(chunk)) }
    #expect(try await isSuspended())
    gate.continuation.yield()
    // A read may come at any place between half of the window and the whole of it.
    #expect(
      await eventually {
        await connection.channel.testingEventLoop.run()
        return try await !isSuspended()
      })
    try await connection.channel.writeInbound(RequestPart.body(ByteBuffer(string: "\r\n--b--\r\n")))
    try await connection.channel.writeInbound(RequestPart.end)
    guard case .whole(let head, _) = try await connection.channel.waitForOutboundWrite(as: ReplyPart.self) else {
      throw CancellationError()
    }
    #expect(head.status == .ok)
  }
}
