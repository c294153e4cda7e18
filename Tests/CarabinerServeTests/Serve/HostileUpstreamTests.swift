import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Upstreams that fail in every possible way. Clients get a response, and the gateway continues.
@Suite("carabiner serve: hostile upstreams")
struct HostileUpstreamTests {
  private static let answer = #"{"data":{"a":1}}"#
  private static let json = "Content-Type: application/json\r\n"

  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// - Parameter attempts: The attempts of a request at the upstream.
  private func gateway(_ endpoint: String, settings: String = "{}", attempts: Int = 2) throws -> ServeProcess {
    let main = "{endpoints: ['\(endpoint)'], retry: {attempts: \(attempts)}}"
    _ = try folder.write(
      "carabiner: 1\nsettings: \(settings)\nbuilt-ins: {max-retry: {maximum-retries: 0}}\n"
        + (attempts == 2 ? "" : "upstreams: {main: \(main)}\n"), to: "chain.yaml")
    return try ServeProcess(folder, endpoint: endpoint)
  }

  /// An upstream with a script for each operation name. It answers all other operations.
  private func upstream(_ scripts: [String: @Sendable (Peer) throws -> Void]) throws -> ScriptedServer {
    try ScriptedServer { peer in
      while let request = try peer.request() {
        let body = String(decoding: request.body, as: UTF8.self)
        if let script = scripts.first(where: { body.contains("query \($0.key) ") })?.value {
          try script(peer)
          return
        }
        try peer.respond(headers: Self.json, body: Self.answer)
      }
    }
  }

  private static func expect(_ answer: RawAnswer, _ status: Int, _ code: String, _ name: String) throws {
    #expect(answer.status == status, "\(name): \(answer.text)")
    let error = try JSONValue(parsing: answer.text)["errors"]?[0]
    #expect(error?["extensions"]?["code"]?.string == code, "\(name): \(answer.text)")
    #expect(error?["message"]?.string?.isEmpty == false, "\(name)")
  }

  /// After a failing upstream, other clients are served as before, and no operation is running.
  private func expectServes(_ gateway: ServeProcess) async throws {
    #expect(try gateway.query("{ a }").text == Self.answer)
    #expect(try await gateway.status()["operations"] == ["running": 0, "waiting": 0])
  }

  @Test("an upstream that breaks off, or does not use HTTP, is a 502")
  func broken() async throws {
    let scripts: [String: @Sendable (Peer) throws -> Void] = [
      "Reset": { $0.reset() },
      "Closes": { $0.close() },
      "ResetInHead": { peer in
        try peer.send("HTTP/1.1 200 OK\r\nContent-Ty")
        peer.reset()
      },
      "ResetInBody": { peer in
        try peer.send("HTTP/1.1 200 OK\r\n\(Self.json)Content-Length: 100\r\n\r\n{\"data\":")
        peer.reset()
      },
      "TooShort": { try $0.send("HTTP/1.1 200 OK\r\n\(Self.json)Content-Length: 100\r\n\r\n\(Self.answer)") },
      "CutChunk": { try $0.send("HTTP/1.1 200 OK\r\n\(Self.json)Transfer-Encoding: chunked\r\n\r\n10\r\n{\"da") },
      "BadChunk": {
        try $0.send("HTTP/1.1 200 OK\r\n\(Self.json)Transfer-Encoding: chunked\r\n\r\nzz\r\n\(Self.answer)\r\n0\r\n\r\n")
      },
      "Noise": { try $0.send(Array("\u{16}\u{3}\u{1}".utf8) + [0xFF, 0xFE, 0x0D, 0x0A, 0x0D, 0x0A]) },
      "OtherProtocol": { try $0.send("220 mail.example.org ESMTP\r\n") },
      "OtherVersion": { try $0.send("HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}") },
      "EndlessHead": { peer in
        for number in 0... {
          try peer.send(number == 0 ? "HTTP/1.1 200 OK\r\n" : "X-\(number): \(String(repeating: "a", count: 4000))\r\n")
        }
      },
      "EndlessBody": { peer in
        try peer.send("HTTP/1.1 200 OK\r\n\(Self.json)\r\n\"")
        while true { try peer.send(String(repeating: "a", count: 4000)) }
      },
      "Bomb": { try $0.send("HTTP/1.1 200 OK\r\n\(Self.json)Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone") },
    ]
    let upstream = try upstream(scripts)
    let gateway = try gateway("\(upstream.origin)/graphql", settings: "{maximum-head: 16KiB, maximum-body: 64KiB}")
    for name in scripts.keys.sorted() {
      try Self.expect(try gateway.query("query \(name) { a }"), 502, "UPSTREAM_FAILED", name)
    }
    try await expectServes(gateway)
  }

