internal import CarabinerPlugin
internal import Synchronization

/// All four stages on the Swift kit, and their possible failures: the mode in the configuration selects one.
/// The fixtures in C++ and Rust do the same, and share one table of expectations.
final class Kit: Plugin, Validating {
  static let identity = PluginIdentity(
    id: "org.carabiner.test.kit", version: "1.0.0",
    configurationSchema: """
      {"type":"object","additionalProperties":false,"required":["mode"],"properties":{"mode":{"type":"string"},
      "url":{"type":"string"},"journal":{"type":"string"},"extra":{}}}
      """,
    name: "Kit", vendor: "Carabiner", url: "https://kit.example")

  private struct Settings: Decodable {
    let mode: String
    let url: String?
    let journal: String?
    let extra: Extra?
  }

  private struct Extra: Decodable {
  }

  /// The beginning of the only record that this cache keeps in the host's store.
  static let opening = #"{"Kit:1":{"answer":"#

  let mode: String
  let url: String
  let note: BaggageKey
  let host: PluginHost
  let late = Mutex("")
  let kept = Mutex<[String: String]>([:])
  let journal: String
  let origin: String
  let hasExtra: Bool
  let ticks = Ticks()
  /// The task of work that continues after its call is over.
  let lateTask = Mutex<Int?>(nil)
  private let adopted = Mutex<String?>(nil)

  init(configuration: PluginConfiguration, host: PluginHost) throws {
    let settings = try configuration.decode(Settings.self)
    mode = settings.mode
    url = settings.url ?? ""
    note = try host.key("org.carabiner.test.note")
    self.host = host
    journal = settings.journal ?? ""
    origin = configuration.origin
    hasExtra = settings.extra != nil
    try Self.validate(configuration)
    if mode == "slow tick" {
      try host.every(.milliseconds(1)) { [ticks, witness = Witness(journal, "work")] in
        withExtendedLifetime(witness) { ticks.tick(andTake: 50_000) }
      }
    }
    if mode == "tick" {
      try host.every(.milliseconds(1)) { [ticks, witness = Witness(journal, "work")] in
        withExtendedLifetime(witness) { ticks.tick() }
      }
    }
  }

  deinit {
    let task = unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
    let isOwn = task != nil && task == lateTask.withLock { $0 }
    noteEnd(journal, isOwn ? "plugin on its own worker" : "plugin")
  }

  static func validate(_ configuration: PluginConfiguration) throws {
    if try configuration.decode(Settings.self).mode == "refuse" { throw PluginFailure("this configuration is refused") }
  }

  func throwing(in hook: String) throws {
    if mode == "throw in \(hook)" { throw PluginFailure("thrown in \(hook)") }
  }
}

extension Kit: Draining {
  func drain() {
    if mode == "drain" || mode == "throw in drain" { noteEnd(journal, "drain") }
  }
}

extension Kit: Handover {
  static let stateVersion: UInt32 = 3

  func save() throws -> [UInt8]? {
    try throwing(in: "save")
    return mode == "nothing" ? nil : Array("kit:\(adopted.withLock { $0 } ?? mode)".utf8)
  }

  func adopt(_ bytes: [UInt8], version: UInt32) throws {
    try throwing(in: "adopt")
    guard version == Self.stateVersion, bytes.starts(with: "kit:".utf8),
      let text = String(validating: bytes.dropFirst(4), as: UTF8.self)
    else { throw PluginFailure("this is not a state of a kit", code: 9) }
    adopted.withLock { $0 = text }
  }
}

extension Kit: SelfTesting {
  static var selfTests: [SelfTest<Kit>] {
    [
      SelfTest("a record begins as the store writes it") { _ in opening.utf8.count == 19 },
      SelfTest("a kit adopts its own state") { kit in
        try kit.adopt(Array("kit:of a test".utf8), version: stateVersion)
        let saved = String(decoding: try kit.save() ?? [], as: UTF8.self)
        guard saved == "kit:of a test" else { throw PluginFailure("it says \(saved)") }
        return true
      },
      SelfTest("another plugin") { _ in false },
    ]
  }
}

/// The number of times the request passed.
struct Passes: CallState {
  var count = 0
}

extension Kit: GraphQL.Stage, GraphQL.OnResult, GraphQL.OnError {
  static var graphQL: StageParts { StageParts(needs: [.headers, .json], mutates: [.headers, .json]) }

