/// Parts of a deferred or streamed response do not fit together.
public struct IncrementalError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The format does not allow the part at this place.
    case malformedPart
    /// A patch is for a place the response does not have.
    case unknownPath
    /// A patch or an announcement names an id that is not pending.
    case unknownID
    /// The same came before.
    case duplicate
    /// A part follows the last one.
    case afterEnd
    /// The parts end although more were announced.
    case incomplete
    /// All parts together are longer than allowed.
    case tooLarge
  }

  /// The kind of the fault.
  public let code: Code
  /// The description of the fault.
  public let message: String

  /// An error with this description.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}
