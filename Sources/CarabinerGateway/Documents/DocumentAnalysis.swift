internal import CarabinerDigest
internal import CarabinerWire

/// The facts about a document that rules for operations need, found once for each document.
final class DocumentAnalysis: Sendable {
  /// The number of the ``OperationRules`` that the analysis was made for.
  let rules: UInt64
  /// The number of tokens.
  let tokens: Int
  /// Whether the document is in the list of operations, or there is no list.
  let isListed: Bool
  /// The first digits of the SHA-256 of the text, for the log; empty for a listed document.
  let hash: String
  /// The sizes and costs of the operations; nil if no rule needs them.
  let measures: DocumentMeasures?

  /// The number of digits of ``hash``.
  private static let digits = 12

  /// - Throws: A refusal with the status 400 if the document cannot be measured.
  init(_ text: String, _ tokens: GraphQLTokens, _ document: GraphQLDocument, for rules: OperationRules) throws(RequestRefusal) {
    self.rules = rules.number
    self.tokens = tokens.count
    isListed = rules.list.map { $0.contains(TokenDigest(tokens)) } ?? true
    hash = isListed ? "" : String(Digest.sha256(Array(text.utf8)).hexadecimal.prefix(Self.digits))
    guard rules.limits != nil || !rules.allowsIntrospection else {
      measures = nil
      return
    }
    do throws(DocumentMeasures.Fault) {
      measures = try DocumentMeasures(document, listArguments: rules.limits?.listArguments ?? [])
    } catch {
      let message =
        switch error {
        case .cycle(let name): "the fragment \(name) spreads itself"
        case .duplicateFragment(let name): "the document has two fragments \(name)"
        }
      throw RequestRefusal(400, "\(message); correct the document", code: "GRAPHQL_VALIDATION_FAILED")
    }
  }
}

extension [UInt8] {
  fileprivate var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
