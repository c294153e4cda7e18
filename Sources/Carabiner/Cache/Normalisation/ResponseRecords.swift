package import CarabinerWire
internal import FoundationEssentials

/// A response that is to be stored, with its operation.
///
/// A class, because results are copied often, and each copy would increment all reference counts in it.
package final class ResponseRecords: Sendable {
  private let body: ResponseBody
  /// The places of the values of the body; nil if they are not known.
  private let tape: JSONTape?
  private let document: String
  private let operationName: String?
  private let variables: JSONObject
  private let isMutation: Bool
  /// The document and variables that were sent instead of those of the operation. The response belongs to these.
  private let sentDocument: String?
  private let sentVariables: JSONText?
  private let received: Int64

  /// Creates the records of a response with data.
  package convenience init(_ body: ResponseBody, _ operation: some GraphQLOperation, tape: JSONTape? = nil) {
    self.init(body, operation, WireOverrides(), tape: tape)
  }

  /// Creates the records of a response with data. The request may have been sent with overrides.
  package convenience init(_ body: ResponseBody, to request: some GraphQLRequest, tape: JSONTape? = nil) {
    self.init(body, request.operation, request.wireOverrides, tape: tape)
  }

  private init(_ body: ResponseBody, _ operation: some GraphQLOperation, _ overrides: WireOverrides, tape: JSONTape?) {
    self.body = body
    self.tape = tape
    document = operation.document
    operationName = operation.operationName
    variables = operation.variables
    isMutation = operation.operationType == .mutation
    received = StoreClock.now
    sentDocument = if case .replaced(let document) = overrides.document { document } else { nil }
    sentVariables = overrides.variables
  }

  /// The records of the response.
  ///
  /// If the document cannot be parsed, or the response does not match it, one record contains the whole response, so that the
  /// same operation finds it again.
  func records(policy: CacheKeyPolicy) -> RecordSet {
    let variables = sentVariables.map { (try? JSONValue(parsing: $0.bytes))?.object ?? [:] } ?? variables
    if let plan = PlanLibrary.shared.plan(document: sentDocument ?? document, operationName: operationName),
      let tape = tape ?? (try? JSONTape(scanning: body.bytes.span, limits: .highest)),
      let root = body.dataPlace(on: tape),
      let records = try? Normalizer.records(
        of: body.bytes.span, tape, root: root, plan, plan.call(variables: variables), policy: policy, received: received)
    {
      var set = RecordSet(records)
      set.lacksTypes = plan.source.lacksTypes
      return set
    }
    guard !isMutation else { return RecordSet() }
    var whole = Record(
      key: WholeResponse.key(document: document, operationName: operationName, variables: self.variables), table: FieldTable())
    whole.set(WholeResponse.field, to: [UInt8](body.bytes), received: received)
    return RecordSet([whole])
  }
}

/// The storage of a response that does not match its document.
enum WholeResponse {
  static let field = "response"

  /// Equal operations have equal keys. The order of variables does not matter.
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
