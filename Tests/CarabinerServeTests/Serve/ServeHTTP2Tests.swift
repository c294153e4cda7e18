import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// HTTP/2 between clients and the gateway, by option.
@Suite("carabiner serve: HTTP/2")
struct ServeHTTP2Tests {
  private typealias Kind = HTTP2Client.Kind

  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private static let countdown = #"{"query":"subscription { countdown(from: 100000, everyMilliseconds: 1000) }"}"#
  private static let known = "--http2-prior-knowledge"

  private func gateway(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, ["--http2"] + arguments)
  }

  /// The result of a request with curl: HTTP version, status and body.
  private func curl(_ arguments: [String], _ url: String, _ body: String) async throws -> String {
    try await ToolRun(
      URL(filePath: "/usr/bin/curl"),
      ["-sS", "-N", "--max-time", "20", "-w", "\n%{http_version} %{http_code}", "-H", "Content-Type: application/json"]
        + arguments + ["--data-binary", body, url]
    ).output
  }

  private func expectServes(_ gateway: ServeProcess) async throws {
    for version in [Self.known, "--http1.1"] {
      #expect(
        try await curl([version], gateway.endpoint, #"{"query":"{ __typename }"}"#)
          == "{\"data\":{\"__typename\":\"Query\"}}\n\(version == Self.known ? "2" : "1.1") 200")
    }
  }

  private func waitUntilIdle(_ gateway: ServeProcess) async {
    #expect(await eventually { try await gateway.status()["operations"]?["running"]?.int == 0 })
  }

  @Test("with TLS the protocol is what both agree on, and without the option it is HTTP/1.1")
  func secure() async throws {
    let (key, certificate) = (folder.file("key.pem"), folder.file("certificate.pem"))
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
        "/CN=localhost",
      ])
    #expect(made.status == 0, "\(made.errors)")
    let tls = ["--tls-certificate", certificate, "--tls-key", key]
    let new = try gateway(tls)
    let old = try ServeProcess(folder, endpoint: upstream.endpoint, tls)
    for (gateway, asked, version) in [(new, "--http2", "2"), (new, "--http1.1", "1.1"), (old, "--http2", "1.1")] {
      let answer = try await curl(
        [asked, "--cacert", certificate, "--resolve", "localhost:\(gateway.port):127.0.0.1"],
        "https://localhost:\(gateway.port)/graphql", #"{"query":"{ __typename }"}"#)
      #expect(answer == "{\"data\":{\"__typename\":\"Query\"}}\n\(version) 200")
    }
    let stranger = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"), ["s_client", "-connect", "127.0.0.1:\(new.port)", "-alpn", "spdy/3"])
    #expect(stranger.status != 0 && stranger.errors.contains("no application protocol"), "\(stranger.errors)")
    let events = try await curl(
      ["--http2", "--cacert", certificate, "--resolve", "localhost:\(new.port):127.0.0.1", "-H", "Accept: text/event-stream"],
      "https://localhost:\(new.port)/graphql", #"{"query":"subscription { countdown(from: 2, everyMilliseconds: 20) }"}"#)
    #expect(events.matches(of: /"countdown":(\d)/).map { String($0.1) } == ["2", "1", "0"])
    #expect(events.hasSuffix("event: complete\ndata:\n\n\n2 200"), "\(events)")
  }

  @Test("h2c with prior knowledge: whole results, parts, and refusals with their status")
  func clear() async throws {
    let gateway = try gateway(["--maximum-body", "1000B"])
    try await expectServes(gateway)
    // This response is sent at once, while the stream is being opened.
    let health = try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", Self.known, "\(gateway.origin)/healthz"])
    #expect(health.output == "ok\n", "\(health.errors)")
    let parts = try await curl(
      [Self.known, "-H", "Accept: multipart/mixed;deferSpec=20220824, application/json"], gateway.endpoint,
      #"{"query":"{ book(id: 1) { title ... @defer { review } } }"}"#)
    #expect(parts.contains(#""hasNext":true"#) && parts.contains(#""path":["book"]"#) && parts.hasSuffix("\n2 200"), "\(parts)")
    for (body, status, code) in [
      ("{", 400, "BAD_REQUEST"), (String(repeating: " ", count: 1001), 413, "PAYLOAD_TOO_LARGE"),
      (#"{"query":"subscription { countdown }"}"#, 406, "NOT_ACCEPTABLE"),
    ] {
      let answer = try await curl([Self.known], gateway.endpoint, body)
      #expect(answer.contains(code) && answer.hasSuffix("\n2 \(status)"), "\(answer)")
    }
    let fields = (0..<150).flatMap { ["-H", "x-\($0): 1"] }
    let refusal = try await curl([Self.known] + fields, gateway.endpoint, "{}")
    #expect(refusal.hasSuffix("\n2 431"), "\(refusal)")
    let client = try WebSocketClient(initialised: gateway)
    client.subscribe("1", "{ __typename }")
    #expect(client.message()?["payload"]?["data"]?["__typename"] == "Query")
  }

  /// The response of a stream, which is not followed by a reset.
  private func receive(_ stream: UInt32, from client: HTTP2Client) throws {
    var frame: HTTP2Client.Frame
    repeat {
      frame = try #require(client.next())
      #expect(frame.stream == stream && frame.kind != Kind.reset, "\(frame)")
    } while !frame.endsStream
  }

  private func expectNoError(on stream: UInt32, from client: HTTP2Client) throws {
    let reset = try #require(client.next())
    #expect(reset.kind == Kind.reset && reset.stream == stream && reset.errorCode == 0, "\(reset)")
  }

  @Test("after a refusal before the end of the body, a client can send the rest, up to its window")
  func early() async throws {
    let client = try HTTP2Client(gateway(["--maximum-body", "1000B", "--receive-timeout", "10m"]))
    let lengths = [(UInt32(1), 1001), (3, 70_000)]
    for (stream, length) in lengths {
      client.post(stream, nil, headers: [("content-length", "\(length)")])
      try receive(stream, from: client)
    }
    client.send(Kind.data, 0x1, 1, Array(repeating: 0x20, count: 1001))
    client.post(5, #"{"query":"{ __typename }"}"#)
    try receive(5, from: client)
    // Its window is full after 65,535 bytes.
    for size in [16_384, 16_384, 16_384, 16_383] { client.send(Kind.data, 0, 3, Array(repeating: 0x20, count: size)) }
    try expectNoError(on: 3, from: client)
    client.post(7, #"{"query":"{ __typename }"}"#)
    try receive(7, from: client)
  }

  @Test("refused requests that their clients reset do not count as resets, and delay no shutdown")
  func resetRefusals() async throws {
    let gateway = try gateway(["--maximum-body", "1000B", "--maximum-resets", "10", "--receive-timeout", "10m"])
    let client = try HTTP2Client(gateway)
    for index in 0..<30 {
      let stream = UInt32(2 * index + 1)
      client.post(stream, nil, headers: [("content-length", "1001")])
      try receive(stream, from: client)
      if index.isMultiple(of: 2) {
        // A body that is shorter than its length, which nghttp2 answers with a reset.
        client.send(Kind.data, 0x1, stream, [])
        #expect(client.next()?.kind == Kind.reset)
      } else {
        client.reset(stream)
      }
    }
    client.post(61, nil, headers: [("content-length", "1001")])
    try receive(61, from: client)
    kill(gateway.processID, SIGTERM)
    try expectNoError(on: 61, from: client)
    while client.next() != nil {}
    #expect(gateway.wait() == 0)
  }

  @Test("after a refusal, a client that does not end its request receives NO_ERROR at the end of the receive timeout")
  func neverEnded() async throws {
    let client = try HTTP2Client(gateway(["--maximum-body", "1000B", "--receive-timeout", "3s"]))
    client.post(1, nil, headers: [("content-length", "1001")])
    try receive(1, from: client)
    try expectNoError(on: 1, from: client)
    client.post(3, #"{"query":"{ __typename }"}"#)
    try receive(3, from: client)
  }

  @Test("requests of one connection run concurrently, and a cancelled one ends upstream")
  func streams() async throws {
    let gateway = try gateway()
    let client = try HTTP2Client(gateway)
    client.post(1, Self.countdown)
    client.post(3, #"{"query":"{ __typename }"}"#)
    var bodies: [UInt32: String] = [:]
    while bodies[1] == nil || bodies[3] == nil {
      let frame = try #require(client.next())
      if frame.kind == Kind.data, !frame.payload.isEmpty { bodies[frame.stream] = String(decoding: frame.payload, as: UTF8.self) }
    }
    #expect(bodies[1]?.contains("100000") == true)
    #expect(bodies[3] == #"{"data":{"__typename":"Query"}}"#)
    #expect(try await gateway.status()["connections"] == 1)
    client.reset(1)
    await waitUntilIdle(gateway)
    client.post(5, Self.countdown)
    while let frame = client.next(), frame.stream != 5 {}
    client.hangUp()
    await waitUntilIdle(gateway)
  }

  @Test("more requests at once than one connection may have are refused, also before the client has heard how many that is")
  func tooManyStreams() async throws {
    let gateway = try gateway(["--maximum-streams", "3"])
    let client = try HTTP2Client(gateway)
    for stream in stride(from: UInt32(1), through: 9, by: 2) { client.post(stream, Self.countdown) }
    var refused: Set<UInt32> = []
    while refused.count < 2, let frame = client.next() {
      if frame.kind == Kind.reset { refused.insert(frame.stream) }
    }
    #expect(refused == [7, 9])
    #expect(try await gateway.status()["operations"]?["running"] == 3)
    client.hangUp()
    await waitUntilIdle(gateway)
    try await expectServes(gateway)
  }

  @Test("a client that cancels its requests repeatedly is disconnected, and others are not affected")
  func rapidReset() async throws {
    let gateway = try gateway(["--maximum-resets", "50"])
    let client = try HTTP2Client(gateway)
    for stream in stride(from: UInt32(1), to: 200, by: 2) {
      client.post(stream, #"{"query":"{ slow(seconds: 5) }"}"#)
      guard client.reset(stream) else { break }
    }
    // The client hears why before the connection ends.
    var reason: UInt8?
    while let frame = client.next() { if frame.kind == Kind.goAway { reason = frame.errorCode } }
    #expect(reason == 11, "not ENHANCE_YOUR_CALM (RFC 9113, 7)")
    await waitUntilIdle(gateway)
    try await expectServes(gateway)
  }

  @Test(
    "a client that breaks the rules of HTTP/2 is disconnected, and other clients are not affected",
    arguments: [
      (Kind.data, 0, 1, [1, 2, 3]), (Kind.headers, 4, 2, [0x82]), (Kind.headers, 4, 1, [0x82]),
      (Kind.headers, 4, 1, [0xFF, 0xFF]),
      (Kind.ping, 0, 0, [1]), (Kind.settings, 0, 0, [1]), (0x9, 4, 1, [0x82]), (8, 0, 0, [0, 0, 0, 0]),
    ] as [(UInt8, UInt8, UInt32, [UInt8])])
  func brokenRules(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) async throws {
    let gateway = try gateway()
    let client = try HTTP2Client(gateway)
    client.send(kind, flags, stream, payload)
    var last: HTTP2Client.Frame?
    while let frame = client.next() {
      last = frame
      if frame.kind == Kind.reset { client.hangUp() }
    }
    #expect(last.map { $0.errorCode != 0 } ?? true)
    try await expectServes(gateway)
  }

  @Test("a head that is too large is refused, and a client without a preface, or with half of it, is disconnected")
  func limits() async throws {
    let gateway = try gateway(["--maximum-head", "2000B", "--receive-timeout", "500ms", "--idle-timeout", "500ms"])
    // Once before the client knows the limit, and once after.
    let large = ["-H", "X-Large: \(String(repeating: "a", count: 4000))"]
    let refusal = try await curl([Self.known] + large, gateway.endpoint, "{}")
    #expect(refusal.hasSuffix("\n2 431"), "\(refusal)")
    let informed = try HTTP2Client(gateway)
    informed.post(1, #"{"query":"{ __typename }"}"#)
    while let frame = informed.next(), frame.kind != Kind.data {}
    informed.post(3, "{}", headers: [("x-large", String(repeating: "a", count: 4000))])
    while let frame = informed.next() { #expect(frame.kind != Kind.goAway || frame.errorCode == 0) }
    let silent = try ClientSocket(port: gateway.port)
    let half = try ClientSocket(port: gateway.port)
    half.send("PRI * HTTP/2.0\r\n\r\nSM")
    #expect(silent.read().isClosed && half.read().isClosed)
    let idle = try HTTP2Client(gateway)
    #expect(idle.next()?.kind == Kind.goAway)
    while idle.next() != nil {}
    try await expectServes(gateway)
    while try await gateway.status()["connections"] != 0 {}
  }

  @Test("SIGTERM lets running operations finish, and accepts no new ones")
  func drain() async throws {
    let mayAnswer = DispatchSemaphore(value: 0)
    let held = try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      mayAnswer.wait()
      try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
    }
    let gateway = try ServeProcess(folder, endpoint: "\(held.origin)/graphql", ["--http2"])
    let client = try HTTP2Client(gateway)
    client.post(1, #"{"query":"{ a }"}"#)
    while try await gateway.status()["operations"]?["running"]?.int != 1 {}
    kill(gateway.processID, SIGTERM)
    #expect(client.next()?.kind == Kind.goAway)
    mayAnswer.signal()
    var body: [UInt8] = []
    while let frame = client.next() { if frame.kind == Kind.data { body += frame.payload } }
    #expect(String(decoding: body, as: UTF8.self) == #"{"data":{"a":1}}"#)
    #expect(try await offThePool { gateway.wait() } == 0)
  }
}
