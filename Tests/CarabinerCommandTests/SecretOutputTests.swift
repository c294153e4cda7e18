import CommandTools
import Foundation
import ScriptedServer
import Testing

/// The value of a secret reference is in the request and nowhere else.
@Suite("Secrets are never printed")
struct SecretOutputTests {
  private static let secret = "opensesame-9f3c"
  private static let environment = ["TEST_SECRET": secret, "CARABINER_LOG": "trace"]

  private func manifest(_ mode: String, more: String = "") async throws -> (file: TemporaryFile, plugin: CompiledFixture) {
    let plugin = try await CompiledFixture("misbehave")
    let file = try TemporaryFile(
      """
      carabiner: 1
      endpoint: "http://127.0.0.1:1/${env:TEST_SECRET}"
      \(more)
      plugins:
        - name: subject
          file: \(plugin.path)
          config: {mode: "\(mode)"}
      chain: {graphql: [subject]}
      """)
    return (file, plugin)
  }

  private func expectNoSecret(_ run: CommandRun, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(!run.output.contains(Self.secret), "\(run.output)", sourceLocation: sourceLocation)
    #expect(!run.errors.contains(Self.secret), "\(run.errors)", sourceLocation: sourceLocation)
  }

  @Test("neither by chain nor by check, whatever the format", arguments: ["text", "json"])
  func inspecting(format: String) async throws {
    let (file, plugin) = try await manifest("${env:TEST_SECRET}", more: "headers: {Authorization: \"${env:TEST_SECRET}\"}")
    for command in ["chain", "check"] {
      let run = try await CommandRun([command, "-m", file.path, "--format", format], environment: Self.environment)
      #expect(run.status == 0, "\(run.errors)")
      expectNoSecret(run)
    }
    withExtendedLifetime(plugin) {}
  }

  @Test("nor when a plugin refuses its configuration and repeats it")
  func refusedAloud() async throws {
    let (file, plugin) = try await manifest("refuse-aloud ${env:TEST_SECRET}")
    for arguments in [
      ["check", "-m", file.path], ["check", "-m", file.path, "--format", "json"], ["run", "-m", file.path, "-"],
    ] {
      let run = try await CommandRun(arguments, input: "{ a }", environment: Self.environment)
      #expect(run.status == 3)
      #expect((run.errors + run.output).contains("refuse-aloud ${env:TEST_SECRET}"), "\(run.errors)")
      expectNoSecret(run)
    }
    withExtendedLifetime(plugin) {}
  }

  @Test("nor when a plugin logs it and fails a request with it")
  func failedAloud() async throws {
    let (file, plugin) = try await manifest("fail-aloud ${env:TEST_SECRET}")
    let run = try await CommandRun(["run", "-m", file.path, "--trace", "-"], input: "{ a }", environment: Self.environment)
    #expect(run.status == 7, "\(run.errors)")
    // Once in the log and once in the error.
    #expect(run.errors.components(separatedBy: "fail-aloud ${env:TEST_SECRET}").count > 2, "\(run.errors)")
    expectNoSecret(run)
    withExtendedLifetime(plugin) {}
  }

  @Test("not by the error of a request whose endpoint and headers contain one")
  func network() async throws {
    let (file, plugin) = try await manifest("nothing", more: "headers: {X-Key: \"${env:TEST_SECRET}\"}")
    let run = try await CommandRun(
      ["run", "-m", file.path, "--trace", "-"], input: "{ a }", environment: Self.environment)
    #expect(run.status == 4, "\(run.errors)")
    expectNoSecret(run)
    withExtendedLifetime(plugin) {}
  }

  @Test(
    "a password in --endpoint is in no error and no log", arguments: ["500 Broken", "307 Moved", "308 Moved", "200 OK", nil])
  func endpoint(status: String?) async throws {
    let server = try ScriptedServer { peer in
      guard let status else { return }
      while let request = try peer.request() {
        let host = request.header("Host") ?? ""
        try peer.respond(
          status, headers: "Location: http://user:\(Self.secret)@\(host)\(status == "307 Moved" ? "/" : ":x")\r\n", body: "{")
      }
    }
    let address = "//user:\(Self.secret)@127.0.0.1:\(server.port)/graphql"
    for arguments in [
      ["--endpoint", "http:\(address)"], ["--endpoint", "http:\(address)", "--get"], ["--websocket", "ws:\(address)"],
    ] {
      let run = try await CommandRun(
        ["run"] + arguments + ["--trace", "--timeout", "30", "-"], input: "{ a }", environment: Self.environment)
      #expect(run.status > 0 && !run.errors.isEmpty)
      expectNoSecret(run)
    }
  }

  @Test(
    "a header that has a line end once its secret is filled in is refused by the reference's name", arguments: ["\r\n", "\n"])
  func lineEnds(end: String) async throws {
    let (file, plugin) = try await manifest("nothing", more: "headers: {X-Key: \"Bearer ${env:TEST_BROKEN}\"}")
    let environment = ["TEST_SECRET": "path", "TEST_BROKEN": "\(Self.secret)\(end)X-Injected: 1"]
    for arguments in [["check", "-m", file.path], ["run", "-m", file.path, "-"]] {
      let run = try await CommandRun(arguments, input: "{ a }", environment: environment)
      #expect(run.status == 3, "\(run.errors)")
      #expect(run.errors.contains("/headers/X-Key"))
      #expect(run.errors.contains("${env:TEST_BROKEN}"))
      #expect(!run.errors.contains("X-Injected"))
      expectNoSecret(run)
    }
    withExtendedLifetime(plugin) {}
  }
}
