import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner run and a plugin that kills it")
struct CrashCommandTests {
  @Test("the last line names the plugin, and the shell sees the signal")
  func crash() async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("crash", into: folder)
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: killer, file: \(path), config: {where: on_request}}], chain: {graphql: [killer]}}")
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:1/graphql", "-"], input: "{ hero { name } }",
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    #expect(run.status == -SIGSEGV)
    #expect(run.output.isEmpty)
    #expect(
      run.errors.contains("carabiner: fatal SIGSEGV at address 0x10 in plugin killer, file \(path), hook on_request, call "),
      "\(run.errors)")
  }

  @Test("with Swift's backtraces the plugin is named below them too")
  func backtrace() async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("crash", into: folder)
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: killer, file: \(path), config: {where: on_request}}], chain: {graphql: [killer]}}")
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:1/graphql", "-"], input: "{ hero { name } }",
      environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no,symbolicate=off,threads=crashed,limit=4,images=none"])
    #expect(run.status == -SIGSEGV)
    let lines = run.errors.split(separator: "\n")
    let last = try #require(lines.last)
    #expect(last.hasPrefix("carabiner: fatal SIGSEGV") && last.contains("in plugin killer"), "\(run.errors)")
    #expect(run.errors.contains("***"), "Swift wrote no backtrace: \(run.errors)")
  }
}
