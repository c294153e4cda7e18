import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The plugins of this repository, confined by the harness: C, C++, Rust and Swift with tasks and timers.
@Suite("The repository's own plugins under test")
struct OwnPluginTests {
  /// Plugins that write a file or open a socket, which workers refuse.
  static let inProcess: Set = ["audit-log", "redis-cache"]

  static let names = [
    "audit-log", "cbor-parser", "complexity-guard", "hmac-sign", "jwt-auth", "noop", "recorder", "redis-cache", "request-log",
    "response-mask", "token-auth", "ttl-cache",
  ]

  @Test("need no system call that is refused, and break no rule of the process", arguments: names)
  func unrefused(_ name: String) async throws {
    let plugin = Repository.root.appending(path: "Plugins/\(name)/build/\(name).so").path
    let run = try await CommandRun(
      ["conform", "--check", "LD,PR,SE01,ER06,TH07,PF02", "--effort", "0.01", "--format", "json", plugin])
    let checks = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array ?? []
    #expect(checks.count > 10, "\(run.errors)")
    #expect(checks.allSatisfy { ["PASS", "SKIP"].contains($0["status"]?.string ?? "") }, "\(checks)")
    // It declares its sockets, which are refused all the same.
    guard name != "redis-cache" else { return }
    #expect(checks.allSatisfy { $0["output"]?.string?.contains("refused system calls") != true }, "\(checks)")
  }
}
