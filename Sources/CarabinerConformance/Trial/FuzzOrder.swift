/// The cases of a seed to run, and their ingredients.
package struct FuzzOrder: Sendable, Hashable {
  /// The default number of cases.
  package static let usualCount = 1000
  /// The highest number of cases.
  package static let maximumCount = 100_000_000

  package var cases: Range<Int>
  /// The numbers of the ingredients to use; nil for all.
  package var kept: Set<Int>?

  package init(cases: Range<Int> = 0..<usualCount, kept: Set<Int>? = nil) {
    self.cases = cases
    self.kept = kept
  }
}
