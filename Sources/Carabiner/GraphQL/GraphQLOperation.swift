public import CarabinerWire

/// The kind of a GraphQL operation.
public enum GraphQLOperationType: String, Sendable, Hashable, CaseIterable {
  case query
  case mutation
  case subscription
}

/// An operation that a client runs: a document, the name of the operation in it, and its variables.
///
/// Conform to ``GraphQLQuery``, ``GraphQLMutation`` or ``GraphQLSubscription``. They supply ``operationType``.
public protocol GraphQLOperation: Sendable {
  /// The type that the `data` member of a response is decoded to.
  associatedtype Data: Decodable & Sendable

  /// Query, mutation or subscription.
  var operationType: GraphQLOperationType { get }
  /// The operation's name in the document; nil for an anonymous one.
  var operationName: String? { get }
  /// The text of the document.
  var document: String { get }
  /// The variables, by name.
  var variables: JSONObject { get }
  /// The member `extensions` of the request.
  ///
  /// A ``JSONRequest`` starts with it as ``WireOverrides/extensions``. Interceptors add members there. Their members replace those
  /// of the operation.
  var extensions: JSONObject { get }

  /// Reads the `data` member of a response.
  ///
  /// - Throws: `DecodingError` if it does not fit ``Data``.
  static func data(reading reader: ValueReader) throws -> Data
}

extension GraphQLOperation {
  public var variables: JSONObject { [:] }
  public var extensions: JSONObject { [:] }

  public static func data(reading reader: ValueReader) throws -> Data { try reader.decode(Data.self) }

  /// The operation's name in messages.
  package var displayName: String { operationName.map { "\(operationType) \($0)" } ?? "an anonymous \(operationType)" }
}

/// An operation that reads.
public protocol GraphQLQuery: GraphQLOperation {}

/// An operation that writes.
public protocol GraphQLMutation: GraphQLOperation {}

/// An operation that keeps delivering results.
public protocol GraphQLSubscription: GraphQLOperation {}

extension GraphQLQuery {
  public var operationType: GraphQLOperationType { .query }
}

extension GraphQLMutation {
  public var operationType: GraphQLOperationType { .mutation }
}

extension GraphQLSubscription {
  public var operationType: GraphQLOperationType { .subscription }
}
