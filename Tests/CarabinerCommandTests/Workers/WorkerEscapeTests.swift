import Foundation
import TestTools
import Testing

/// A plugin in a worker reaches nothing outside its process. `EscapeTests` shows that the attempts succeed without confinement.
@Suite("Escapes from a worker")
struct WorkerEscapeTests {
  @Test(
    "W64: no attempt succeeds, in a constructor or in a thread, with and without namespaces", arguments: EscapeFixture.all,
    [[], [.namespaces]] as [[WorkerRun.Feature]])
  func confined(_ fixture: EscapeFixture, _ lacking: [WorkerRun.Feature]) async throws {
    let folder = try FixturePlugin.Folder()
    let outside = try EscapeFixture.outside()
    let plugin = try await fixture.plugin(outside: outside, into: folder, isForWorker: true)
    let before = try FileManager.default.subpathsOfDirectory(atPath: outside.url.path).sorted()
    let scratch = try FixturePlugin.Folder()
    try EscapeFixture.share(scratch.url)
    for user in await TestUser.available(in: scratch) {
      let run = try await WorkerRun(["--plugin", plugin, "--seconds", "60"], as: user, without: lacking)
      #expect(run.status == 0, "as \(user): \(run)")
      // Without a user namespace, the kernel counts the threads of all processes of the user, so there is no thread limit.
      let tolerated = run.inForce.contains(WorkerRun.Layer.namespaces) ? [] : ["179 more threads"]
      let succeeded = run.errors.split(separator: "\n").filter { $0.hasPrefix("succeeded in ") }
      #expect(succeeded.filter { line in !tolerated.contains { line.hasSuffix($0) } } == [], "as \(user)")
      for place in ["constructor", "thread"] {
        let count = EscapeCount(run.errors, in: place)
        #expect(count != nil, "as \(user), in \(place): \(run.errors)")
        #expect(count?.tried ?? 0 > 20)
      }
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: outside.url.path).sorted() == before)
  }

  /// Reading its own root and writing to its own files in /proc. No other attempt succeeds.
  private static let harmless: Set = [
    "98 the folder above", "99 /", "107 /proc/self/cwd", "118 /dev", "123 oom_score_adj", "124 /proc/self/mem",
  ]

  @Test(
    "W7, W64: with a root of its own instead of Landlock, a worker reaches only its root and itself", arguments: EscapeFixture.all
  )
  func rootAlone(_ fixture: EscapeFixture) async throws {
    let folder = try FixturePlugin.Folder()
    let scratch = try FixturePlugin.Folder()
    let plugin = try await fixture.plugin(outside: try EscapeFixture.outside(), into: folder, isForWorker: true)
    for user in await TestUser.available(in: scratch) where await WorkerRun.hasNamespaces(user) {
      let run = try await WorkerRun(["--plugin", plugin, "--seconds", "60"], as: user, without: [.landlock])
      #expect(run.status == 0, "as \(user): \(run)")
      let succeeded = run.errors.split(separator: "\n").filter { $0.hasPrefix("succeeded in constructor: ") }
      let names = succeeded.map { String($0.dropFirst("succeeded in constructor: ".count)) }
      #expect(Self.harmless.isSuperset(of: names), "as \(user): \(names)")
      #expect(EscapeCount(run.errors, in: "constructor") != nil)
    }
  }
}
