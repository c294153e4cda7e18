/// A piece of work that benchmarks time and whose instructions and allocations are guarded.
package struct Subject: Sendable {
  /// Runs the work so many times.
  package typealias Work = @Sendable (Int) async throws -> Void

  /// What it is called.
  package let name: String
  /// Makes the work ready, given where the plugins of the benchmarks lie.
  package let prepare: @Sendable (_ plugins: String) async throws -> Work

  init(_ name: String, _ prepare: @escaping @Sendable (_ plugins: String) async throws -> Work) {
    self.name = name
    self.prepare = prepare
  }

  /// All of them.
  package static let all = chains + stores + texts

  /// The work of the subject of this name.
  package static func work(_ name: String, plugins: String) async throws -> Work {
    guard let subject = all.first(where: { $0.name == name }) else {
      throw SubjectError(description: "there is no subject \(name); there are \(all.map(\.name).joined(separator: ", "))")
    }
    return try await subject.prepare(plugins)
  }
}

/// A piece of work cannot be done.
package struct SubjectError: Error, CustomStringConvertible {
  package let description: String
}
