import Carabiner
import CarabinerManifest
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerHost
@testable import CarabinerUpstreams

@Suite("Balancing and availability over real servers")
struct BalanceTests {
  @Test("three servers: the counts of 10,000 queries follow the weights within 5 %", .rule("gateway.1"))
  func weights() async throws {
    let servers = try (0..<3).map { _ in try Upstreams.answering() }
    let service = try await UpstreamService(
      """
      upstreams:
        main:
          endpoints:
            - {url: "\(servers[0].graphQL)", weight: 1}
            - {url: "\(servers[1].graphQL)", weight: 2}
            - {url: "\(servers[2].graphQL)", weight: 7}
      """)
    #expect(await service.failures(of: 10_000, parallel: 4) == 0)
    for (server, share) in zip(servers, [0.1, 0.2, 0.7]) {
      #expect(abs(Double(server.requests.count) / 10_000 - share) < 0.05)
    }
  }

  @Test("of three endpoints, two of which are dead, exactly one is ejected, and no query fails", .rule("gateway.10"))
  func ejection() async throws {
    let (good, dead) = (try Upstreams.answering(), try (0..<2).map { _ in try Upstreams.closed() })
    let service = try await UpstreamService(
      """
      upstreams:
        main: {endpoints: ["\(dead[0].graphQL)", "\(dead[1].graphQL)", "\(good.graphQL)"], retry: {attempts: 3, budget: 100%}}
      """)
    #expect(await service.failures(of: 200, parallel: 2) == 0)
    let upstream = try #require(service.status["endpoints"]?.array)
    #expect(upstream.filter { $0["ejected"] == true }.count == 1)
    #expect(upstream.last?["ejected"] == false)
  }

  @Test("a single endpoint is never ejected", .rule("gateway.10"))
  func single() async throws {
    let server = try Upstreams.closed()
    let service = try await UpstreamService(
      "upstreams: {main: {endpoints: ['\(server.graphQL)'], outliers: {failures: 1}, retry: {attempts: 1}}}")
    #expect(await service.failures(of: 20) == 20)
    #expect(service.status["endpoints"]?[0]?["ejected"] == false)
    try server.open()
  }

