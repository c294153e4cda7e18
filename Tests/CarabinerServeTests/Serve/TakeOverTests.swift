import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// A gateway that takes over from a running one.
@Suite("carabiner serve --take-over")
struct TakeOverTests {
  private static let wrk = "/usr/bin/wrk"

  private let upstream: DemoServerProcess
  private let folder: StoreFolder
  private let socket: String

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    socket = folder.file("admin.sock")
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private func first(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, arguments, socket: socket)
  }

  private func successor(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, ["--take-over", "unix:\(socket)"] + arguments, socket: socket)
  }

  /// Runs a successor that is expected to fail.
  private func failing(_ arguments: [String], manifest: String = "chain.yaml") async throws -> CommandRun {
    try await CommandRun(
      [
        "serve", "-m", folder.file(manifest), "--endpoint", upstream.endpoint, "--admin", "unix:\(socket)", "--take-over",
        "unix:\(socket)",
      ] + arguments)
  }

  @Test(
    "the new process has the port, the admin socket and the state folder; the old one answers its last operation and ends",
    .rule("gateway.27"))
  func takeOver() async throws {
    let held = try HeldUpstream()
    let state = ["--state", folder.file("state")]
    let old = try ServeProcess(folder, endpoint: held.endpoint, state, socket: socket)
    let slow = try RawRequest(old.endpoint, body: HeldUpstream.slow)
    try await held.waitUntilHeld(1)
    let new = try successor(state)
    #expect(new.port == old.port)
    #expect(try await new.status()["process"]?.int == Int(new.processID))
    #expect(try new.query("{ __typename }").text == #"{"data":{"__typename":"Query"}}"#)
    held.open()
    #expect(slow.answer().text == #"{"data":{"a":"none"}}"#)
    #expect(try await offThePool { old.wait() } == 0)
    #expect(old.errors.contains("another process takes over") && old.errors.contains("end, step 3 of 5"), "\(old.errors)")
    #expect(!old.errors.contains("step 1 of 5"))
    // The lock of the state folder is the new process's.
    let other = try await CommandRun(
      ["serve", "-m", folder.file("chain.yaml"), "--endpoint", upstream.endpoint, "--listen", "127.0.0.1:0"] + state)
    #expect(other.status == 4 && other.errors.contains("(process \(new.processID)) keeps its state"), "\(other.errors)")
    #expect(try await offThePool { new.end(with: SIGTERM) } == 0)
  }

  @Test(
    "a successor that is killed at any step leaves the old one as it was", .rule("gateway.27"),
    arguments: ["connected", "asked", "received", "listening"])
  func killedSuccessor(_ step: String) async throws {
    let old = try first()
    let script = Repository.root.appending(path: "Tests/Peers/half_successor.py").path
    let run = try await ToolRun(Repository.python, [script, socket, step])
    #expect(run.status == SIGKILL || run.status == -SIGKILL, "\(run.errors)")
    if ["received", "listening"].contains(step) { #expect(run.output.contains("127.0.0.1:\(old.port) unix:\(socket)")) }
    #expect(try RawAnswer("\(old.origin)/readyz").status == 200)
    #expect(try old.query("{ __typename }").status == 200)
    #expect(try await old.status()["process"]?.int == Int(old.processID))
    // The next one can take over.
    let new = try successor()
    #expect(try await offThePool { old.wait() } == 0)
    #expect(try new.query("{ __typename }").status == 200)
  }

  @Test("a successor that cannot load or listen ends with its status, and the old one goes on", .rule("gateway.27"))
  func failingSuccessor() async throws {
    let old = try first(["--state", folder.file("state")])
    _ = try folder.write("carabiner: 1\nplugin: []\n", to: "broken.yaml")
    #expect(try await failing(["--state", folder.file("state")], manifest: "broken.yaml").status == 3)
    let taken = try ServeProcess(folder, endpoint: upstream.endpoint)
    let second = try await failing(["--listen", "127.0.0.1:0", "--listen", "127.0.0.1:\(taken.port)"])
    #expect(second.status == 4 && second.errors.contains("Address already in use"), "\(second.errors)")
    #expect(try old.query("{ __typename }").status == 200)
    #expect(try await old.status()["readiness"]?["ready"] == true)
    // The lock is still the old one's.
    let other = try await CommandRun([
      "serve", "-m", folder.file("chain.yaml"), "--endpoint", upstream.endpoint, "--listen", "127.0.0.1:0", "--state",
      folder.file("state"),
    ])
    #expect(other.status == 4 && other.errors.contains("(process \(old.processID)) keeps its state"), "\(other.errors)")
  }

  @Test("without a gateway at the socket it ends with status 4", .rule("gateway.27"))
  func noGateway() async throws {
    let run = try await failing([])
    #expect(run.status == 4 && run.errors.contains("no gateway answers at \(socket)"), "\(run.errors)")
  }

  @Test("a commit without the secret of the last offer is refused", .rule("gateway.27"))
  func wrongSecret() async throws {
    let old = try first()
    for body in ["{}", #"{"token":"none","process":1}"#] {
      let answer = try await ToolRun(
        URL(filePath: "/usr/bin/curl"),
        ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", socket, "-d", body, "http://x/take-over/commit"])
      #expect(answer.output == (body == "{}" ? "400" : "409"))
    }
    #expect(try RawAnswer("\(old.origin)/readyz").status == 200)
  }

  @Test(
    "20 take-overs under load lose no request, over kept and over new connections", .rule("gateway.27"),
    arguments: zip([true, false], [["--http2"], []]))
  func underLoad(isKept: Bool, _ options: [String]) async throws {
    try #require(FileManager.default.isExecutableFile(atPath: Self.wrk), "wrk is not installed")
    var current = try first(options)
    let port = current.port
    let script = try folder.write(
      """
      wrk.method = "POST"
      wrk.headers["Content-Type"] = "application/json"
      \(isKept ? "" : #"wrk.headers["Connection"] = "close""#)
      wrk.body = '{"query":"{ __typename }"}'

      """, to: "load.lua")
    let wrk = ChildProcess()
    // Signals are blocked in a child of this process, and wrk prints its result at SIGINT.
    wrk.executableURL = Repository.python
    let unblock = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
    wrk.arguments = [
      "-c", unblock, Self.wrk, "-t1", "-c8", "-d7200s", "--timeout", "60s", "-s", script, "http://127.0.0.1:\(port)/graphql",
    ]
    let output = Pipe.notInherited()
    wrk.standardOutput = output
    try wrk.run()
    defer { kill(wrk.processIdentifier, SIGKILL) }
    for _ in 0..<10 {
      let next = try successor(options)
      #expect(next.port == port)
      let earlier = current
      #expect(try await offThePool { earlier.wait() } == 0)
      current = next
    }
    kill(wrk.processIdentifier, SIGINT)
    let text = try await offThePool { String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
    #expect(text.contains("requests in") && !text.contains("Non-2xx") && !text.contains("Socket errors"), "\(text)")
    #expect(try await ScrapedMetrics(current)["carabiner_requests_total{status=200}"] ?? 0 > 0)
  }
}
