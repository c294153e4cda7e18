/// The reason why an answer is not read.
///
/// The place where it ends is then unknown, so its connection must be closed.
package struct RESPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the fault.
  package enum Code: Sendable, Hashable, CaseIterable {
    /// A byte that begins no type of RESP2 or RESP3.
    case unknownType
    /// A length, a number, a boolean or another line breaks the grammar of its type.
    case malformedLine
    /// A text does not end where its length says.
    case malformedText
    /// A type that is not allowed at its place, such as a push inside an array.
    case misplaced
    /// The answer exceeds ``RESPLimits/replyBytes`` or ``RESPLimits/values``.
    case tooLarge
    /// The answer exceeds ``RESPLimits/depth``.
    case tooDeep
    /// A line exceeds ``RESPLimits/lineBytes``.
    case lineTooLong
  }

  package let code: Code
  /// The fault and the next step. It contains no data of the server.
  package let reason: String
  /// The number of bytes of the connection before the faulty value.
  package let offset: Int

  package var description: String { "malformed answer at byte \(offset): \(reason)" }
}
