public import CarabinerSchema
public import FoundationEssentials

/// An error whose `localizedDescription` is its text for people: its message if it has one, or else its description.
///
/// The default is the description.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
  public var errorDescription: String? { description }
  // The defaults of Foundation are not visible in files that do not import it.
  public var failureReason: String? { nil }
  public var recoverySuggestion: String? { nil }
  public var helpAnchor: String? { nil }
}

// These come from modules without Foundation.

extension EventTooLarge: DescribedError {}
extension GraphQLSyntaxError: DescribedError {}
extension IncrementalError: DescribedError { public var errorDescription: String? { message } }
extension JSONError: DescribedError {}
extension MultipartError: DescribedError { public var errorDescription: String? { message } }
extension SchemaError: DescribedError {}
