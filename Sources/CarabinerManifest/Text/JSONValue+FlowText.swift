internal import CarabinerWire

extension JSONValue {
  /// The value in the notation of manifests, on one line; `none` for null.
  var flowText: String {
    switch self {
    case .null: "none"
    case .string(let text): text
    case .array(let elements): "[\(elements.map(\.flowText).joined(separator: ", "))]"
    case .object(let object): "{\(object.map { "\($0.key): \($0.value.flowText)" }.joined(separator: ", "))}"
    case .bool, .number: description
    }
  }
}
