internal import CarabinerABI
internal import CarabinerManifest
internal import CarabinerWire

extension Manifest {
  /// Checks that each `cache` and each `parsing` list is absent or the default list.
  ///
  /// - Throws: ``ManifestError`` with the place of each other list.
  func requireDefaultCacheAndParsing() throws {
    var problems = otherLists(of: lists, at: JSONPointer().appending("chain"))
    for (index, rule) in rules.enumerated() {
      problems += otherLists(of: rule.lists, at: JSONPointer().appending("rules").appending(index).appending("chain"))
    }
    guard problems.isEmpty else { throw ManifestError(path: path, problems: placed(problems)) }
  }

  private func otherLists(of lists: Lists, at pointer: JSONPointer) -> [ManifestProblem] {
    [StageKind.cache, .parsing].compactMap { kind in
      guard let list = lists[kind], list.map(\.name) != kind.builtIns else { return nil }
      return ManifestProblem(
        .invalidValue, at: pointer.appending(kind.rawValue),
        "the program has its own \(kind.rawValue) interceptors, so the stages of this list would not run; remove the list")
    }
  }
}
