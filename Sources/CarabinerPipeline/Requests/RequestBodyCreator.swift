public import Carabiner

/// Makes the bodies of requests.
public protocol RequestBodyCreator {
  /// The body of a request. The default implementation has the members of GraphQL over HTTP.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - sendQueryDocument: Whether the document is sent.
  ///   - autoPersistQuery: Whether the hash of the document is sent.
  func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONEncodableDictionary
}

extension RequestBodyCreator {
  public func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONEncodableDictionary {
    var body: JSONEncodableDictionary = ["variables": .object(operation.variables)]
    if let name = operation.operationName { body["operationName"] = .string(name) }
    if sendQueryDocument { body["query"] = .string(operation.document) }
    var extensions = operation.extensions
    if autoPersistQuery {
      extensions["persistedQuery"] = ["version": 1, "sha256Hash": .string(operation.persistedIdentifier)]
    }
    if !extensions.isEmpty { body["extensions"] = .object(extensions) }
    return body
  }
}

/// Makes bodies with the members of GraphQL over HTTP.
public struct ApolloRequestBodyCreator: RequestBodyCreator, Sendable {
  /// Creates a body creator.
  public init() {}
}

/// A request could not be written.
public enum GraphQLHTTPRequestError: DescribedError, Sendable, Hashable {
  /// The body creator returned no members.
  case serializedBodyMessageError
  /// The members do not fit into the URL of a GET request.
  case serializedQueryParamsMessageError
  /// A delegate of the transport refused the request.
  case cancelledByDelegate

  public var description: String {
    switch self {
    case .serializedBodyMessageError: "the request has no body; return members from the request body creator"
    case .serializedQueryParamsMessageError: "the endpoint takes no query items; correct it, or send queries with POST"
    case .cancelledByDelegate: "the delegate of the transport refused the request; look at its shouldSend method"
    }
  }
}

extension RequestBodyCreator {
  /// This creator, without identifiers of operations if an interceptor of the core has replaced the document.
  ///
  /// The server does not know the new document by the identifier of the operation.
  func withoutIdentifiers(if isReplaced: Bool) -> any RequestBodyCreator {
    guard isReplaced, let legacy = self as? RequestCreatorBody else { return self }
    return RequestCreatorBody(creator: legacy.creator, sendsIdentifiers: false)
  }
}

extension WireOverrides {
  /// Whether the document of `operation` is replaced by another one, which may be sent as its hash.
  func replacesDocument(of operation: some GraphQLOperation) -> Bool {
    switch document {
    case .original: false
    case .replaced(let document): document != operation.document
    case .omitted: sentHash.map { $0 != operation.document.persistedHash } ?? false
    }
  }

  /// The hash that is sent; nil for none.
  var sentHash: String? { extensions["persistedQuery"]?["sha256Hash"]?.string }
}

extension JSONObject {
  /// This body with what interceptors of the core replaced.
  ///
  /// - Parameter sendsDocument: Whether a replaced document is sent, and not only its hash.
  func applying(_ overrides: WireOverrides, sendsDocument: Bool = true) -> JSONObject {
    var body = self
    switch overrides.document {
    case .original: break
    case .omitted: body["query"] = nil
    case .replaced(let document):
      body["query"] = sendsDocument ? .string(document) : nil
      body.replaceHash(by: document)
    }
    if let variables = overrides.variables, let value = try? JSONValue(parsing: variables.bytes) { body["variables"] = value }
    guard !overrides.extensions.isEmpty else { return body }
    var extensions = body["extensions"]?.object ?? [:]
    for (name, value) in overrides.extensions { extensions[name] = value }
    body["extensions"] = .object(extensions)
    return body
  }

  /// Replaces the hash of a persisted query, if there is one, by that of `document`.
  private mutating func replaceHash(by document: String) {
    guard var extensions = self["extensions"]?.object, var query = extensions["persistedQuery"]?.object else { return }
    query["sha256Hash"] = .string(document.persistedHash)
    extensions["persistedQuery"] = .object(query)
    self["extensions"] = .object(extensions)
  }

  /// This body with the name and version of the library in its extensions.
  func namingLibrary(_ isWanted: Bool) throws -> JSONObject {
    guard !isEmpty else { throw GraphQLHTTPRequestError.serializedBodyMessageError }
    guard isWanted else { return self }
    var (body, extensions) = (self, self["extensions"]?.object ?? [:])
    if !extensions.contains("clientLibrary") {
      extensions["clientLibrary"] = ["name": "carabiner", "version": .string(ClientAwareness.libraryVersion)]
    }
    body["extensions"] = .object(extensions)
    return body
  }
}
