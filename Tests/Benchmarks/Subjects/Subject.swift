/// A piece of work that benchmarks measure. Its instructions and allocations have limits.
package struct Subject: Sendable {
  /// Runs the work the given number of times.
  package typealias Work = @Sendable (Int) async throws -> Void

  /// The name in reports.
  package let name: String
  /// Prepares the work. Its argument is the folder of the benchmark plugins.
  package let prepare: @Sendable (_ plugins: String) async throws -> Work

  init(_ name: String, _ prepare: @escaping @Sendable (_ plugins: String) async throws -> Work) {
    self.name = name
    self.prepare = prepare
  }

  /// All subjects.
  package static let all = chains + stores + texts

  /// The prepared work of the subject with this name.
  package static func work(_ name: String, plugins: String) async throws -> Work {
    guard let subject = all.first(where: { $0.name == name }) else {
      throw SubjectError(description: "there is no subject \(name); there are \(all.map(\.name).joined(separator: ", "))")
    }
    return try await subject.prepare(plugins)
  }
}

/// A piece of work failed.
package struct SubjectError: Error, CustomStringConvertible {
  package let description: String
}
