/// A value of a variable that does not fit its type.
public struct VariableProblem: Sendable, Hashable, CustomStringConvertible {
  /// The name of the variable, without the dollar sign.
  public let variable: String
  /// The place of the value, beginning with the name of the variable, such as `filter.genres[2]`.
  public let path: String
  /// The description of the fault, and what to do.
  public let message: String

  /// The problem in one line: `path: error: message`.
  public var description: String { "\(path): error: \(message)" }
}
