import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The plugin audit-log in a gateway, with real files and a real datagram socket.
@Suite("Catalogue: audit-log")
struct AuditLogTests {
  private static let plugin = CommandRun.root.appending(path: "Plugins/audit-log/build/audit-log.so").path

  private let folder: StoreFolder
  private let upstream: DemoServerProcess

  init() throws {
    folder = try StoreFolder()
    upstream = try DemoServerProcess()
  }

  private func gateway(_ config: String, endpoint: String? = nil) throws -> ServeProcess {
    _ = try folder.write(
      """
      carabiner: 1
      serve: {forward-headers: [x-user, authorization]}
      plugins:
        - {name: audit-log, file: \(Self.plugin), config: {\(config)}}
      chain: {graphql: [audit-log]}
      """, to: "chain.yaml")
    return try ServeProcess(folder, endpoint: endpoint ?? upstream.endpoint)
  }

  /// The lines of a file, when it has so many. The plugin writes them a moment after the response.
  private func lines(_ count: Int, of name: String = "audit.log") async throws -> [JSONValue] {
    var text = ""
    for _ in 0..<1500 {
      text = (try? String(contentsOfFile: folder.file(name), encoding: .utf8)) ?? ""
      if text.count(where: { $0 == "\n" }) >= count { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    return try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
  }

  @Test("each operation is one line, whether it succeeds, fails or is hostile")
  func operations() async throws {
    let gateway = try gateway("file: \(folder.file("audit.log")), headers: [X-User, authorization, x-none], variables: true")
    let name = "ada \"[31m\" ü"
    let body = #"{"query":"query Books($a: String!) { echoHeader(name: $a) }","operationName":"Books","variables":{"a":"x\n"}}"#
    let answer = try RawAnswer(gateway.endpoint, body: body, headers: ["X-User: \(name)", "Authorization: Bearer secret"])
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try gateway.query("mutation { nothing }").status == 200)
    let found = try await lines(2)
    #expect(found.count == 2)
    let first = try #require(found.first)
    #expect(first["type"] == "query" && first["name"] == "Books" && first["outcome"] == "done")
    #expect(first["headers"]?["X-User"]?.string == name)
    #expect(first["headers"]?["authorization"] == "(sensitive)")
    #expect(first["headers"]?["x-none"] == nil)
    #expect(first["variables"]?["a"] == "x\n")
    #expect(first["results"] == 1 && first["withErrors"] == 0 && first["attempts"] == 1)
    #expect(first["time"]?.string?.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    #expect(found[1]["type"] == "mutation" && found[1]["name"] == nil)
    let text = try String(contentsOfFile: folder.file("audit.log"), encoding: .utf8)
    #expect(!text.contains("secret"))
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("audit.log"))
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test("a failure has its status and message, and a cancelled operation is a line too")
  func failures() async throws {
    let gateway = try gateway("file: \(folder.file("audit.log"))", endpoint: "http://127.0.0.1:1/graphql")
    #expect(try gateway.query("query Lost { books { id } }").status == 502)
    let failed = try #require(try await lines(1).first)
    #expect(failed["outcome"] == "failed" && failed["name"] == "Lost")
    #expect(failed["error"]?.string?.isEmpty == false)
    // The gateway writes the lines that wait when it ends.
    #expect(gateway.end(with: SIGTERM) == 0)
    let second = try self.gateway("file: \(folder.file("other.log"))")
    let request = try RawRequest(
      second.endpoint, body: #"{"query":"subscription Long { countdown(from: 100000, everyMilliseconds: 10) }"}"#,
      headers: ["Accept: text/event-stream"], within: 2)
    #expect(request.answer().curlStatus == 28)
    let cancelled = try #require(try await lines(1, of: "other.log").first)
    #expect(cancelled["outcome"] == "cancelled" && cancelled["type"] == "subscription" && cancelled["name"] == "Long")
    #expect((cancelled["results"]?.int ?? 0) > 0)
  }

  @Test("a full file is renamed, and a file that another program renames begins again, without a lost line")
  func rotation() async throws {
    let gateway = try gateway("file: \(folder.file("audit.log")), maximum-bytes: 4096, keep: 2")
    // Lines of 160 to 200 bytes: more than one file, fewer than three.
    for index in 0..<30 { #expect(try gateway.query("query Q\(index) { books { id } }").status == 200) }
    var all: [String] = []
    _ = await eventually {
      all = ["audit.log.2", "audit.log.1", "audit.log"].flatMap { name in
        (try? String(contentsOfFile: folder.file(name), encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
      }
      return all.count >= 30
    }
    #expect(try all.map { try JSONValue(parsing: $0)["name"]?.string } == (0..<30).map { "Q\($0)" })
    #expect(FileManager.default.fileExists(atPath: folder.file("audit.log.1")))
    for name in ["audit.log", "audit.log.1"] {
      #expect(try Data(contentsOf: URL(filePath: folder.file(name))).count <= 4096)
    }
    try FileManager.default.moveItem(atPath: folder.file("audit.log"), toPath: folder.file("moved.log"))
    #expect(try gateway.query("query After { books { id } }").status == 200)
    #expect(try await lines(1).map { $0["name"]?.string } == ["After"])
  }

  @Test("a full file that cannot be renamed grows, and no line is lost")
  func failedRotation() async throws {
    try FileManager.default.createDirectory(atPath: folder.file("audit.log.1/in use"), withIntermediateDirectories: true)
    let gateway = try gateway("file: \(folder.file("audit.log")), maximum-bytes: 4096, keep: 1")
    for index in 0..<40 { #expect(try gateway.query("query Q\(index) { books { id } }").status == 200) }
    #expect(try await lines(40).map { $0["name"]?.string } == (0..<40).map { "Q\($0)" })
  }

  @Test("syslog gets each line as a datagram")
  func syslog() async throws {
    let socket = folder.file("log")
    let script = """
      import socket
      s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      s.bind("\(socket)")
      print("bound", flush=True)
      print(s.recv(65536).decode(), flush=True)
      """
    let daemon = ChildProcess()
    daemon.executableURL = URL(filePath: "/usr/bin/python3")
    daemon.arguments = ["-c", script]
    let output = Pipe.notInherited()
    daemon.standardOutput = output
    daemon.standardError = FileHandle.nullDevice
    try daemon.run()
    #expect(output.fileHandleForReading.line() == "bound")
    let gateway = try gateway("syslog: \(socket)")
    #expect(try gateway.query("query ToSyslog { books { id } }").status == 200)
    let line = output.fileHandleForReading.line()
    daemon.waitUntilExit()
    let parts = try #require(line.wholeMatch(of: /<14>[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d carabiner-audit\[(\d+)\]: (\{.*\})/))
    #expect(Int32(parts.1) == gateway.processID)
    #expect(try JSONValue(parsing: String(parts.2))["name"] == "ToSyslog")
  }

  @Test("a daemon of syslog that does not read delays no request, and lost lines are counted")
  func silentDaemon() async throws {
    let socket = folder.file("log")
    let script = """
      import socket, time
      s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      s.bind("\(socket)")
      print("bound", flush=True)
      time.sleep(600)
      """
    let daemon = ChildProcess()
    daemon.executableURL = URL(filePath: "/usr/bin/python3")
    daemon.arguments = ["-c", script]
    let output = Pipe.notInherited()
    daemon.standardOutput = output
    daemon.standardError = FileHandle.nullDevice
    try daemon.run()
    defer { kill(daemon.processIdentifier, SIGKILL) }
    #expect(output.fileHandleForReading.line() == "bound")
    let gateway = try gateway("syslog: \(socket)")
    // More than the queue of a socket holds.
    let limit = (try? String(contentsOfFile: "/proc/sys/net/unix/max_dgram_qlen", encoding: .utf8)) ?? ""
    for _ in 0..<min((Int(limit.filter(\.isNumber)) ?? 10) + 20, 600) {
      #expect(try gateway.query("{ books { id } }").status == 200)
    }
    #expect(await eventually { gateway.errors.contains("audit lines were lost") }, "\(gateway.errors)")
    #expect(try gateway.query("{ books { id } }").status == 200)
  }

  @Test(
    "mistakes are named by their place",
    arguments: [
      ("{}", "/file: the target is missing"), ("{file: a, syslog: b}", "/syslog: give either file or syslog"),
      ("{file: /}", "/file: "), ("{file: /dev/null}", "/file: this is not a regular file"),
      ("{file: /no/such/folder/audit.log}", "/file: it cannot be opened: No such file or directory"),
      ("{syslog: /no/such/socket}", "/syslog: it cannot be opened"), ("{file: a, keep: 0}", "/plugins/0/config/keep"),
      ("{file: a, headers: ['a b']}", "/plugins/0/config/headers/0"),
    ])
  func mistakes(_ config: String, _ place: String) async throws {
    let manifest = try TemporaryFile(
      "carabiner: 1\nplugins: [{name: audit, file: \(Self.plugin), config: \(config)}]\nchain: {graphql: [audit]}\n")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    #expect(run.errors.contains(place), "\(run.errors)")
  }
}