  @Test("an upstream that is slow at any point is a 504 after the timeout")
  func slow() async throws {
    let scripts: [String: @Sendable (Peer) throws -> Void] = [
      "Silent": { $0.waitForHangUp() },
      "SilentInHead": { peer in
        try peer.send("HTTP/1.1 200 OK\r\nContent-")
        peer.waitForHangUp()
      },
      "SilentInBody": { peer in
        try peer.send("HTTP/1.1 200 OK\r\n\(Self.json)Content-Length: 100\r\n\r\n{")
        peer.waitForHangUp()
      },
      "Dripping": { peer in
        try peer.send("HTTP/1.1 200 OK\r\n\(Self.json)Content-Length: 100000\r\n\r\n")
        while true {
          try peer.send(" ")
          peer.pause(milliseconds: 20)
        }
      },
    ]
    let upstream = try upstream(scripts)
    let gateway = try gateway("\(upstream.origin)/graphql", settings: "{timeout: 500ms}")
    for name in scripts.keys.sorted() {
      let answer = try gateway.query("query \(name) { a }")
      try Self.expect(answer, 504, "UPSTREAM_TIMEOUT", name)
      #expect(answer.text.contains("longer than it may") || answer.text.contains("in time"), "\(answer.text)")
    }
    // A cancelled operation is also cancelled upstream.
    let start = ContinuousClock.now
    while upstream.hangUps < 3, ContinuousClock.now - start < .seconds(30) { await Task.yield() }
    #expect(upstream.hangUps == 3)
  }

  @Test("an upstream that is down is a 502, and is used again when it is back")
  func goneAndBack() async throws {
    let upstream = try ScriptedServer(
      isOpen: false, ScriptedServer.answering { _, peer in try peer.respond(headers: Self.json, body: Self.answer) })
    let gateway = try gateway("\(upstream.origin)/graphql")
    try Self.expect(try gateway.query("{ a }"), 502, "UPSTREAM_UNREACHABLE", "gone")
    try upstream.open()
    try await expectServes(gateway)
  }

