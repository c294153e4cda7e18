import CarabinerWire
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Reloads while generations, or the gateway as a whole, finish what they have under way.
@Suite("carabiner serve: reloads while it drains")
struct DrainingTests {
  /// Answers operations called Slow when it is told to, and others at once.
  private final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait(_ peer: Peer) {
      while !isOpen.withLock(\.self) { peer.pause(milliseconds: 5) }
    }
  }

  private let gate = Gate()
  private let upstream: ScriptedServer
  private let place: FixturePlugin.Folder
  private let folder: StoreFolder

  init() throws {
    place = try FixturePlugin.Folder()
    folder = try StoreFolder()
    let gate = gate
    upstream = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        if String(decoding: request.body, as: UTF8.self).contains("query Slow") { gate.wait(peer) }
        let stamp = request.header("x-stamp-down") ?? "none"
        try peer.respond(headers: "Content-Type: application/json\r\n", body: "{\"data\":{\"a\":\"\(stamp)\"}}")
      })
    _ = try folder.write(
      "carabiner: 1\nplugins: [{name: stamp, file: stamp.so}]\nchain: {http: [stamp, response-code]}\n", to: "chain.yaml")
  }

  private func build(_ stamp: String) async throws {
    let plugin = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP=\"\(stamp)\""], into: place, name: "\(stamp).so")
    try? FileManager.default.removeItem(atPath: folder.file("stamp.so"))
    try FileManager.default.copyItem(atPath: plugin, toPath: folder.file("stamp.so"))
  }

  /// An operation that waits at the upstream.
  private func slow(_ gateway: ServeProcess, after running: Int) async throws -> RawRequest {
    let request = try RawRequest(gateway.endpoint, body: #"{"query":"query Slow { a }"}"#, within: 90)
    while upstream.requests.filter({ String(decoding: $0.body, as: UTF8.self).contains("Slow") }).count != running + 1 {
      try await Task.sleep(for: .milliseconds(5))
    }
    return request
  }

  @Test("generations that still have work may be many, and each ends with its own")
  func severalGenerations() async throws {
    try await build("one")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql")
    let first = try await slow(gateway, after: 0)
    try await build("two")
    #expect(try await gateway.ask("reload").status == 0)
    let second = try await slow(gateway, after: 1)
    try await build("three")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(
      try await gateway.status()["retired"] == [["generation": 1, "operations": 1], ["generation": 2, "operations": 1]])
    #expect(try gateway.query("{ a }").text == #"{"data":{"a":"three"}}"#)
    gate.open()
    #expect(first.answer().text == #"{"data":{"a":"one"}}"#)
    #expect(second.answer().text == #"{"data":{"a":"two"}}"#)
    let start = ContinuousClock.now
    while try await gateway.status()["retired"] != [], ContinuousClock.now - start < .seconds(30) {}
    #expect(try await gateway.status()["retired"] == [])
  }

  @Test("a gateway that is ending takes no reload, and finishes what is under way")
  func ending() async throws {
    try await build("one")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql")
    let request = try await slow(gateway, after: 0)
    try await build("two")
    kill(gateway.processID, SIGTERM)
    // From the moment it takes no more connections it drains.
    while (try? ClientSocket(port: gateway.port)) != nil { try await Task.sleep(for: .milliseconds(5)) }
    kill(gateway.processID, SIGHUP)
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 3 && reload.output.contains("the gateway is ending"), "\(reload.output)\(reload.errors)")
    gate.open()
    #expect(request.answer().text == #"{"data":{"a":"one"}}"#)
    #expect(try await offThePool { gateway.wait() } == 0, "\(gateway.errors)")
  }
}
