/// Which cases of a seed are run, and what of them.
package struct FuzzOrder: Sendable, Hashable {
  /// How many cases there are unless it is told otherwise.
  package static let usualCount = 1000
  /// How many there may be.
  package static let maximumCount = 100_000_000

  package var cases: Range<Int>
  /// The ingredients that count, by their places; nil for all.
  package var kept: Set<Int>?

  package init(cases: Range<Int> = 0..<usualCount, kept: Set<Int>? = nil) {
    self.cases = cases
    self.kept = kept
  }
}
