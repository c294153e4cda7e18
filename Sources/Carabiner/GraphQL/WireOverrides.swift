public import CarabinerWire

/// Replacements for parts of an operation when it is sent.
///
/// An interceptor that changes the text of a typed operation, or sends only its hash, sets this. The operation itself stays
/// unchanged.
public struct WireOverrides: Sendable, Hashable {
  /// The form in which the document is sent.
  public enum Document: Sendable, Hashable {
    /// The operation's own text.
    case original
    /// Another text.
    case replaced(String)
    /// No text: the server finds it by a hash in the extensions.
    case omitted
  }

  /// The form in which the document is sent.
  public var document: Document = .original
  /// The variables as a JSON object, or nil for the operation's own.
  public var variables: JSONText?
  /// The members of `extensions`, in order.
  public var extensions: JSONObject = [:]
  /// Whether a query is sent with GET; nil for the options of the request.
  public var usesGET: Bool?

  /// Creates empty overrides.
  public init() {}
}

/// Bytes that are known to be one valid JSON value.
public struct JSONText: Sendable, Hashable {
  /// The text, in UTF-8.
  public let bytes: [UInt8]

  /// Validates bytes and stores them unchanged.
  ///
  /// - Throws: `JSONError` with the offset of the first fault.
  public init(checking bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    _ = try JSONMembers(locating: bytes.span, limits: limits)
    self.bytes = bytes
  }

  /// The text of a value.
  public init(_ value: JSONValue) { bytes = value.serialized() }
}
