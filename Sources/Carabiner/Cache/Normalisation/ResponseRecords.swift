internal import CarabinerWire
internal import FoundationEssentials

/// A response on its way into a store, with the operation it answers.
package struct ResponseRecords: Sendable {
  private let body: ResponseBody
  private let document: String
  private let operationName: String?
  private let variables: JSONObject
  private let isMutation: Bool
  private let received: Int64

  /// A response that has data.
  package init(_ body: ResponseBody, _ operation: some GraphQLOperation) {
    self.body = body
    document = operation.document
    operationName = operation.operationName
    variables = operation.variables
    isMutation = operation.operationType == .mutation
    received = StoreClock.now
  }

  /// The records of the response.
  ///
  /// A document that cannot be read, or a response of another shape than its document asks for, becomes one record that holds
  /// the whole response, so that the same operation finds it again.
  package func records(policy: CacheKeyPolicy) -> [Record] {
    if let data = body.data, let plan = PlanLibrary.shared.plan(document: document, operationName: operationName),
      let records = try? Normalizer.records(
        of: [UInt8](data), plan, plan.call(variables: variables), policy: policy, received: received)
    {
      return records
    }
    guard !isMutation else { return [] }
    var whole = Record(
      key: WholeResponse.key(document: document, operationName: operationName, variables: variables), table: FieldTable())
    whole.set(WholeResponse.field, to: [UInt8](body.bytes), received: received)
    return [whole]
  }
}

/// How a response is kept that cannot be taken apart.
enum WholeResponse {
  static let field = "response"

  /// Equal operations have equal keys; the order of variables does not matter.
  static func key(document: String, operationName: String?, variables: JSONObject) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(document.utf8.count + 64)
    text.append(contentsOf: "WHOLE_RESPONSE.".utf8)
    text.append(contentsOf: (operationName ?? "").utf8)
    text.append(UInt8(ascii: "|"))
    text.append(contentsOf: document.utf8)
    text.append(UInt8(ascii: "|"))
    if !variables.isEmpty {
      text.append(contentsOf: JSONValue.object(variables).serialized(sortedKeys: true))
    }
    return String(decoding: text, as: UTF8.self)
  }
}
