import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

@Suite("Pinned files of workers")
struct WorkerPinTests {
  @Test("a worker maps no file with another digest than its entry has, also if the entry is disabled", .rule("signature.11"))
  func members() async throws {
    let folder = try FixturePlugin.Folder()
    let (first, second) = (
      try await FixturePlugin.compile("stamp", into: folder, name: "first.so"),
      try await FixturePlugin.compile("stamp", defining: [#"STAMP="two""#], into: folder, name: "second.so")
    )
    func chain(pin: String) throws -> HostedChain {
      let isolation = "isolation: {mode: worker, group: g}"
      let manifest = try Manifest(
        text: """
          carabiner: 1
          plugins:
            - {name: a, file: \(first), \(isolation)}
            - {name: b, file: \(second), sha256: \(pin), enabled: false, \(isolation)}
          chain: {http: [a, b, response-code]}
          """)
      return try HostedChain(manifest, launcher: HostilePrograms.launcher.path)
    }
    #expect(try chain(pin: PluginNote.inspect(path: second).digest).libraries.keys.sorted() == ["a"])
    let error = #expect(throws: HostError.self) { try chain(pin: String(repeating: "0", count: 64)) }
    #expect(error?.code == .pinMismatch && error?.path == second)
  }
}
