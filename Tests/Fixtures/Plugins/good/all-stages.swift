public import CCarabiner
internal import CarabinerPlugin
internal import Synchronization

/// All four stages on the Swift kit, without faults, and the optional extensions of a plugin.
final class AllStages: Plugin {
  static let identity = PluginIdentity(id: "org.carabiner.test.good-swift", version: "1.0.0")

  let kept = Mutex<[String: String]>([:])
  let count = Atomic<UInt64>(0)

  init(configuration: PluginConfiguration, host: PluginHost) {}
}

/// The number of stored results, which the next instance continues.
extension AllStages: Handover {
  static let stateVersion: UInt32 = 1

  func save() -> [UInt8]? {
    let count = count.load(ordering: .relaxed)
    return count > 0 ? (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } : nil
  }

  func adopt(_ bytes: [UInt8], version: UInt32) throws {
    guard version == Self.stateVersion, bytes.count == 8 else { throw PluginFailure("this is not a count") }
    count.store(bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }, ordering: .relaxed)
  }
}

/// A test that CBOR is read as the standard requires.
extension AllStages: SelfTesting {
  static var selfTests: [SelfTest<AllStages>] {
    [
      SelfTest(#"RFC 8949, appendix A: {"a": 1, "b": [2, 3]}"#) { _ in
        var reader = Reader(rest: [0xA2, 0x61, 0x61, 0x01, 0x61, 0x62, 0x82, 0x02, 0x03])
        try reader.value(32)
        guard reader.json == #"{"a":1,"b":[2,3]}"# else { throw PluginFailure("it reads \(reader.json)") }
        return true
      },
      SelfTest("RFC 8949, appendix A: 1.1, which no response here has") { _ in false },
    ]
  }
}

/// The number of failed results and attempts.
struct Failures: CallState {
  var count = 0
}

/// Sends the server whether the operation has a name, and counts failures.
extension AllStages: GraphQL.Stage, GraphQL.OnResult, GraphQL.OnError, GraphQL.OnEnd {
  static var graphQL: StageParts { StageParts(needs: [.operationName, .errors, .json], mutates: [.headers, .json]) }

  func onRequest(_ call: GraphQL.Call, _ failures: inout Failures) throws -> Verdict {
    failures.count = 0
    try call.setHeader("X-Named", to: try call.operationName == nil ? "no" : "yes")
    return .continue
  }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ failures: inout Failures) throws -> Verdict {
    if result.hasErrors { failures.count += 1 }
    // One of several results: it is replaced by an equal one, and the kit keeps that more follow.
    guard result.hasNext, !result.isIncremental, let json = result.json else { return .continue }
    return try call.replace(json)
  }

  func onError(_ call: GraphQL.Call, _ error: borrowing ErrorEvent, _ failures: inout Failures) -> Verdict {
    failures.count += 1
    return .continue
  }

  func onEnd(_ call: GraphQL.Call, _ failures: inout Failures) -> Verdict {
    if failures.count > 0 { call.log(.debug, "some results have errors") }
    return .continue
  }
}

/// The number of bytes of a body so far.
struct Length: CallState {
  var bytes = 0
}

/// Sends the number of the attempt, and measures the body.
extension AllStages: HTTP.Stage, HTTP.OnHead, HTTP.OnChunk {
  static var http: StageParts { StageParts(needs: [.headers, .chunk], mutates: .headers) }

  func onRequest(_ call: HTTP.Call, _ length: inout Length) throws -> Verdict {
    length.bytes = 0
    try call.setHeader("X-Attempt", to: "\(call.attempt)")
    return .continue
  }

  func onHead(_ call: HTTP.Call, _ head: borrowing Head, _ length: inout Length) throws -> Verdict {
    try call.setHeader("X-Seen-Status", to: "\(head.status)")
    return .continue
  }

  func onChunk(_ call: HTTP.Call, _ chunk: borrowing Chunk, _ length: inout Length) -> Verdict {
    length.bytes += chunk.count
    return .continue
  }
}

/// Stores some of the last results.
extension AllStages: Cache.Stage, Cache.OnWrite {
  static var cache: StageParts { StageParts(needs: [.operationName, .document, .variables, .headers, .json, .errors]) }