  @Test("a storm of 5xx reaches the clients as what it is, and is over when it is over")
  func storm() async throws {
    let isRaging = Mutex(true)
    let number = Mutex(0)
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        guard isRaging.withLock(\.self) else { return try peer.respond(headers: Self.json, body: Self.answer) }
        let status = number.withLock { number in
          number += 1
          return ["500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"][number % 4]
        }
        try peer.respond(status, body: "a stack trace")
      })
    let gateway = try gateway("\(upstream.origin)/graphql", attempts: 1)
    let port = gateway.port
    let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 { group.addTask { try await offThePool { try Self.statuses(of: 25, port: port) } } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(statuses.count == 200)
    // 503 is useful to a client, because it can retry. All other errors concern only the gateway and the upstream.
    #expect(statuses.filter { $0 == 503 }.count == 50 && statuses.filter { $0 == 502 }.count == 150, "\(statuses)")
    isRaging.withLock { $0 = false }
    try await expectServes(gateway)
  }

  /// Sends requests over one connection, one after another.
  private static func statuses(of count: Int, port: Int) throws -> [Int] {
    let client = try ClientSocket(port: port)
    let body = #"{"query":"{ a }"}"#
    let request =
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    return (0..<count).map { _ in
      client.send(request)
      let text = client.read(patience: 60_000) { $0.hasSuffix("}") }.text
      return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
  }

  @Test("an upstream gets no more connections than the manifest allows, and other requests wait")
  func fewConnections() async throws {
    let open = Mutex((now: 0, most: 0))
    let upstream = try ScriptedServer { peer in
      let count = open.withLock { open in
        open.now += 1
        open.most = max(open.most, open.now)
        return open.now
      }
      defer { open.withLock { $0.now -= 1 } }
      guard count <= 2 else { return peer.reset() }
      while try peer.request() != nil {
        peer.pause(milliseconds: 5)
        try peer.respond(headers: Self.json, body: Self.answer)
      }
    }
    let gateway = try gateway("\(upstream.origin)/graphql", settings: "{connections-per-host: 2}")
    let port = gateway.port
    let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 { group.addTask { try await offThePool { try Self.statuses(of: 5, port: port) } } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(statuses == Array(repeating: 200, count: 40))
    #expect(open.withLock(\.most) <= 2)
  }

  @Test("a subscription whose upstream is reset ends with an error, and not in silence")
  func subscription() async throws {
    let hasArrived = Mutex(false)
    let upstream = try ScriptedServer { peer in
      _ = try peer.request()
      let part = "\r\n--graphql\r\n\(Self.json)\r\n{\"payload\":\(Self.answer)}\r\n--graphql"
      try peer.send(
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n")
      // A reset discards data that was not read yet.
      while !hasArrived.withLock(\.self) { peer.pause(milliseconds: 5) }
      peer.reset()
    }
    let gateway = try gateway("\(upstream.origin)/graphql")
    let body = #"{"query":"subscription { a }"}"#
    let client = try ClientSocket(port: gateway.port)
    client.send(
      "POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let first = client.read(patience: 60_000) { $0.contains("\n\n") }.text
    #expect(first.hasPrefix("HTTP/1.1 200") && first.contains("event: next\ndata: \(Self.answer)\n\n"), "\(first)")
    hasArrived.withLock { $0 = true }
    let (rest, isClosed) = client.read(patience: 60_000)
    #expect(isClosed && rest.contains("UPSTREAM_FAILED") && rest.contains("event: complete\ndata:\n\n"), "\(rest)")
  }

  @Test(
    "a plugin that refuses a call sets the status, from 400 to 599, and the retry delay",
    arguments: [
      (401, 0, 401, "UNAUTHENTICATED", nil), (418, 0, 418, "REFUSED", nil),
      (429, 1_500_000_000, 429, "TOO_MANY_REQUESTS", "2"), (503, UInt64.max, 503, "UNAVAILABLE", "86400"),
      (200, 0, 500, "INTERCEPTOR_FAILED", nil), (600, 0, 500, "INTERCEPTOR_FAILED", nil),
    ] as [(Int, UInt64, Int, String, String?)])
  func refusingPlugin(_ blamed: Int, _ delay: UInt64, _ status: Int, _ code: String, _ retryAfter: String?) async throws {
    let place = try FixturePlugin.Folder()
    let plugin = try await FixturePlugin.compile(
      "stamp", defining: ["REFUSES_WITH=\(blamed)", "RETRY_AFTER=\(delay)ull"], into: place)
    _ = try folder.write(
      "carabiner: 1\nplugins: [{name: stamp, file: \(plugin)}]\nchain: {http: [stamp, response-code]}\n", to: "chain.yaml")
    let answer = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/").query("{ a }")
    try Self.expect(answer, status, code, "\(blamed)")
    #expect(answer.head.first { $0.hasPrefix("Retry-After: ") } == retryAfter.map { "Retry-After: \($0)" })
    // The upstream's error text is only for the log.
    #expect(!answer.text.contains("secret"))
  }

  @Test(
    "a plugin's message and detail reach clients if its entry says so, but not those of failures", .rule("gateway.21"),
    arguments: [true, false],
    [(403, 403, "FORBIDDEN", true), (503, 503, "UNAVAILABLE", true), (502, 502, "INTERCEPTOR_FAILED", false)])
  func messages(_ setting: Bool, _ refusal: (blamed: Int, status: Int, code: String, mayBeShown: Bool)) async throws {
    let (blamed, status, code, mayBeShown) = refusal
    let isShown = setting && mayBeShown
    let place = try FixturePlugin.Folder()
    let plugin = try await FixturePlugin.compile(
      "stamp", defining: ["REFUSES_WITH=\(blamed)", "RETRY_AFTER=0ull"], into: place)
    _ = try folder.write(
      """
      carabiner: 1
      headers: {X-Token: "${env:TOKEN}"}
      plugins: [{name: stamp, file: \(plugin), messages-to-clients: \(setting)}]
      chain: {http: [stamp, response-code]}

      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/", environment: ["TOKEN": "secret of"])
    let answer = try gateway.query("{ a }")
    try Self.expect(answer, status, code, "\(blamed)")
    let error = try JSONValue(parsing: answer.text)["errors"]?[0]
    #expect((error?["message"] == "a ${env:TOKEN} the plugin") == isShown, "\(answer.text)")
    #expect((error?["extensions"]?["detail"] == ["secret": [1]]) == isShown, "\(answer.text)")
  }

  @Test("the memory of large responses goes back to the system")
  func largeResponses() async throws {
    let text = String(repeating: "a", count: 24 << 20)
    let upstream = try upstream(["Large": { try $0.respond(headers: Self.json, body: #"{"data":{"a":"\#(text)"}}"#) }])
    let gateway = try gateway("\(upstream.origin)/graphql")
    #expect(try gateway.query("{ a }").text == Self.answer)
    let before = try gateway.residentBytes()
    for _ in 0..<3 {
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<4 { group.addTask { try await offThePool { try gateway.query("query Large { a }").text.utf8.count } } }
        for try await size in group { #expect(size > text.utf8.count) }
      }
    }
    // The connections end and release their buffers after the clients have their responses.
    let start = ContinuousClock.now
    var grown = Int.max
    while grown >= 48 << 20, ContinuousClock.now - start < .seconds(60) {
      grown = try gateway.residentBytes() - before
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(grown < 48 << 20, "\(grown >> 20) MB of 24 MB responses were kept")
  }
}
