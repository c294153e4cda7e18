/// Parts of a deferred or streamed response do not fit together.
public struct IncrementalError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A part is not what the format allows at this place.
    case malformedPart
    /// A patch is for a place the response does not have.
    case unknownPath
    /// A patch or an announcement names an id that is not pending.
    case unknownID
    /// The same came before.
    case duplicate
    /// A part follows the one that said it was the last.
    case afterEnd
    /// The parts end although more were announced.
    case incomplete
    /// All parts together are longer than allowed.
    case tooLarge
  }

  /// What kind of fault it is.
  public let code: Code
  /// What is wrong, for a person.
  public let message: String

  /// An error that says this.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}
