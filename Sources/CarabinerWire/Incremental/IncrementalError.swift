/// The parts of a deferred or streamed response cannot be merged.
public struct IncrementalError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The format does not allow the part at this place.
    case malformedPart
    /// A patch has a path that the response does not contain.
    case unknownPath
    /// A patch or an announcement names an id that is not pending.
    case unknownID
    /// The part, patch or ID was received before.
    case duplicate
    /// A part was received after the last one.
    case afterEnd
    /// The response ended although more parts were announced.
    case incomplete
    /// All parts together are longer than allowed.
    case tooLarge
  }

  /// The kind of the fault.
  public let code: Code
  /// The description of the fault.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}
