internal import CarabinerPlugin

/// The action for the fields of a path.
struct MaskRule: Sendable {
  enum Step: Sendable, Hashable {
    case field(String)
    /// Each element of a list.
    case elements
  }

  /// The text in place of a value, unless the rule names one.
  private static let defaultText = "***"

  let path: [Step]
  /// The JSON text in place of a string; nil to remove the value.
  let replacement: [UInt8]?
  /// A header whose values make a request exempt.
  let exemption: (header: String, values: Set<String>)?
  private let operations: [String]

  /// - Throws: ``PluginFailure`` if the rule contradicts itself or has a malformed path.
  init(_ rule: MaskSettings.Rule) throws {
    path = try rule.path.split(separator: ".", omittingEmptySubsequences: false).map { step in
      if step == "*" { return .elements }
      guard step.isGraphQLName else {
        throw PluginFailure("the path \(rule.path) is malformed; write names of fields and * for lists, as in users.*.email")
      }
      return .field(String(step))
    }
    guard case .field = path.first else { throw PluginFailure("the path \(rule.path) does not begin with a field") }
    switch rule.action {
    case .remove:
      guard rule.text == nil else { throw PluginFailure("the rule for \(rule.path) removes values, so it has no text") }
      replacement = nil
    case .mask: replacement = (rule.text ?? Self.defaultText).jsonString
    }
    exemption = rule.unless.map { ($0.header, Set($0.values)) }
    operations = rule.operations ?? []
  }

  /// Whether the rule is for operations of this name.
  func concerns(_ name: String?) -> Bool {
    guard !operations.isEmpty else { return true }
    guard let name else { return false }
    return operations.contains { pattern in
      pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
  }
}

extension Substring {
  fileprivate var isGraphQLName: Bool {
    guard let first = utf8.first, first.isNameStart else { return false }
    return utf8.allSatisfy(\.isNamePart)
  }
}

extension UInt8 {
  var isNameStart: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
    default: false
    }
  }

  var isNamePart: Bool { isNameStart || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension String {
  /// The text as a JSON string.
  fileprivate var jsonString: [UInt8] {
    var json: [UInt8] = [UInt8(ascii: "\"")]
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        json += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: json.append(byte)
      }
    }
    return json + [UInt8(ascii: "\"")]
  }
}
