import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import Synchronization
import Testing

typealias Text = Google_Protobuf_StringValue

/// A client, and the server that it calls.
struct Service {
  let server: ScriptedServer
  let client: ProtocolClient

  static let path = "test.v1.Test/Call"

  /// A service that answers each request.
  init(
    _ interceptors: [InterceptorFactory] = [], timeout: TimeInterval? = nil, codec: any Codec = JSONCodec(),
    networkProtocol: NetworkProtocol = .connect, unaryGET: ProtocolClientConfig.UnaryGET = .disabled,
    _ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in try peer.text("world") }
  ) throws {
    try self.init(
      interceptors, timeout: timeout, codec: codec, networkProtocol: networkProtocol, unaryGET: unaryGET,
      script: ScriptedServer.answering(answer))
  }

  init(
    _ interceptors: [InterceptorFactory] = [], timeout: TimeInterval? = nil, codec: any Codec = JSONCodec(),
    networkProtocol: NetworkProtocol = .connect, unaryGET: ProtocolClientConfig.UnaryGET = .disabled,
    script: @escaping ScriptedServer.Script
  ) throws {
    server = try ScriptedServer(script)
    client = ProtocolClient(
      config: ProtocolClientConfig(
        host: server.origin, networkProtocol: networkProtocol, codec: codec, unaryGET: unaryGET, timeout: timeout,
        interceptors: interceptors))
  }

  func call(
    _ text: String = "hello", level: IdempotencyLevel = .unknown, headers: Headers = [:]
  ) async -> ResponseMessage<Text> {
    await client.unary(path: Self.path, idempotencyLevel: level, request: Text(text), headers: headers)
  }

  /// Makes a server stream and sends its message.
  func stream(_ text: String = "hello") throws -> any ServerOnlyAsyncStreamInterface<Text, Text> {
    let stream: any ServerOnlyAsyncStreamInterface<Text, Text> = client.serverOnlyStream(path: Self.path, headers: [:])
    try stream.send(Text(text))
    return stream
  }

  /// The results of a server stream in words.
  func streamed(_ text: String = "hello") async throws -> [String] {
    var words: [String] = []
    for await result in try stream(text).results() { words.append(result.word) }
    return words
  }
}

extension ResponseMessage<Text> {
  /// The message, or code and text of the error.
  var word: String { error.map { "\($0.code) \($0.message ?? "nil")" } ?? message?.value ?? "nil" }
}

extension StreamResult<Text> {
  var word: String {
    switch self {
    case .headers: "headers"
    case .message(let text): text.value
    case .complete(let code, _, _): "complete \(code)"
    }
  }
}

extension Peer {
  /// Answers a unary call.
  func text(_ value: String, headers: String = "") throws {
    try respond(headers: "Content-Type: application/json\r\n\(headers)", body: "\"\(value)\"")
  }

  func error(_ code: String, status: String = "500 Internal Server Error") throws {
    try respond(status, headers: "Content-Type: application/json\r\n", body: "{\"code\":\"\(code)\"}")
  }

  /// The head of a stream whose body ends with the connection.
  func streamHead(codec: String = "json") throws {
    try send("HTTP/1.1 200 OK\r\nContent-Type: application/connect+\(codec)\r\nConnection: close\r\n\r\n")
  }

  /// Answers a server stream with these messages.
  func messages(_ texts: [String]) throws {
    try streamHead()
    try send(texts.flatMap { envelope("\"\($0)\"") } + endOfStream)
    close()
  }
}

/// A message of a stream.
func envelope(_ text: String, flags: UInt8 = 0) -> [UInt8] { envelope(Array(text.utf8), flags: flags) }

/// A message of a stream.
func envelope(_ bytes: [UInt8], flags: UInt8 = 0) -> [UInt8] {
  [flags] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) } + bytes
}

let endOfStream = envelope("{}", flags: 2)

/// The messages of a body in envelopes.
func messages(in body: [UInt8]) -> [String] {
  var (rest, texts) = (body[...], [String]())
  while rest.count >= 5 {
    let length = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
    texts.append(String(decoding: rest.dropFirst(5).prefix(length), as: UTF8.self))
    rest = rest.dropFirst(5 + length)
  }
  return texts
}

/// Lines in the order in which they were written, from any thread.
final class Journal: Sendable {
  private let list = Mutex<[String]>([])

  func add(_ line: String) { list.withLock { $0.append(line) } }

  var lines: [String] { list.withLock { $0 } }
}

/// A value that several threads use.
final class Shared<Value: Sendable>: Sendable {
  private let storage: Mutex<Value>

  init(_ value: Value) { storage = Mutex(value) }

  var value: Value {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }

  /// Changes the value, and returns it as it was.
  @discardableResult func exchange(_ new: Value) -> Value {
    storage.withLock { value in
      defer { value = new }
      return value
    }
  }

  func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result { storage.withLock { body(&$0) } }
}
