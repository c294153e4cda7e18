import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// The rate of a client in several gateways with a real redis-server.
@Suite("carabiner serve: a rate that gateways share")
struct SharedRateTests {
  private static let rate = 20
  private static let load = 8

  /// The time of Redis.
  private func time(_ redis: RedisServer) throws -> Double {
    let words = try redis.ask("TIME").split(separator: "\n").compactMap { Double($0) }
    try #require(words.count == 2)
    return words[0] + words[1] / 1e6
  }

  /// Sends requests for some time and returns how many were allowed. A slow machine sends fewer.
  private static func passed(_ port: Int, perSecond: Int, for duration: Duration) throws -> Int {
    let socket = try ClientSocket(port: port)
    let body = #"{"query":"{ n }"}"#
    let request =
      "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let batch = 3
    let interval = Duration.seconds(1) * batch / perSecond
    let (begin, clock) = (ContinuousClock.now, ContinuousClock())
    var (passed, sent) = (0, 0)
    while clock.now - begin < duration {
      guard socket.send(String(repeating: request, count: batch)) else { break }
      sent += 1
      let answer = socket.read(patience: 60_000) { $0.ranges(of: "HTTP/1.1 ").count >= batch && $0.hasSuffix("}") }
      passed += answer.text.ranges(of: "HTTP/1.1 200").count
      let wait = interval * sent - (clock.now - begin)
      if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
    }
    return passed
  }

  @Test("three gateways and one client with eight times the rate for 30 s: at most a tenth passes beyond it", .rule("redis.22"))
  func storm() async throws {
    let stand = try await SharedStand()
    let gateways = try (0..<3).map { _ in try stand.gateway("limits: {rate: \(Self.rate)/s}") }
    for gateway in gateways { try await stand.waitUntilConnected(gateway) }
    // Three whole windows of 10 s: within one, a client that comes later may use all of it.
    let rest = 10 - (try time(stand.redis)).truncatingRemainder(dividingBy: 10)
    // A machine that wakes this task late must not send into a fourth window.
    let end = ContinuousClock.now + .seconds(rest + 30)
    try await Task.sleep(for: .seconds(rest))
    let passed = try await withThrowingTaskGroup(of: Int.self) { group in
      for gateway in gateways {
        let port = gateway.port
        group.addTask {
          try await offThePool { try Self.passed(port, perSecond: Self.rate * Self.load / 3, for: end - .now) }
        }
      }
      return try await group.reduce(0, +)
    }
    let allowed = Self.rate * 30
    #expect(passed <= allowed * 11 / 10)
    // Alone, each gateway would let that much pass.
    #expect(passed >= allowed / 2)
  }

  @Test("requests that one gateway let pass count at the others, and without Redis each has its own rate", .rule("redis.22"))
  func shared() async throws {
    let stand = try await SharedStand()
    let (one, other) = (try stand.gateway("limits: {rate: 30/m}"), try stand.gateway("limits: {rate: 30/m}"))
    for gateway in [one, other] { try await stand.waitUntilConnected(gateway) }
    var passed = 0
    // Of those 30, none is left for the other one, whose first request makes the client known there.
    var answers: [RawAnswer] = []
    for gateway in [one, other] {
      var answer = try gateway.query("{ n }")
      for number in 0..<200 where answer.status == 200 {
        if number > 30 { try await Task.sleep(for: .milliseconds(100)) }
        answer = try gateway.query("{ n }")
        if gateway === other { try await Task.sleep(for: .milliseconds(300)) }
        passed += answer.status == 200 ? 1 : 0
      }
      answers.append(answer)
    }
    #expect(answers.map(\.status) == [429, 429])
    #expect(passed < 50)
    #expect(answers[1].head.contains { $0.lowercased().hasPrefix("retry-after: ") })
    stand.redis.end()
    let alone = try stand.gateway("limits: {rate: 30/m}")
    #expect(try alone.query("{ n }").status == 200)
    #expect(await eventually { try other.query("{ n }").status == 200 })
  }
}
