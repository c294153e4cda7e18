internal import Carabiner

/// A manifest cannot be used. The error contains all problems, not only the first.
package struct ManifestError: DescribedError, Sendable, Hashable {
  /// The path of the file, or the name of the manifest in messages.
  package let path: String
  /// The problems, in the order of the file.
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
