import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The readiness of a gateway, and the steps of its end.
@Suite("carabiner serve: readiness and the end")
struct EndTests {
  private let upstream: HeldUpstream
  private let folder: StoreFolder

  init() throws {
    upstream = try HeldUpstream()
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nsettings: {timeout: 10m}\n", to: "chain.yaml")
  }

  private func gateway(_ arguments: [String] = [], environment: [String: String] = [:]) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, arguments, environment: environment)
  }

  private func ready(_ gateway: ServeProcess) throws -> RawAnswer { try RawAnswer("\(gateway.origin)/readyz") }

  /// Waits until `/readyz` is 503, and returns the answer. A signal is handled a moment after it was sent.
  private func waitUntilNotReady(_ gateway: ServeProcess) throws -> RawAnswer {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let answer = try ready(gateway)
      if answer.status == 503 { return answer }
    }
    return try ready(gateway)
  }

  private static func steps(_ gateway: ServeProcess) -> [String] {
    gateway.errors.matches(of: /notice carabiner\.serve: end, step (\d) of 5:/).map { String($0.1) }
  }

  private static func load(_ port: Int, _ folder: StoreFolder, seconds: Int) async throws -> ToolRun {
    let script = try folder.write(
      """
      wrk.method = "POST"
      wrk.headers["Content-Type"] = "application/json"
      wrk.body = '{"query":"{ a }"}'

      """, to: "load.lua")
    return try await ToolRun(
      URL(filePath: "/usr/bin/wrk"),
      ["-t1", "-c8", "-d\(seconds)s", "--timeout", "30s", "-s", script, "http://127.0.0.1:\(port)/graphql"])
  }

  @Test(
    "a gateway is alive and ready while it serves; after SIGTERM it is alive and not ready, and queries are answered",
    .rule("gateway.25"))
  func readiness() async throws {
    let gateway = try gateway(["--lame-duck", "10m"])
    #expect(try RawAnswer("\(gateway.origin)/healthz").text == "ok\n")
    #expect(try ready(gateway).text == "ok\n")
    kill(gateway.processID, SIGTERM)
    let refusal = try waitUntilNotReady(gateway)
    #expect(refusal.status == 503 && refusal.text == "the gateway is ending\n", "\(refusal.text)")
    #expect(try RawAnswer("\(gateway.origin)/healthz").status == 200)
    let answer = try gateway.query("{ a }")
    #expect(answer.status == 200 && answer.head.contains("Connection: close"), "\(answer.head)")
  }

  @Test("an upstream that is down does not change readiness", .rule("gateway.25"))
  func upstreamDown() async throws {
    let gateway = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/graphql")
    #expect(try gateway.query("{ a }").status == 502)
    #expect(try ready(gateway).status == 200)
  }

  @Test("carabiner drain changes /readyz alone and --undo takes it back; an end cannot be taken back", .rule("gateway.26"))
  func drainCommand() async throws {
    let gateway = try gateway(["--lame-duck", "10m"])
    let drain = try await gateway.ask("drain", "--wait", "10ms")
    #expect(drain.status == 0 && drain.output == "not ready: an operator drains the gateway\n", "\(drain.output)\(drain.errors)")
    #expect(try ready(gateway).text == "an operator drains the gateway\n")
    let answer = try gateway.query("{ a }")
    #expect(answer.status == 200 && !answer.head.contains("Connection: close"))
    #expect(try await gateway.status()["readiness"] == ["ready": false, "reasons": ["an operator drains the gateway"]])
    let undo = try await gateway.ask("drain", "--undo")
    #expect(undo.status == 0 && undo.output == "ready\n")
    #expect(try ready(gateway).status == 200)
    #expect(Self.steps(gateway) == [])
    kill(gateway.processID, SIGTERM)
    _ = try waitUntilNotReady(gateway)
    let late = try await gateway.ask("drain", "--undo")
    #expect(late.status == 3 && late.output.contains("the gateway is ending"), "\(late.output)")
    #expect(try await gateway.ask("drain", "--undo", "--wait", "1s").status == 2)
  }

  @Test(
    "in the lame duck time a kept connection is closed with its next response, which says so, and a WebSocket goes on",
    .rule("gateway.26"))
  func lameDuck() async throws {
    let gateway = try gateway(["--lame-duck", "10m"])
    let kept = try ClientSocket(port: gateway.port)
    let request =
      "POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"query\":\"{ a }\"}"
    kept.send(request)
    #expect(!kept.read { $0.hasSuffix("}}") }.text.contains("Connection: close"))
    let socket = try WebSocketClient(initialised: gateway)
    kill(gateway.processID, SIGTERM)
    _ = try waitUntilNotReady(gateway)
    socket.subscribe("q", "{ a }")
    #expect(socket.message()?["type"] == "next")
    kept.send(request)
    let (text, isClosed) = kept.read()
    #expect(text.contains("HTTP/1.1 200") && text.contains("Connection: close") && isClosed, "\(text)")
  }

  @Test("each step, and every 5 s what is left, is a line at every level of the log", .rule("gateway.26"))
  func lines() async throws {
    let gateway = try gateway(["--lame-duck", "10ms"], environment: ["CARABINER_LOG": "critical"])
    let request = try RawRequest(gateway.endpoint, body: HeldUpstream.slow)
    try await upstream.waitUntilHeld(1)
    kill(gateway.processID, SIGTERM)
    let deadline = ContinuousClock.now + .seconds(120)
    while Self.steps(gateway).count(where: { $0 == "4" }) < 2, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(Self.steps(gateway) == ["1", "2", "3", "4", "4"], "\(gateway.errors)")
    #expect(gateway.errors.contains(/step 4 of 5: .* connections=1 operations=1 waiting=0/), "\(gateway.errors)")
    upstream.open()
    #expect(request.answer().status == 200)
    #expect(try await offThePool { gateway.wait() } == 0)
    #expect(Self.steps(gateway).last == "5", "\(gateway.errors)")
  }

  @Test("no request fails if a proxy in front asks for /readyz each second and one of two gateways ends", .rule("gateway.26"))
  func behindProxy() async throws {
    let ending = try gateway(["--lame-duck", "3s"])
    let staying = try gateway()
    let proxy = try await ReadyProxy(backends: [ending.port, staying.port])
    async let load = Self.load(proxy.port, folder, seconds: 8)
    let deadline = ContinuousClock.now + .seconds(60)
    while try await ScrapedMetrics(ending)["carabiner_requests_total{status=200}"] ?? 0 < 50, ContinuousClock.now < deadline {}
    #expect(try await offThePool { ending.end(with: SIGTERM) } == 0)
    #expect(Self.steps(ending).prefix(2) == ["1", "2"] && Self.steps(ending).last == "5", "\(ending.errors)")
    let run = try await load
    #expect(run.status == 0 && run.output.contains("requests in"), "\(run.output)\(run.errors)")
    #expect(!run.output.contains("Non-2xx") && !run.output.contains("Socket errors"), "\(run.output)")
    #expect(try await ScrapedMetrics(staying)["carabiner_requests_total{status=200}"] ?? 0 > 0)
  }
}
