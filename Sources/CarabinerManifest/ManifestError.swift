/// A manifest cannot be used: everything that is wrong with it, not only the first thing.
package struct ManifestError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, or what stands for it.
  package let path: String
  /// What is wrong, in the order of the file.
  package let problems: [ManifestProblem]

  /// An error about the manifest at `path`.
  package init(path: String, problems: [ManifestProblem]) {
    self.path = path
    self.problems = problems
  }

  package var description: String {
    let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
    return (["\(path): \(count)"] + problems.map { "  \($0)" }).joined(separator: "\n")
  }
}
