import CarabinerRESP
import CarabinerRedis
import Logging
import TestTools
import Testing

/// Budgets and the circuit, with a real server that is silent, continued, killed and restarted.
@Suite("The circuit to Redis")
struct RedisCircuitTests {
  @Test("a call ends with its budget, and its late answer is not that of another call", .rule("redis.18"))
  func lateAnswer() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    try await server.stop()
    #expect(await test.ask("ECHO", "late", within: .milliseconds(20)) == "budgetExhausted")
    #expect(test.client.isAvailable && test.client.waitingCommands == 1)
    server.proceed()
    #expect(await test.ask("ECHO", "next") == "next")
    #expect(test.client.waitingCommands == 0)
    #expect(await test.ask("PING", within: .zero) == "budgetExhausted")
  }

  @Test("an answer in time sets the count of exhausted budgets to 0", .rule("redis.18"))
  func count() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    for _ in 0..<3 {
      try await server.stop()
      for _ in 0..<4 { #expect(await test.ask("PING", within: .milliseconds(5)) == "budgetExhausted") }
      server.proceed()
      #expect(await test.ask("PING") == "PONG")
    }
    #expect(test.client.isAvailable && test.eventList == ["opened"])
  }

  @Test("a silent server opens the circuit after 5 exhausted budgets, and continued it closes it with a PING", .rule("redis.18"))
  func silentAndContinued() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    try await server.stop()
    for _ in 0..<5 { #expect(await test.ask("GET", "k", within: .milliseconds(20)) == "budgetExhausted") }
    #expect(await eventually { !test.client.isAvailable })
    // Without a timer of its own: a budget of a minute would be noticed.
    #expect(await test.ask("GET", "k") == "unavailable")
    // The connection ends after the circuit has opened, on its own thread.
    #expect(await eventually { test.client.waitingCommands == 0 })
    #expect(await eventually { test.eventList == ["opened", "lost"] })
    #expect(test.log.has(.warning, "5 calls in a row were not answered"), "\(test.log.lines)")
    server.proceed()
    await test.opened()
    #expect(await test.ask("PING") == "PONG")
    #expect(test.eventList == ["opened", "lost", "opened"])
  }

  @Test("the open circuit ends all calls that wait", .rule("redis.18"))
  func waitingCalls() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    try await server.stop()
    let waiting = (0..<50).map { _ in Task { await test.ask("PING") } }
    #expect(await eventually { test.client.waitingCommands == 50 })
    for _ in 0..<5 { #expect(await test.ask("PING", within: .milliseconds(5)) == "budgetExhausted") }
    for call in waiting { #expect(await call.value == "connectionLost") }
    server.proceed()
  }

  @Test("a killed server ends the calls that wait, and restarted it is used again", .rule("redis.18"))
  func killedAndRestarted() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    try await server.stop()
    let waiting = Task { await test.ask("PING") }
    #expect(await eventually { test.client.waitingCommands == 1 })
    server.end()
    #expect(await waiting.value == "connectionLost")
    #expect(await eventually { !test.client.isAvailable })
    #expect(await test.ask("PING") == "unavailable")
    #expect(await eventually { test.log.has(.warning, "nothing accepts connections at redis://127.0.0.1:\(server.port)") })
    try await server.restart()
    await test.opened()
    #expect(await test.ask("PING") == "PONG")
  }

  @Test("a server that accepts connections and does not answer is tried again until it does", .rule("redis.18"))
  func silentLogin() async throws {
    let server = try await RedisServer()
    try await server.stop()
    let test = try TestClient(server.url) { ($0.limits.openingTime, $0.limits.pingTime) = (.milliseconds(200), .seconds(30)) }
    #expect(await eventually { test.log.has(.warning, "did not accept the login within") }, "\(test.log.lines)")
    server.proceed()
    await test.opened()
  }

  @Test("a caller that is cancelled goes on at once", .rule("redis.4"))
  func cancelled() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    try await server.stop()
    let call = Task { await test.ask("PING") }
    #expect(await eventually { test.client.waitingCommands == 1 })
    call.cancel()
    #expect(await call.value == "cancelled")
    server.proceed()
    #expect(await eventually { test.client.waitingCommands == 0 })
  }
}
