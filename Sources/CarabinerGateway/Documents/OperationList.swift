internal import CarabinerDigest
package import CarabinerWire

/// The operations that clients may run. They are read from files that the build of the clients has written.
package struct OperationList: Sendable {
  /// A mistake in a file.
  package struct Fault: Error, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// The largest file in bytes, 64 MiB.
  package static let maximumFileBytes = 64 << 20
  private static let apolloFormat = "apollo-persisted-query-manifest"

  let mode: OperationListMode
  private var texts: [String: String] = [:]
  private var digests: Set<TokenDigest> = []

  /// A list without operations.
  package init(_ mode: OperationListMode) { self.mode = mode }

  /// The number of ids.
  package var count: Int { texts.count }

  /// The text of an id; nil if the id is not listed.
  func text(of id: String) -> String? {
    if let text = texts[id] { return text }
    // The form of ids in GraphQL over HTTP.
    let prefix = "sha256:"
    return id.hasPrefix(prefix) ? texts[String(id.dropFirst(prefix.count))] : nil
  }

  /// Whether an operation with these tokens is listed.
  func contains(_ digest: TokenDigest) -> Bool { digests.contains(digest) }

  /// Adds the operations of a file: Apollo's persisted query manifest, version 1, or a JSON object of texts by id.
  ///
  /// - Throws: ``Fault`` with the first mistake.
  package mutating func add(_ file: [UInt8]) throws(Fault) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: file)
    } catch {
      throw Fault(description: "it is not JSON: \(error)")
    }
    guard let object = json.object else {
      throw Fault(
        description: "it is a JSON \(json.kind); write an object of operations by id, or Apollo's persisted query manifest")
    }
    guard object["format"]?.string == Self.apolloFormat else {
      for (id, text) in object { try add(id, text.string, "its value") }
      return
    }
    guard object["version"]?.int == 1 else {
      throw Fault(description: "its version is \(object["version"]?.description ?? "missing"); only version 1 is supported")
    }
    guard let operations = object["operations"]?.array else {
      throw Fault(description: "it has no list of operations; write it again with Apollo's generate-persisted-query-manifest")
    }
    for (index, operation) in operations.enumerated() {
      guard let id = operation["id"]?.string else { throw Fault(description: "operation \(index + 1) has no id that is a text") }
      try add(id, operation["body"]?.string, "its body")
    }
  }

  private mutating func add(_ id: String, _ text: String?, _ place: String) throws(Fault) {
    let name = id.prefix(100).debugDescription
    guard let text else { throw Fault(description: "the operation with the id \(name) has no text; write it as \(place)") }
    let digest: TokenDigest
    do throws(GraphQLSyntaxError) {
      digest = TokenDigest(try GraphQLTokens(of: text))
      _ = try GraphQLDocument(parsing: text)
    } catch {
      throw Fault(description: "the operation with the id \(name) is not a GraphQL document: \(error)")
    }
    if let other = texts[id], try Self.digest(other) != digest {
      throw Fault(description: "the id \(name) has two different texts; remove one of them")
    }
    texts[id] = text
    digests.insert(digest)
  }

  private static func digest(_ text: String) throws(Fault) -> TokenDigest {
    do throws(GraphQLSyntaxError) {
      return TokenDigest(try GraphQLTokens(of: text))
    } catch {
      throw Fault(description: "an operation is not a GraphQL document: \(error)")
    }
  }
}

/// The SHA-256 of the tokens of a document.
struct TokenDigest: Sendable, Hashable {
  private let words: [UInt8]

  init(_ tokens: GraphQLTokens) { words = Digest.sha256(tokens.bytes) }
}
