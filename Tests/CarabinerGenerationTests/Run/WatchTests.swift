import CarabinerGeneration
import Synchronization
import TestTools
import Testing

@Suite("Generation: watch")
struct WatchTests {
  /// Waits for a condition, at most 30 s.
  private func wait(_ isTrue: () -> Bool) async throws -> Bool {
    for _ in 0..<3000 {
      if isTrue() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test("a watch generates again after changes, and a fault does not end it", .rule("generate.14"), .timeLimit(.minutes(2)))
  func watch() async throws {
    let project = try Project(["A.graphql": "query A { book { title } }"])
    let run = GenerationRun(project.request)
    let outcomes = Mutex<[Bool]>([])
    let watch = Task {
      await GenerationWatch(run, interval: .milliseconds(20))() {
        let isDone = (try? run.changes().apply()) != nil
        outcomes.withLock { $0.append(isDone) }
      }
    }
    defer { watch.cancel() }
    #expect(try await wait { outcomes.withLock { $0 == [true] } })
    // A half-written schema.
    try project.write("schema.graphqls", "type Query { book: Bo")
    #expect(try await wait { outcomes.withLock { $0.last == false } })
    #expect(project.exists("Generated/A.graphql.swift"))
    try project.write("schema.graphqls", Project.schema)
    #expect(try await wait { outcomes.withLock { $0.last == true } })
    try project.write("Queries/B.graphql", "query B { book { genre } }")
    #expect(try await wait { project.exists("Generated/B.graphql.swift") })
  }
}
