@testable import CarabinerRESP

extension Reply {
  /// All values in one line: texts in quotes, other types with the character that begins them.
  var shape: String {
    switch kind {
    case .status: "+\(string ?? "?")"
    case .error: "-\(string ?? "?")"
    case .integer: "\(integer ?? -1)"
    case .text: "\"\(string ?? "\(Array(content ?? []))")\""
    case .verbatim: "\(format ?? "?"):\"\(string ?? "?")\""
    case .null: "nil"
    case .boolean: boolean == true ? "#t" : "#f"
    case .double: ",\(double.map { "\($0)" } ?? "?")"
    case .bigNumber: "(\(string ?? "?")"
    case .array: "[\(list)]"
    case .set: "~[\(list)]"
    case .push: ">[\(list)]"
    case .map: "{\(list)}"
    }
  }

  private var list: String { values.map(\.shape).joined(separator: " ") }
}