  func onRequest(_ call: GraphQL.Call, _ passes: inout Passes) throws -> Verdict {
    try throwing(in: "graphql.on_request")
    switch mode {
    case "too many": throw PluginFailure("too many at once", code: 7, httpStatus: 429, retryAfter: .milliseconds(1500))
    case "respond": return try call.respond(#"{"data":{"hero":{"name":"plugin"}}}"#)
    case "flags": throw PluginFailure("asleep", flags: [.retryable, .limit], detail: #"{"until":9}"#)
    case "origin": return try call.respond(#"{"data":{"hero":{"name":"\#(origin)"}}}"#)
    case "extra": return try call.respond(#"{"data":{"hero":{"name":"\#(hasExtra ? "given" : "missing")"}}}"#)
    case "hold": return hold()
    case "hold elsewhere": return holdElsewhere()
    case "overrun": return overrun(call)
    case "slow tick":
      // The second tick is running when the call ends.
      return .later { [host, ticks] in
        while ticks.count < 2 { try await host.sleep(for: .milliseconds(1)) }
        return .continue
      }
    case "tick":
      return .later { [host, ticks] in
        while ticks.count < 3 { try await host.sleep(for: .milliseconds(1)) }
        try call.setHeader("X-Kit-Ticks", to: "3")
        return .continue
      }
    case "undeclared": try call.setDocument("{ other }")
    case "retry":
      passes.count += 1
      try call.setHeader("X-Kit-Passes", to: "\(passes.count)")
      if call.attempt == 0 { return try call.retry(after: .milliseconds(1)) }
    case "after":
      return .later { [host] in
        try await host.sleep(for: .milliseconds(5))
        try call.setHeader("X-Kit-Later", to: "after")
        return .continue
      }
    case "thread":
      return .later {
        try await Task.detached { try call.setHeader("X-Kit-Later", to: "thread") }.value
        return .continue
      }
    case "throw later":
      return .later { [host] in
        try await host.sleep(for: .milliseconds(1))
        throw PluginFailure("thrown later")
      }
    case "fetch":
      return .later { [host, url] in
        let response = try await host.fetch(url)
        try call.setHeader("X-Kit-Fetch", to: "\(response.status) \(String(decoding: response.body, as: UTF8.self))")
        return .continue
      }
    case "late": return try onLate(call)
    case "cancel":
      return .later { [host] in
        try await host.sleep(for: .seconds(600))
        return .continue
      }
    default: break
    }
    try call.setHeader("X-Kit-GraphQL", to: "request")
    try call.setBaggage(note, to: .text("from graphql"), in: .call)
    return .continue
  }

  /// The call will be over when this tries to change it. The next call reports the host's error.
  private func onLate(_ call: GraphQL.Call) throws -> Verdict {
    let told = late.withLock { $0 }
    guard told.isEmpty else {
      try call.setHeader("X-Kit-Late", to: told)
      return .continue
    }
    return .later { [self] in
      // Detached, so it runs late even if this task is cancelled.
      await Task.detached { [host] in try? await host.sleep(for: .seconds(2)) }.value
      do {
        try call.setHeader("X-Kit-Late", to: "yes")
      } catch {
        late.withLock { $0 = "\(error)" }
      }
      return .continue
    }
  }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ passes: inout Passes) throws -> Verdict {
    try throwing(in: "graphql.on_result")
    if mode == "drop" || mode == "drop incremental" && result.isIncremental { return .drop }
    if mode == "finish second" && result.sequence == 1 { return .finish }
    if mode == "parts" {
      let place = "\(result.hasNext) \(result.isIncremental) \(result.path == nil ? "-" : "path") \(result.label ?? "-")"
      return try call.replace(#"{"data":{"hero":{"name":"\#(place)"}}}"#)
    }
    guard let json = result.json, json.hasSuffix("\"}}}") else { return .continue }
    return try call.replace(json.dropLast(4) + "+result\"}}}")
  }

  func onError(_ call: GraphQL.Call, _ error: borrowing ErrorEvent, _ passes: inout Passes) throws -> Verdict {
    try throwing(in: "graphql.on_error")
    if mode == "error" {
      let kind = error.flags.isSuperset(of: [.retryable, .httpStatus]) ? "retryable" : "final"
      return try call.recover(#"{"data":{"hero":{"name":"\#(kind) \#(error.origin)"}}}"#)
    }
    guard mode == "recover" else { return .continue }
    return try call.recover(#"{"data":{"hero":{"name":"recovered from \#(error.httpStatus)"}}}"#)
  }
}

extension Kit: HTTP.Stage, HTTP.OnHead, HTTP.OnChunk {
  static var http: StageParts { StageParts(needs: [.headers, .method, .chunk], mutates: [.headers, .chunk]) }

  func onRequest(_ call: HTTP.Call, _ state: inout NoState) throws -> Verdict {
    try throwing(in: "http.on_request")
    if mode == "short circuit" {
      return try call.respond(status: 200, headers: [("Content-Type", "text/x-kit")], body: Array("name=short".utf8))
    }
    let note = if case .text(let text)? = try call.baggage(note) { text } else { "" }
    try call.setHeader("X-Kit-HTTP", to: "\(try call.method ?? "") \(note)")
    return .continue
  }

  func onHead(_ call: HTTP.Call, _ head: borrowing Head, _ state: inout NoState) throws -> Verdict {
    try throwing(in: "http.on_head")
    try call.setHeader("X-Kit-Head", to: "\(head.status)")
    return .continue
  }

  func onChunk(_ call: HTTP.Call, _ chunk: borrowing Chunk, _ state: inout NoState) throws -> Verdict {
    try throwing(in: "http.on_chunk")
    return chunk.sequence == 0 ? try call.replace(chunk.bytes + "+chunk".utf8) : .continue
  }
}

extension Kit: Cache.Stage, Cache.OnWrite {
  static var cache: StageParts { StageParts(needs: [.document, .json]) }

  func onRead(_ call: Cache.Call, _ state: inout NoState) throws -> Verdict {
    try throwing(in: "cache.on_read")
    if mode == "store read" {
      return .later { [host] in
        let records = try await host.store.load(["Kit:1"])
        guard records.hasPrefix(Self.opening) else { return .continue }
        return try call.respond(String(records.dropFirst(Self.opening.count).dropLast(2)))
      }
    }
    guard !mode.hasPrefix("store") else { return .continue }
    let document = try call.document ?? ""
    guard let json = kept.withLock({ $0[document] }) else { return .continue }
    return try call.respond(json)
  }

  func onWrite(_ call: Cache.Call, _ result: borrowing ResultEvent, _ state: inout NoState) throws -> Verdict {
    try throwing(in: "cache.on_write")
    if mode == "store skip" { return .drop }
    if mode.hasPrefix("store") {
      let json = result.json ?? "null"
      return .later { [host, mode] in
        switch mode {
        case "store write": try await host.store.publish("\(Self.opening)\(json)}}")
        case "store remove": try await host.store.remove(["Kit:1", "Kit:2"])
        case "store remove matching": try await host.store.remove(matching: "Kit:*")
        default: break
        }
        return .continue
      }
    }
    let document = try call.document ?? ""
    let json = result.json
    kept.withLock { $0[document] = json }
    return .continue
  }
}

/// The body of a response so far.
struct Body: CallState {
  var bytes: [UInt8] = []
}

/// Parses responses of the form name=NAME.
extension Kit: Parser.Stage, Parser.OnChunk, Parser.OnEnd {
  static var parser: StageParts { StageParts(needs: [.headers, .chunk]) }
  static var accept: StaticString? { "text/x-kit" }

  func onHead(_ call: Parser.Call, _ head: borrowing Head, _ body: inout Body) throws -> Verdict {
    try throwing(in: "parser.on_head")
    return head.header("content-type") == "text/x-kit" ? .continue : .drop
  }

  func onChunk(_ call: Parser.Call, _ chunk: borrowing Chunk, _ body: inout Body) throws -> Verdict {
    try throwing(in: "parser.on_chunk")
    chunk.append(to: &body.bytes)
    return .continue
  }

  func onEnd(_ call: Parser.Call, _ body: inout Body) throws -> Verdict {
    try throwing(in: "parser.on_end")
    let text = String(decoding: body.bytes, as: UTF8.self)
    guard text.hasPrefix("name=") else { throw PluginFailure("the body has no name") }
    if mode == "many" {
      // One result for each letter, like a response in parts.
      let letters = Array(text.dropFirst(5))
      for (place, letter) in letters.enumerated() {
        try call.emit(
          #"{"data":{"hero":{"name":"\#(letter)"}}}"#, isIncremental: place > 0, hasNext: place + 1 < letters.count)
      }
      return .continue
    }
    try call.emit(#"{"data":{"hero":{"name":"\#(text.dropFirst(5))+\#(try call.header("X-Kit-Head") ?? "")"}}}"#)
    return .continue
  }
}
