import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner check")
struct CheckCommandTests {
  private static let noop = CommandRun.root.appending(path: "Plugins/noop/build/noop.so").path

  @Test("a valid manifest is reported as valid, without other output")
  func good() async throws {
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: n, file: \(Self.noop)}], chain: {graphql: [n]}}")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 0)
    #expect(run.output == "\(manifest.path): ok\n")
    #expect(run.errors.isEmpty, "\(run.errors)")
  }

  @Test("every problem is a line with file, line, column and place, in the order of the file")
  func lines() async throws {
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      endpoitn: x
      settings:
        timeout: soon
      plugins:
        - name: a
          file: /absent.so
      chain:
        http: [{use: response-code, before: absent}]
      """)
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    #expect(run.output == "\(manifest.path): refused, 4 to correct\n")
    let places = run.errors.split(separator: "\n").map { $0.split(separator: ": ").prefix(3).joined(separator: ": ") }
    #expect(
      places == [
        "\(manifest.path):2:1: error: /endpoitn", "\(manifest.path):4:3: error: /settings/timeout",
        "\(manifest.path):7:5: error: /plugins/0/file", "\(manifest.path):9:10: error: /chain/http/0",
      ])
    #expect(run.errors.contains("(did you mean endpoint?)"))
    #expect(run.errors.contains("[orderUnsatisfied]"))
  }

  @Test("a key that does not belong to its certificate is an error, of a listener and of an upstream", arguments: [true, false])
  func certificates(isRight: Bool) async throws {
    let files = try await CertificateFiles()
    let pair = "certificate: \(files.path("server.pem")), key: \(files.path(isRight ? "server.key" : "authority.key"))"
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      serve: {listeners: [{address: "127.0.0.1:0", tls: {certificates: [{\(pair)}]}}]}
      upstreams: {main: {endpoints: ["https://127.0.0.1:1/"], tls: {\(pair)}}}
      """)
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == (isRight ? 0 : 3), "\(run.errors)")
    for place in ["error: /serve/listeners/0/tls/certificates/0: ", "error: /upstreams/main/tls: "] {
      #expect(run.errors.contains(place + "the certificate \(files.path("server.pem"))") == !isRight, "\(run.errors)")
    }
  }

  @Test("the report for machines has the shape Manifest.md documents")
  func shape() async throws {
    let manifest = try TemporaryFile(
      "{carabiner: 1, settings: {timeout: soon}, plugins: [{name: idle, file: \(Self.noop)}]}")
    let run = try await CommandRun(["check", "-m", manifest.path, "--format", "json"])
    #expect(run.status == 3)
    let report = try JSONValue(parsing: run.output)
    #expect(report.object?.keys.sorted() == ["manifest", "ok", "problems", "warnings"])
    #expect(report["manifest"]?.string == manifest.path)
    #expect(report["ok"]?.bool == false)
    #expect(
      report["problems"] == [
        [
          "code": "invalidValue", "pointer": "/settings/timeout", "line": 1, "column": 27,
          "message": "\"soon\" is not a duration; write 250ms, 30s or 2m",
        ]
      ])
    let good = try TemporaryFile("{carabiner: 1, plugins: [{name: idle, file: \(Self.noop)}]}")
    let warned = try await JSONValue(parsing: CommandRun(["check", "-m", good.path, "--format", "json"]).output)
    #expect(warned["ok"]?.bool == true)
    #expect(warned["warnings"]?[0]?["code"]?.string == "unusedPlugin")
    #expect(warned["warnings"]?[0]?["line"]?.int == 1)
  }

  @Test("a call without arguments, which would crash the host, is refused with its place and what to write")
  func callWithoutArguments() async throws {
    func check(_ more: String) async throws -> (path: String, run: CommandRun) {
      let manifest = try TemporaryFile(
        """
        carabiner: 1
        plugins:
          - name: crc
            ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-CRC\(more)}
        chain: {http: [crc]}
        """)
      return (manifest.path, try await CommandRun(["check", "-m", manifest.path]))
    }
    let (path, refused) = try await check("")
    #expect(refused.status == 3)
    #expect(
      refused.errors.split(separator: "\n").first.map(String.init) ?? "" == """
        \(path):4:5: error: /plugins/0/ffi/arguments: ffi needs arguments, a list of what crc32 takes in C; write arguments: [] only \
        if it takes nothing [missing]
        """)
    let complete = ", arguments: [{type: u64, value: 0}, {type: pointer, from: body}, {type: u32, from: body-length}]"
    #expect(try await check(complete).run.status == 0)
  }

  @Test("each refused plugin is reported at the faulty key, together with other problems")
  func severalPlugins() async throws {
    let crashes = try await CompiledFixture("loading", defining: ["ENTRY_CRASHES"])
    let refuses = try await CompiledFixture("misbehave")
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      headers: {Authorization: "${env:CARABINER_SURELY_UNSET}"}
      plugins:
        - name: crashes
          file: \(crashes.path)
        - name: pinned
          file: \(Self.noop)
          sha256: \(String(repeating: "ab", count: 32))
        - name: refuses
          file: \(refuses.path)
          config:
            mod: x
            mode: 1
        - name: fits
          file: \(refuses.path)
          config: {mode: refuse}
        - name: noop
          file: \(Self.noop)
        - name: call
          ffi: {library: libz.so.1, function: no_such_function, returns: u64, header: X, arguments: []}
      chain:
        graphql: [crashes, pinned, refuses, fits, noop]
        http: [call, noop]
      """)
    let run = try await CommandRun(["check", "-m", manifest.path, "--format", "json"])
    #expect(run.status == 3)
    let problems = try JSONValue(parsing: run.output)["problems"]?.array ?? []
    let found = problems.map { "\($0["line"]?.int ?? 0) \($0["pointer"]?.string ?? "") \($0["code"]?.string ?? "")" }
    #expect(
      found == [
        "2 /headers/Authorization unresolvedReference", "5 /plugins/0/file entryRefused", "8 /plugins/1/sha256 pinMismatch",
        "12 /plugins/2/config/mod schemaViolation", "13 /plugins/2/config/mode schemaViolation",
        "16 /plugins/3/config configurationRefused", "20 /plugins/5/ffi/function invalidValue", "23 /chain/http/1 unknownStage",
      ], "\(run.output)")
  }

  @Test(
    "a plugin that crashes or ends the process is reported, the host lives, and no copy of the plugin is left behind",
    arguments: [
      ("ENTRY_CRASHES", "crashed with signal 11"), ("ENTRY_EXITS", "ended the process with status 0 and without a report"),
      ("ENTRY_NULL", "returned NULL"), ("NO_ENTRY", "does not export crb_entry_v1"),
    ])
  func misbehaving(definition: String, message: String) async throws {
    let plugin = try await CompiledFixture("loading", defining: [definition])
    let manifest = try manifest(plugin)
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try await CommandRun(["check", "-m", manifest.path], environment: ["XDG_RUNTIME_DIR": folder.path])
    #expect(run.status == 3)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    #expect(run.errors.contains("\(manifest.path):3:21: error: /plugins/0/file: \(plugin.path): "), "\(run.errors)")
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test("a plugin that writes more than a pipe holds does not stop inspect")
  func flooding() async throws {
    let plugin = try await CompiledFixture("loading", defining: ["ENTRY_FLOODS"])
    let run = try await CommandRun(["inspect", "--load", "--format", "json", plugin.path])
    // The worker's output is not that of the command, and has a limit.
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.utf8.count < 10_000)
  }

  @Test("a plugin that never returns is reported after the time it has", arguments: ["ENTRY_HANGS"])
  func hanging(definition: String) async throws {
    let plugin = try await CompiledFixture("loading", defining: [definition])
    let manifest = try manifest(plugin)
    let start = ContinuousClock.now
    let run = try await CommandRun(["check", "-m", manifest.path, "--probe-timeout", "700ms"])
    #expect(run.status == 3)
    #expect(run.errors.contains("did not end within 700ms and was killed"), "\(run.errors)")
    #expect(ContinuousClock.now - start >= .milliseconds(700))
  }

  @Test("processes started by a plugin end with it, whether the plugin waits or not", arguments: [["ENTRY_WAITS"], []])
  func grandchildren(more: [String]) async throws {
    let plugin = try await CompiledFixture("loading", defining: ["ENTRY_FORKS"] + more)
    let manifest = try manifest(plugin)
    let file = plugin.folder.appending(path: "child").path
    let run = try await CommandRun(
      ["check", "-m", manifest.path, "--probe-timeout", "5s"], environment: ["TEST_CHILD_FILE": file])
    #expect(run.status == (more.isEmpty ? 0 : 3), "\(run.errors)")
    let child = try #require(Int(String(contentsOfFile: file, encoding: .utf8)))
    #expect(isGone(child))
  }

  /// Whether a process ends within a second. A zombie counts as ended.
  private func isGone(_ process: Int) -> Bool {
    for _ in 0..<100 {
      guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
      if status.split(separator: ")").last?.hasPrefix(" Z") == true { return true }
      Thread.sleep(forTimeInterval: 0.01)
    }
    return false
  }

  @Test("an override that switches off a mandatory plugin is a problem, one that matches nothing is a warning")
  func overrides() async throws {
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: audit, file: \(Self.noop), mandatory: true}], chain: {graphql: [audit]}}")
    let refused = try await CommandRun(["check", "-m", manifest.path], environment: ["CARABINER_DISABLE": "aud*"])
    #expect(refused.status == 3)
    #expect(refused.errors.contains("[mandatoryDisabled]"), "\(refused.errors)")
    let warned = try await CommandRun(["check", "-m", manifest.path], environment: ["CARABINER_DISABLE": "audti"])
    #expect(warned.status == 0)
    #expect(warned.errors.contains(": warning: CARABINER_DISABLE=audti fits no plugin (did you mean audit?)"), "\(warned.errors)")
  }

  @Test("--schema prints the JSON Schema of manifests")
  func schema() async throws {
    let run = try await CommandRun(["check", "--schema"])
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    let schema = try JSONValue(parsing: run.output)
    #expect(schema["$schema"]?.string == "https://json-schema.org/draft/2020-12/schema")
    #expect(schema["properties"]?["carabiner"]?["const"]?.int == 1)
  }

  @Test(
    "an invalid command line is exit status 2",
    arguments: [
      ["check"], ["check", "--schema", "-m", "x"], ["check", "-m", "x", "--probe-timeout", "5"],
      ["check", "-m", "x", "--probe-timeout", "0s"], ["check", "-m", "x", "--format", "xml"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(arguments)
    #expect(run.status == 2, "\(run.errors)")
    #expect(!run.errors.isEmpty)
    #expect(run.output.isEmpty)
  }

  @Test("a file that cannot be a manifest is refused, and so is a missing file")
  func files() async throws {
    for path in ["/no/such/manifest.yaml", "/", "/dev/zero"] {
      let run = try await CommandRun(["check", "-m", path])
      #expect(run.status == 3)
      #expect(run.errors.hasPrefix("\(path): error: the manifest "), "\(run.errors)")
    }
  }

  private func manifest(_ plugin: CompiledFixture) throws -> TemporaryFile {
    try TemporaryFile("carabiner: 1\nplugins:\n  - {name: subject, file: \(plugin.path)}\nchain: {graphql: [subject]}\n")
  }
}
