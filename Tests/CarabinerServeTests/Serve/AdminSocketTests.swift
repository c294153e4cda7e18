import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The users that may use the admin socket, and how it handles malformed requests.
@Suite("carabiner serve: the admin socket")
struct AdminSocketTests {
  private let upstream: DemoServerProcess

  init() throws { upstream = try DemoServerProcess() }

  private func gateway() async throws -> ServeProcess {
    let folder = try StoreFolder()
    let plugin = try await CompiledFixture("stamp")
    try FileManager.default.copyItem(atPath: plugin.path, toPath: folder.file("plugin.so"))
    _ = try folder.write(
      """
      carabiner: 1
      plugins: [{name: stamp, file: plugin.so, on-fault: open-after-3}]
      chain: {http: [stamp, response-code]}
      rules: [{when: {operation: Bare}, chain: {http: [response-code]}}]

      """, to: "chain.yaml")
    return try ServeProcess(folder, endpoint: upstream.endpoint, ["--time-stages", "1"])
  }

  @Test("two simultaneous clients get complete responses while plugins are switched off and on")
  func twoClients() async throws {
    let gateway = try await gateway()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<3 {
          let off = try await gateway.ask("disable", "stamp", "--reason", "a test")
          let on = try await gateway.ask("enable", "stamp", "--reset")
          #expect(off.status == 0 && on.status == 0, "\(off.errors)\(on.errors)")
        }
      }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<3 {
            #expect(try await gateway.status()["plugins"]?[0]?["name"] == "stamp")
            let scraped = try await ScrapedMetrics(gateway)
            #expect(scraped.problems == [])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await gateway.status()["plugins"]?[0]?["enabled"] == true)
  }

  private static let garbage = [
    "\u{0}\u{1}\u{2}\r\n\r\n", "GET /status\r\n\r\n", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /plugins/disable HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n{",
    "POST /plugins/disable HTTP/1.1\r\nHost: x\r\nContent-Length: 22\r\n\r\n{\"pattern\":1,\"reason\":",
    "GET /chain?type=nothing HTTP/1.1\r\nHost: x\r\n\r\n", "GET /chain?format=svg HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /chain?%zz HTTP/1.1\r\nHost: x\r\n\r\n", "DELETE /reload HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /trial/promote HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    "GET /status HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
  ]

  @Test("malformed requests are refused, and later requests are served as before")
  func garbage() async throws {
    let gateway = try await gateway()
    for text in Self.garbage {
      let sent = try await ToolRun(Repository.python, ["-c", Self.sender, gateway.socket], input: text)
      #expect(sent.status == 0, "\(sent.errors)")
      #expect(sent.output.isEmpty || sent.output.hasPrefix("HTTP/1.1 4"), "\(text.debugDescription): \(sent.output)")
      #expect(try await gateway.status()["generation"] == 1)
    }
    #expect(try gateway.query("{ __typename }").status == 200)
  }

  /// Sends its input to a socket, and prints the response until the other end closes or is silent.
  private static let sender = """
    import socket, sys
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(20)
    peer.connect(sys.argv[1])
    peer.sendall(sys.stdin.buffer.read())
    peer.shutdown(socket.SHUT_WR)
    try:
        while data := peer.recv(65536): sys.stdout.write(data.decode(errors="replace"))
    except (ConnectionError, TimeoutError): pass
    """

  @Test("a process of another user is rejected even if it can open the socket", .enabled(if: getuid() == 0))
  func otherUser() async throws {
    let gateway = try await gateway()
    // An operator could do this by mistake: the folders and the socket are open to all users.
    for path in [gateway.folder.path, gateway.socket] {
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
    }
    func ask(_ prefix: [String]) async throws -> ToolRun {
      try await ToolRun(
        URL(filePath: "/usr/bin/env"),
        prefix + ["curl", "-sSv", "--max-time", "20", "--unix-socket", gateway.socket, "http://x/status"])
    }
    let stranger = try await ask(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    #expect(stranger.status != 0 && stranger.status != 28 && stranger.output.isEmpty, "\(stranger.output)\(stranger.errors)")
    // The client did reach the socket and was rejected there. curl reports a failed connection if the rejection came first.
    #expect(!stranger.errors.contains("Permission denied"), "\(stranger.errors)")
    #expect(try await ask([]).status == 0)
  }

  @Test("the socket is for its owner alone")
  func mode() async throws {
    let gateway = try await gateway()
    let mode = try FileManager.default.attributesOfItem(atPath: gateway.socket)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("carabiner chain shows the chain as it is live: order, digests, decisions and their reasons, calls, times")
  func chain() async throws {
    let gateway = try await gateway()
    for _ in 0..<3 { #expect(try gateway.query("query Get { __typename }").status == 200) }
    let text = try await gateway.ask("chain", "--operation", "Get").output
    #expect(text.hasPrefix("generation 1 of \(gateway.folder.file("chain.yaml"))\n▼ "), "\(text)")
    let digest = try #require(try await gateway.status()["plugins"]?[0]?["sha256"]?.string)
    #expect(
      text.contains("● stamp: sha256 \(digest.prefix(12)), 3 calls, 0 under way, 0 failed, 0 faults, breaker closed, on_head "),
      "\(text)")
    let offline = try await CommandRun(["chain", "-m", gateway.folder.file("chain.yaml"), "--operation", "Get"]).output
    #expect(text.contains(offline.trimmingCharacters(in: .newlines)))
    #expect(try await gateway.ask("disable", "stamp", "--reason", "incident 12").status == 0)
    let json = try JSONValue(parsing: try await gateway.ask("chain", "--operation", "Get", "--format", "json").output)
    #expect(json["generation"] == 1 && json["entries"]?[0]?["calls"] == 3 && json["entries"]?[0]?["enabled"] == false)
    #expect(json["stages"]?["http"]?[0]?["decision"]?["reason"] == "incident 12")
    #expect(json["down"]?.array?.contains("stamp") == false)
    let timing = json["timings"]?.array?.first { $0["name"] == "stamp" && $0["hook"] == "on_request" }
    #expect(timing?["count"] == 3 && timing?["seconds"]?.double ?? 0 > 0)
    #expect(try await gateway.ask("chain", "--operation", "Get").output.contains("disabled by"))
    #expect(try await gateway.ask("chain", "--operation", "Bare").output.contains("stamp") == false)
    #expect(try await gateway.ask("chain", "--format", "dot").output.hasPrefix("digraph chain {"))
    let both = try await CommandRun(["chain", "-m", gateway.folder.file("chain.yaml"), "--admin", gateway.admin])
    #expect(both.status == 2)
  }
}
