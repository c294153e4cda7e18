import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Reloads while generations, or the whole gateway, finish their running operations.
@Suite("carabiner serve: reloads while it drains")
struct DrainingTests {
  private let upstream: HeldUpstream
  private let place: FixturePlugin.Folder
  private let folder: StoreFolder

  init() throws {
    place = try FixturePlugin.Folder()
    folder = try StoreFolder()
    upstream = try HeldUpstream()
    _ = try folder.write(
      """
      carabiner: 1
      settings: {timeout: 10m}
      serve: {return-headers: [x-stamp-*]}
      plugins: [{name: stamp, file: stamp.so}]
      chain: {http: [stamp, response-code]}

      """, to: "chain.yaml")
  }

  private func build(_ stamp: String) async throws {
    let plugin = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP=\"\(stamp)\""], into: place, name: "\(stamp).so")
    try? FileManager.default.removeItem(atPath: folder.file("stamp.so"))
    try FileManager.default.copyItem(atPath: plugin, toPath: folder.file("stamp.so"))
  }

  /// An operation that waits at the upstream.
  private func slow(_ gateway: ServeProcess, after running: Int) async throws -> RawRequest {
    let request = try RawRequest(gateway.endpoint, body: HeldUpstream.slow)
    try await upstream.waitUntilHeld(running + 1)
    return request
  }

  @Test("operations end in the generation they started in, which then ends; there can be many generations")
  func severalGenerations() async throws {
    try await build("one")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint)
    let first = try await slow(gateway, after: 0)
    try await build("two")
    #expect(try await gateway.ask("reload").status == 0)
    let second = try await slow(gateway, after: 1)
    try await build("three")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(
      try await gateway.status()["retired"] == [["generation": 1, "operations": 1], ["generation": 2, "operations": 1]])
    #expect(try gateway.query("{ a }").text == #"{"data":{"a":"three"}}"#)
    upstream.open()
    let answer = first.answer()
    #expect(answer.head.contains("X-Stamp-Up: one") && answer.text == #"{"data":{"a":"one"}}"#, "\(answer.head)")
    #expect(second.answer().text == #"{"data":{"a":"two"}}"#)
    let start = ContinuousClock.now
    while try await gateway.status()["retired"] != [], ContinuousClock.now - start < .seconds(30) {}
    #expect(try await gateway.status()["retired"] == [])
  }

  @Test("SIGTERM lets running operations finish, and accepts no new connections and no reload")
  func ending() async throws {
    try await build("one")
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint)
    let request = try await slow(gateway, after: 0)
    try await build("two")
    kill(gateway.processID, SIGTERM)
    // The gateway drains from the moment it refuses new connections.
    while (try? ClientSocket(port: gateway.port)) != nil { try await Task.sleep(for: .milliseconds(5)) }
    kill(gateway.processID, SIGHUP)
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 3 && reload.output.contains("the gateway is ending"), "\(reload.output)\(reload.errors)")
    upstream.open()
    #expect(request.answer().text == #"{"data":{"a":"one"}}"#)
    #expect(try await offThePool { gateway.wait() } == 0, "\(gateway.errors)")
  }
}