  private func key(of call: Cache.Call) throws -> String {
    try [call.operationName, call.document, call.variables, call.header("authorization")]
      .map { "\($0?.utf8.count ?? 0):\($0 ?? "")" }.joined()
  }

  func onRead(_ call: Cache.Call, _ state: inout NoState) throws -> Verdict {
    let key = try key(of: call)
    guard let json = kept.withLock({ $0[key] }) else { return .continue }
    return try call.respond(json)
  }

  func onWrite(_ call: Cache.Call, _ result: borrowing ResultEvent, _ state: inout NoState) throws -> Verdict {
    guard call.operationType == .query, !result.hasErrors, !result.isSynthetic, !result.hasNext, !result.isIncremental,
      let json = result.json
    else { return .continue }
    let key = try key(of: call)
    kept.withLock { kept in
      if kept.count >= 32 { kept.removeAll() }
      kept[key] = json
    }
    // Wrapping, because the adopted number can be any value.
    count.wrappingAdd(1, ordering: .relaxed)
    return .continue
  }
}

/// The body so far.
struct Body: CallState {
  var bytes: [UInt8] = []
}

/// Reads application/cbor.
extension AllStages: Parser.Stage, Parser.OnChunk, Parser.OnEnd {
  static var parser: StageParts { StageParts(needs: [.headers, .chunk]) }

  func onHead(_ call: Parser.Call, _ head: borrowing Head, _ body: inout Body) -> Verdict {
    head.header("content-type") == "application/cbor" ? .continue : .drop
  }

  func onChunk(_ call: Parser.Call, _ chunk: borrowing Chunk, _ body: inout Body) throws -> Verdict {
    guard body.bytes.count + chunk.count <= 1 << 20 else { throw PluginFailure("the response is longer than a MiB") }
    chunk.append(to: &body.bytes)
    return .continue
  }

  func onEnd(_ call: Parser.Call, _ body: inout Body) throws -> Verdict {
    var reader = Reader(rest: body.bytes[...])
    try reader.value(32)
    guard reader.rest.isEmpty else { throw PluginFailure("there is more behind the response") }
    try call.emit(reader.json)
    return .continue
  }
}

/// Turns CBOR of maps, lists, texts and small whole numbers into JSON, and refuses all other bytes.
private struct Reader {
  var rest: ArraySlice<UInt8>
  var json = ""

  private mutating func byte() throws -> UInt8 {
    guard let first = rest.popFirst() else { throw PluginFailure("the response ends too early") }
    return first
  }

  /// The kind and the number of the next item.
  private mutating func head() throws -> (kind: UInt8, number: Int) {
    let first = try byte()
    guard first & 31 <= 24 else { throw PluginFailure("the response holds what this parser does not know") }
    return (first >> 5, Int(first & 31 == 24 ? try byte() : first & 31))
  }

  mutating func value(_ depth: Int) throws {
    guard depth > 0 else { throw PluginFailure("the response is too deep") }
    switch try head() {
    case (0, let number): json += "\(number)"
    case (3, let length): try text(length)
    case (4, let count):
      json += "["
      for index in 0..<count {
        if index > 0 { json += "," }
        try value(depth - 1)
      }
      json += "]"
    case (5, let count):
      var names: Set<String> = []
      json += "{"
      for index in 0..<count {
        if index > 0 { json += "," }
        guard case (3, let length) = try head() else { throw PluginFailure("a name is not a text") }
        guard names.insert(try text(length)).inserted else { throw PluginFailure("a map contains a name twice") }
        json += ":"
        try value(depth - 1)
      }
      json += "}"
    default: throw PluginFailure("the response holds what this parser does not know")
    }
  }

  @discardableResult
  private mutating func text(_ length: Int) throws -> String {
    guard length <= rest.count else { throw PluginFailure("the response ends too early") }
    guard let text = String(validating: rest.prefix(length), as: UTF8.self) else { throw PluginFailure("a text is not UTF-8") }
    rest.removeFirst(length)
    json += "\""
    for letter in text.unicodeScalars {
      guard letter.value >= 0x20 else { throw PluginFailure("a text holds a control character") }
      if letter == "\"" || letter == "\\" { json += "\\" }
      json.unicodeScalars.append(letter)
    }
    json += "\""
    return text
  }
}

/// The only exported symbol of the contract. It must be public: otherwise a release build removes it.
@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  unsafe PluginExport.table(for: AllStages.self, host: host)
}
