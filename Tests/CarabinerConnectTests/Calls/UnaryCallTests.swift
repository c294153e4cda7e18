import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Unary calls", .timeLimit(.minutes(2)))
struct UnaryCallTests {
  @Test("equal messages give equal GET URLs, and a larger message is sent by POST", .rule("connect.35"))
  func get() async throws {
    let service = try Service(unaryGET: .enabledForLimitedPayloadSizes(maxBytes: 20))
    for text in ["a", "a", String(repeating: "a", count: 30)] { _ = await service.call(text, level: .noSideEffects) }
    _ = await service.call("a", level: .idempotent)
    let requests = service.server.requests
    #expect(requests.map(\.method) == ["GET", "GET", "POST", "POST"])
    #expect(requests[0].target == requests[1].target)
    #expect(requests[0].target == "/test.v1.Test/Call?connect=v1&base64=1&encoding=json&message=ImEi")
  }

  enum Slow: CaseIterable { case hook, server, responseHook }

  @Test(
    "the deadline counts slow interceptors, and leaves a server that ignores it", .rule("connect.24"), arguments: Slow.allCases)
  func deadline(slow: Slow) async throws {
    let held = Shared<(@Sendable () -> Void)?>(nil)
    let service = try Service(
      [
        InterceptorFactory { _ in
          switch slow {
          case .hook: UnaryStep(request: { request, proceed in held.value = { proceed(.success(request)) } })
          case .server: UnaryStep()
          case .responseHook: UnaryStep(rawResponse: { response, proceed in held.value = { proceed(response) } })
          }
        }
      ], timeout: 0.2,
      script: { peer in
        _ = try peer.request()
        if slow == .responseHook { try peer.text("late") }
        peer.waitForHangUp()
      })
    let response = await service.call()
    #expect(response.word == "deadlineExceeded request exceeded allowed timeout")
    held.exchange(nil)?()
    if slow == .server { #expect(await eventually { service.server.openConnections == 0 }) }
    if slow == .hook { #expect(service.server.connections == 0) }
  }

  @Test(
    "a timeout that has passed fails without being sent, and one that is not finite is none", .rule("connect.24"),
    arguments: [
      (-1, Code.deadlineExceeded), (0, .deadlineExceeded), (-.infinity, .ok), (.nan, .ok), (.infinity, .ok), (1e300, .ok),
    ] as [(TimeInterval, Code)])
  func oddTimeouts(timeout: TimeInterval, code: Code) async throws {
    let service = try Service(timeout: timeout)
    #expect(await service.call().code == code)
    #expect(service.server.requests.count == (code == .ok ? 1 : 0))
  }

  @Test("connect-timeout-ms has at most ten digits", .rule("connect.33"))
  func timeoutField() async throws {
    let service = try Service(timeout: 1e12)
    _ = await service.call()
    #expect(service.server.requests.map { $0.header("connect-timeout-ms") } == ["9999999999"])
  }

  enum Moment: CaseIterable { case inRequestHook, atServer, inResponseHook, afterEnd }

  @Test("cancelling gives one outcome, at any moment", .rule("connect.23"), arguments: Moment.allCases)
  func cancelling(moment: Moment) async throws {
    let (reached, outcomes) = (Shared(false), Journal())
    let held = Shared<(@Sendable () -> Void)?>(nil)
    let service = try Service(
      [
        InterceptorFactory { _ in
          switch moment {
          case .inRequestHook:
            UnaryStep(request: { request, proceed in
              held.value = { proceed(.success(request)) }
              reached.value = true
            })
          case .inResponseHook:
            UnaryStep(response: { response, proceed in
              guard response.code == .ok else { return proceed(response) }
              held.value = { proceed(response) }
              reached.value = true
            })
          case .atServer, .afterEnd: UnaryStep()
          }
        }
      ],
      script: { peer in
        _ = try peer.request()
        if moment != .atServer { return try peer.text("world") }
        reached.value = true
        peer.waitForHangUp()
      })
    let cancelable = service.client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]) {
      (response: ResponseMessage<Text>) in outcomes.add(response.word)
    }
    switch moment {
    case .afterEnd: #expect(await eventually { !outcomes.lines.isEmpty })
    case .inRequestHook, .atServer, .inResponseHook: #expect(await eventually { reached.value })
    }
    cancelable.cancel()
    cancelable.cancel()
    #expect(await eventually { !outcomes.lines.isEmpty })
    held.exchange(nil)?()
    _ = await ProtocolClient(httpClient: RecordingClient(), config: ProtocolClientConfig(host: "http://host")).call()
    switch moment {
    case .afterEnd: #expect(outcomes.lines == ["world"])
    case .inRequestHook, .atServer, .inResponseHook:
      #expect(outcomes.lines == ["canceled request canceled by client"])
    }
    if moment == .atServer { #expect(await eventually { service.server.hangUps == 1 }) }
  }

  @Test("a call in a cancelled task sends nothing", .rule("connect.23"))
  func cancelledBefore() async throws {
    let service = try Service()
    let call = Task {
      while !Task.isCancelled { await Task.yield() }
      return await service.call().word
    }
    call.cancel()
    #expect(await call.value == "canceled request canceled by client" && service.server.connections == 0)
  }

  @Test("cancelling the task of an awaited call ends it", .rule("connect.23"))
  func cancelledTask() async throws {
    let reached = Shared(false)
    let service = try Service(script: { peer in
      _ = try peer.request()
      reached.value = true
      peer.waitForHangUp()
    })
    let call = Task { await service.call().word }
    #expect(await eventually { reached.value })
    call.cancel()
    #expect(await call.value == "canceled request canceled by client")
  }

  @Test("dates are not split at their comma, and other lists are", .rule("connect.41"))
  func dates() async throws {
    let service = try Service { _, peer in
      try peer.text("world", headers: "Date: Mon, 23 Nov 2026 01:52:49 GMT\r\nX-List: a, b\r\nx-list: c\r\nTrailer-X-End: z\r\n")
    }
    let response = await service.call()
    #expect(response.headers["date"] == ["Mon, 23 Nov 2026 01:52:49 GMT"])
    #expect(response.headers["x-list"] == ["a", "b", "c"] && response.trailers == ["x-end": ["z"]])
  }

  @Test("names in two spellings are one field", .rule("connect.38"))
  func spellings() async throws {
    let service = try Service()
    _ = await service.call(headers: ["X-Name": ["a"], "x-name": ["b"], "Content-Type": ["text/plain"]])
    let request = try #require(service.server.requests.first)
    let values = request.headers.filter { $0.name.lowercased() == "x-name" }.map(\.value)
    #expect(values.count == 1 && Set(values[0].split(separator: ",").map { $0.filter { $0 != " " } }) == ["a", "b"])
    #expect(request.headers.filter { $0.name.lowercased() == "content-type" }.map(\.value) == ["application/json"])
  }

  @Test(
    "a host that is not a URL fails the call", .rule("connect.30"),
    arguments: [
      "", "no url", "ftp://host", "http://", "http:///path", "127.0.0.1:80", "http://[", "\u{0}", "http://127.0.0.1?a",
      "http://127.0.0.1/#a",
    ])
  func badHost(host: String) async {
    let client = ProtocolClient(config: ProtocolClientConfig(host: host))
    #expect(await client.call().code == .invalidArgument)
    let stream: any ServerOnlyAsyncStreamInterface<Text, Text> = client.serverOnlyStream(path: Service.path, headers: [:])
    var words: [String] = []
    for await result in stream.results() { words.append(result.word) }
    #expect(words == ["complete invalidArgument"])
  }

  @Test(
    "the error of a host has no password", .rule("connect.30"),
    arguments: ["ftp://user:secret@host", "http://user:secret@127.0.0.1:1?secret"])
  func hostWithPassword(host: String) async throws {
    let error = try #require(await ProtocolClient(config: ProtocolClientConfig(host: host)).call().error)
    #expect(error.code == .invalidArgument && !"\(error)".contains("secret"), "\(error)")
  }

  @Test(
    "one slash is between host and path", .rule("connect.30"),
    arguments: [
      ("", "a.B/C", "/a.B/C"), ("/", "a.B/C", "/a.B/C"), ("/api", "/a.B/C", "/api/a.B/C"), ("/api/", "//a.B/C", "/api/a.B/C"),
    ])
  func slashes(base: String, path: String, target: String) async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.text("world") })
    let client = ProtocolClient(config: ProtocolClientConfig(host: server.origin + base))
    #expect(await client.call(path: path).word == "world")
    #expect(server.requests.map(\.target) == [target])
    #expect(await client.call(path: "../..").code == .invalidArgument)
  }

  @Test("a refused connection is unavailable, with the error of the transport", .rule("connect.31"))
  func refusedConnection() async throws {
    let listener = try Listener(backlog: 1, isOpen: false)
    let client = ProtocolClient(config: ProtocolClientConfig(host: "http://127.0.0.1:\(listener.port)"))
    let response = await client.call()
    #expect(response.code == .unavailable && response.error?.exception != nil)
  }

  @Test("a completion that cancels its own call, and makes another, does not deadlock")
  func cancelInCompletion() async throws {
    let service = try Service()
    let (cancelable, outcomes) = (Shared<Cancelable?>(nil), Journal())
    cancelable.value = service.client.unary(
      path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]
    ) { (response: ResponseMessage<Text>) in
      cancelable.value?.cancel()
      outcomes.add(response.word)
      service.client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("again"), headers: [:]) {
        (response: ResponseMessage<Text>) in outcomes.add(response.word)
      }
    }
    #expect(await eventually { outcomes.lines == ["world", "world"] })
  }

  @Test("bad input: a header with a line break from a hook fails the call, and nothing is sent")
  func badHeader() async throws {
    let service = try Service([
      InterceptorFactory { _ in
        UnaryStep(rawRequest: { request, proceed in
          proceed(
            .success(HTTPRequest(url: request.url, headers: ["x": ["a\r\nb: c"]], message: request.message, trailers: nil)))
        })
      }
    ])
    #expect(await service.call().code == .invalidArgument)
    #expect(service.server.connections == 0)
  }

  @Test("a codec that cannot write, or cannot read, fails the call", .rule("connect.13"), arguments: [true, false])
  func badCodec(writes: Bool) async throws {
    let service = try Service(codec: FailingCodec(writes: writes))
    let response = await service.call()
    #expect(response.code == (writes ? .internalError : .unknown) && response.error?.exception is FailingCodec.Failure)
    if !writes { #expect(response.error?.message == "request serialization failed" && service.server.connections == 0) }
  }
}

/// A codec that throws.
struct FailingCodec: Codec {
  struct Failure: Error {}

  let writes: Bool

  func name() -> String { "json" }

  func serialize<Input: ProtobufMessage>(message: Input) throws -> Data {
    if writes { return Data("1".utf8) }
    throw Failure()
  }

  func deterministicallySerialize<Input: ProtobufMessage>(message: Input) throws -> Data { try serialize(message: message) }
  func deserialize<Output: ProtobufMessage>(source: Data) throws -> Output { throw Failure() }
}

extension ProtocolClient {
  func call(path: String = Service.path) async -> ResponseMessage<Text> {
    await unary(path: path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:])
  }
}
