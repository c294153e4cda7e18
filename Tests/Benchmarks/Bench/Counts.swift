internal import BenchSubjects
internal import Foundation

/// The output of `Scripts/measure counts --json`.
struct Counts: Decodable {
  /// The cost of one piece of work.
  struct Count: Decodable {
    let instructions: Double
    let allocations: Double
  }

  /// The costs, by subject.
  let subjects: [String: Count]

  init(contentsOf path: String) throws {
    self = try JSONDecoder().decode(Counts.self, from: Data(contentsOf: URL(filePath: path)))
  }

  /// The instructions of every subject, and the allocations of subjects that are not in the report.
  func figures(besides report: Report) -> [Figure] {
    Subject.all.flatMap { subject -> [Figure] in
      guard let count = subjects[subject.name] else { return [] }
      let allocations = Figure("\(subject.name).allocs", count.allocations)
      return [Figure("\(subject.name).instructions", count.instructions)]
        + (report.contains(allocations.name) ? [] : [allocations])
    }
  }
}
