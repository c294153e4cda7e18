import Foundation
import TestTools
import Testing

/// A plugin in a worker reaches nothing outside its process. `EscapeTests` shows that the attempts succeed without confinement.
@Suite("Escapes from a worker")
struct WorkerEscapeTests {
  @Test(
    "no attempt succeeds, in a constructor or in a thread, with and without namespaces",
    .rule("worker.61", "worker.64", "worker-test.41", "worker-test.42"),
    arguments: EscapeFixture.all,
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

  /// Attempts to read its own root, which has only readable files.
  private static let ownRoot: Set = ["98 the folder above", "99 /", "107 /proc/self/cwd", "118 /dev"]

  @Test(
    "with a root of its own instead of Landlock, a worker reaches only this root", .rule("worker.7", "worker.64"),
    arguments: EscapeFixture.all)
  func rootAlone(_ fixture: EscapeFixture) async throws {
    let scratch = try FixturePlugin.Folder()
    for user in await TestUser.available(in: scratch) where await WorkerRun.hasNamespaces(user) {
      let names = try await Self.successes(of: fixture, as: user, without: [.landlock])
      #expect(Self.ownRoot.isSuperset(of: names), "as \(user): \(names)")
    }
  }

  @Test(
    "with neither, a worker that may start nevertheless reads files, and changes nothing", .rule("worker.7", "worker.62"),
    arguments: EscapeFixture.all)
  func noWall(_ fixture: EscapeFixture) async throws {
    let scratch = try FixturePlugin.Folder()
    for user in await TestUser.available(in: scratch) {
      let names = try await Self.successes(of: fixture, as: user, without: [.landlock, .namespaces])
      // The attempts to read. The launcher is their target, and its memory stays closed.
      let numbers = names.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
      #expect(
        Set(numbers).isSubset(of: Set(96...120).subtracting([109, 110, 111, 112, 113]).union([179])), "as \(user): \(names)")
    }
  }

  /// The names of the successful attempts, with their numbers, of a worker that uses the layers there are.
  private static func successes(
    of fixture: EscapeFixture, as user: TestUser, without features: [WorkerRun.Feature]
  ) async throws -> [String] {
    let (folder, outside) = (try FixturePlugin.Folder(), try EscapeFixture.outside())
    let plugin = try await fixture.plugin(outside: outside, into: folder, isForWorker: true)
    let run = try await WorkerRun(
      ["--plugin", plugin, "--seconds", "60", "--confine", "available"], as: user, without: features)
    #expect(run.status == 0, "as \(user): \(run)")
    #expect(EscapeCount(run.errors, in: "thread") != nil)
    let succeeded = run.errors.split(separator: "\n").filter { $0.hasPrefix("succeeded in ") }
    return succeeded.map { String($0.drop { $0 != ":" }.dropFirst(2)) }
  }
}
