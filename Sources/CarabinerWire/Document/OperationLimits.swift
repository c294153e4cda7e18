/// The limits for the size of an operation. A limit that is nil does not apply.
package struct OperationLimits: Sendable, Hashable {
  /// The default of ``tokens``.
  package static let defaultTokens = 15_000

  package var depth: Int?
  package var fields: Int?
  package var rootFields: Int?
  package var aliases: Int?
  package var directives: Int?
  package var cost: Int?
  /// The most tokens of a document.
  package var tokens = defaultTokens
  /// The names of arguments that multiply the cost of the fields below.
  package var listArguments = ["first", "last", "limit"]
  /// Whether an operation above a limit is counted, but runs.
  package var warnsOnly = false

  /// No limits but that for tokens.
  package init() {}
}

/// The treatment of operations that are not in the list of operations.
package enum OperationListMode: String, Sendable, CaseIterable {
  /// They run, and are counted.
  case audit
  /// Only listed texts and ids run.
  case document
  /// Only listed ids run.
  case id
}
