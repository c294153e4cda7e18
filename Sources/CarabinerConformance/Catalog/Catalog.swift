/// All checks.
package enum Catalog {
  /// All checks, in the order in which they are listed and run.
  package static let checks: [Check] =
    symbolChecks + loadChecks + descriptorChecks + lifecycleChecks + memoryChecks + threadChecks + semanticsChecks + streamChecks
    + errorChecks + limitChecks + performanceChecks + reloadChecks + processChecks + selfTestChecks + fuzzChecks

  /// The groups of checks: the letters of their ids, and their titles.
  package static let groups: [(letters: String, title: String)] = [
    ("SY", "Symbols"), ("LD", "Load"), ("DS", "Descriptor"), ("LC", "Lifecycle"), ("ME", "Memory"), ("TH", "Threads"),
    ("SE", "Semantics"), ("ST", "Streams"), ("ER", "Errors, retries, cancellation"), ("HI", "Limits and hostile input"),
    ("PF", "Performance"), ("HR", "Hot reload"), ("PR", "Process"),
    ("SF", "Self-tests"), ("FZ", "Fuzzing"),
  ]

  /// All levels.
  package static let levels = 1...10

  /// The check with an id, in upper or lower case; nil if there is none.
  package static func check(_ id: String) -> Check? { checks.first { $0.id == id.uppercased() } }
}
