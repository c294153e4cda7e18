internal import CarabinerWire

/// One of the limits for operations.
enum OperationLimit: String, Sendable, CaseIterable {
  case depth
  case fields
  case rootFields = "root_fields"
  case aliases
  case directives
  case cost
  case tokens

  /// The error code of an operation above the limit.
  var code: String { "MAX_\(rawValue.uppercased())_LIMIT" }

  /// The refusal of an operation.
  func refusal(limit: Int, found: Int) -> RequestRefusal {
    let what =
      switch self {
      case .depth: "the operation is \(found) fields deep"
      case .fields: "the operation has \(found) fields"
      case .rootFields: "the operation has \(found) root fields"
      case .aliases: "the operation has \(found) aliases"
      case .directives: "the operation has \(found) directives"
      case .cost: "the operation has a cost of \(found)"
      case .tokens: "the document has \(found) tokens"
      }
    var refusal = RequestRefusal(400, "\(what), and at most \(limit) are allowed; ask for less at once", code: code)
    refusal.extensions = ["limit": .number(JSONNumber(limit)), "found": .number(JSONNumber(found))]
    return refusal
  }
}
