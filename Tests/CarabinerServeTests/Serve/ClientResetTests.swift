import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Clients that reset their connection while a hook is pending.
@Suite("carabiner serve: clients that go away while a hook is pending")
struct ClientResetTests {
  @Test("the plugin reads the request of such a client until it resumes, and the gateway serves others")
  func reset() async throws {
    let plugin = try await CompiledFixture("late")
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    let said = try NamedPipe(folder.file("said"))
    let go = try NamedPipe(folder.file("go"))
    _ = try folder.write(
      """
      carabiner: 1
      settings: {cancel-grace: 10ms}
      plugins: [{name: late, file: \(plugin.path), config: {hook: http.on_request, folder: \(folder.path)}}]
      chain: {http: [late, response-code]}
      """, to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint, environment: ["MALLOC_MMAP_THRESHOLD_": "131072"])
    let query = #"{"query":"{ __typename } # \#(String(repeating: "x", count: 900_000))"}"#
    let client = try ClientSocket(port: gateway.port)
    client.send(
      "POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: \(query.utf8.count)\r\n\r\n"
        + query)
    #expect(try await said.line() == "pending")
    client.reset()
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
    try go.send("read")
    let seen = try await said.line()
    #expect(seen.contains("body same") && !seen.contains("gone") && !seen.contains("changed"), "\(seen)")
    try go.send("resume")
    #expect(try await said.line() == "resume -4")
    #expect(try gateway.query("{ __typename }").text == #"{"data":{"__typename":"Query"}}"#)
  }
}
