import CommandTools
import Foundation
import TestTools
import Testing

/// A process with a memory limit.
@Suite("carabiner run where memory is limited")
struct ScarceMemoryTests {
  @Test("a plugin that requests too much memory gets none, and the request continues")
  func exhausted() async throws {
    let plugin = try await CompiledFixture("services")
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: p, file: \(plugin.path), config: {mode: memory}}], chain: {graphql: [p]}}")
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:1/graphql", "-"], input: "{ hero { name } }",
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    #expect(run.status == 0, "\(run.errors)")
    // CRB_E_NOMEM is -2.
    #expect(run.output.contains("got 0, emit -2"), "\(run.output)")
  }
}