  @Test("two operations with 100ms and 10m against a server that is slow, and one of another upstream", .rule("gateway.12"))
  func rules() async throws {
    let hasFailed = Mutex(false)
    let slow = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        // However busy the machine is, no answer comes before the short timeout has passed.
        let isShort = String(decoding: request.body, as: UTF8.self).contains("Short")
        while isShort, !hasFailed.withLock(\.self) { peer.pause(milliseconds: 5) }
        try peer.respond(headers: "Content-Type: application/json\r\n", body: Upstreams.body)
      })
    let other = try Upstreams.answering(body: #"{"data":{"a":2}}"#)
    let service = try await UpstreamService(
      """
      upstreams: {main: {endpoints: ["\(slow.graphQL)"]}, reports: {endpoints: ["\(other.graphQL)"]}}
      rules:
        - {when: {operation: Short}, timeout: 100ms}
        - {when: {operation: Long}, timeout: 10m}
        - {when: {operation: "Report*"}, upstream: reports}
      """)
    #expect(await service.timesOut(name: "Short"))
    hasFailed.withLock { $0 = true }
    try #expect(await service.run(name: "Long") == Upstreams.body)
    try #expect(await service.run(name: "ReportA") == #"{"data":{"a":2}}"#)
    #expect(other.requests.count == 1)
  }

  @Test("for a subscription, the timeout counts to the first result", .rule("gateway.12"))
  func subscription() async throws {
    let type = "Content-Type: multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0\r\n"
    @Sendable func part(_ number: Int) -> String {
      "--graphql\r\nContent-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"a\":\(number)}}}\r\n"
    }
    let late = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let isSilent = String(decoding: request.body, as: UTF8.self).contains("Silent")
        try peer.send("HTTP/1.1 200 OK\r\n\(type)Connection: close\r\n\r\n")
        if isSilent { return peer.waitForHangUp() }
        try peer.send(part(1))
        try peer.send("--graphql")
        peer.pause(milliseconds: 900)
        try peer.send("\r\n" + part(2).dropFirst("--graphql\r\n".count) + "--graphql--\r\n")
        peer.close()
      })
    let service = try await UpstreamService(
      "endpoint: \"\(late.graphQL)\"\nrules: [{when: {type: subscription}, timeout: 600ms}]")
    #expect(await service.timesOut(.subscription, name: "Silent"))
    try #expect(await service.run(.subscription, name: "Slow").contains("2"))
  }

  @Test(
    "a full upstream lets requests wait; with the line full too, the next one gets UPSTREAM_OVERLOADED at once",
    .rule("gateway.11"))
  func limits() async throws {
    let server = try Upstreams.silent()
    let service = try await UpstreamService(
      "upstreams: {main: {endpoints: ['\(server.graphQL)'], limits: {requests: 20, waiting: 30}}}")
    let tasks = (0..<50).map { _ in Task { await service.failure() } }
    while service.status["underWay"] != 20 || service.status["waiting"] != 30 { try await Task.sleep(for: .milliseconds(5)) }
    while server.requests.count < 20 { try await Task.sleep(for: .milliseconds(5)) }
    let error = await service.failure() as? UpstreamRefusal
    #expect(error?.code == .overloaded)
    #expect(server.requests.count == 20)
    for task in tasks.prefix(40) { task.cancel() }
    for task in tasks.prefix(40) { _ = await task.value }
    while service.status["underWay"] != 10 || service.status["waiting"] != 0 { try await Task.sleep(for: .milliseconds(5)) }
    for task in tasks { task.cancel() }
  }

  @Test("the waiting time counts for the deadline: a request ends there, and nothing is sent for it", .rule("gateway.11"))
  func waitingEnds() async throws {
    let server = try Upstreams.silent()
    let service = try await UpstreamService("upstreams: {main: {endpoints: ['\(server.graphQL)'], limits: {requests: 1}}}")
    let upstream = try #require(service.host.live.current.host.upstreams["main"])
    let first = Task { await service.failure() }
    while server.requests.count < 1 { try await Task.sleep(for: .milliseconds(5)) }
    var request = URLRequest(url: try #require(URL(string: server.graphQL)))
    request.timeoutInterval = 0.2
    let deadline = AttemptDeadline(request, default: 3600)
    let error = await #expect(throws: TransportError.self) {
      let pass = try await upstream.enter(by: deadline)
      pass.end()
    }
    #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
    #expect(error?.message.contains("limits: {requests}") == true)
    #expect(service.status["underWay"] == 1 && service.status["waiting"] == 0)
    #expect(server.requests.count == 1)
    first.cancel()
    _ = await first.value
  }

  @Test("with half of the requests failed, the breaker refuses at once", .rule("gateway.11"))
  func breaker() async throws {
    let server = try Upstreams.answering("503 Unavailable")
    let service = try await UpstreamService(
      """
      upstreams:
        main: {endpoints: ["\(server.graphQL)"], retry: {attempts: 1}, breaker: {minimum: 10, open: 1h}}
      """)
    for _ in 0..<10 { #expect(await service.failure() is ResponseCodeError) }
    #expect((await service.failure() as? UpstreamRefusal)?.code == .open)
    #expect(server.requests.count == 10)
    #expect(service.status["breaker"] == "open")
  }

  @Test("panic 0 % answers NO_UPSTREAM if no endpoint is available", .rule("gateway.8"))
  func noUpstream() async throws {
    let server = try Upstreams.answering("500 Error")
    let service = try await UpstreamService(
      """
      upstreams:
        main: {endpoints: ["\(server.graphQL)"], panic: 0%, health: {path: /health, interval: 10ms, fall: 1}}
      """)
    while (await service.failure() as? UpstreamRefusal)?.code != .noUpstream { try await Task.sleep(for: .milliseconds(5)) }
    #expect(service.status["endpoints"]?[0]?["healthy"] == false)
  }
}
