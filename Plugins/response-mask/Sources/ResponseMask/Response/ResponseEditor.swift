internal import CarabinerPlugin

/// Replaces values in the JSON of a response. All other bytes stay as they are, for example large numbers.
struct ResponseEditor {
  /// The maximum nesting depth of a response.
  private static let maximumDepth = 600

  /// A rule, and the number of the steps of its path that lead to the current value.
  private typealias Progress = (rule: MaskRule, step: Int)

  private let json: [UInt8]
  private var position = 0
  private var output: [UInt8] = []
  /// The place up to which the input was copied.
  private var copied = 0

  init(_ json: [UInt8]) { self.json = json }

  /// The response after the rules; nil if they change nothing.
  ///
  /// - Throws: ``PluginFailure`` if the response cannot be read.
  mutating func edited(by rules: [MaskRule], in scope: SelectionScope) throws -> [UInt8]? {
    try members(0) { editor, key in
      if key == "data" {
        try editor.value(rules.map { ($0, 0) }, scope, 1)
      } else {
        try editor.skipValue(1)
      }
    }
    skipSpace()
    guard position == json.count else { throw malformed }
    guard copied > 0 else { return nil }
    return output + json[copied...]
  }

  // MARK: Values on a path

  /// Reads a value, and applies the rules whose paths lead through it.
  private mutating func value(_ progress: [Progress], _ scope: SelectionScope, _ depth: Int) throws {
    guard depth < Self.maximumDepth else { throw PluginFailure("the response is nested deeper than \(Self.maximumDepth)") }
    guard !progress.isEmpty else { return try skipValue(depth) }
    skipSpace()
    switch peek {
    case UInt8(ascii: "["):
      // Lists are entered even if the path has no `*`, so that a rule with a forgotten `*` still applies.
      let inside: [Progress] = progress.map { rule, step in
        step < rule.path.count && rule.path[step] == .elements ? (rule, step + 1) : (rule, step)
      }
      if let rule = progress.first(where: { $0.step == $0.rule.path.count && $0.rule.replacement == nil })?.rule {
        return try replaceValue(by: rule, depth)
      }
      try elements { editor in try editor.value(inside, scope, depth + 1) }
    case UInt8(ascii: "{"):
      if let rule = progress.first(where: Self.isAtEnd)?.rule { return try replaceValue(by: rule, depth) }
      try members(depth) { editor, key in
        let field = scope.field(key)
        // A field that the operation does not select is taken by its own name.
        let names = field?.names ?? [key]
        let next: [Progress] = progress.compactMap { rule, step in
          // For the same reason, a `*` for a value that is not a list is skipped.
          let step = step + rule.path[step...].prefix { $0 == .elements }.count
          guard step < rule.path.count, case .field(let name) = rule.path[step], names.contains(name) else { return nil }
          return (rule, step + 1)
        }
        if let field { try editor.value(next, field.scope, depth + 1) } else { try editor.value(next, scope, depth + 1) }
      }
    default:
      guard let rule = progress.first(where: Self.isAtEnd)?.rule else { return try skipValue(depth) }
      try replaceValue(by: rule, depth)
    }
  }

  /// Whether a value that is not a list is that of the rule.
  private static func isAtEnd(_ progress: Progress) -> Bool {
    progress.rule.path[progress.step...].allSatisfy { $0 == .elements }
  }

  /// Writes null, or the text of a rule in place of a string. Null stays null.
  private mutating func replaceValue(by rule: MaskRule, _ depth: Int) throws {
    skipSpace()
    let start = position
    let isString = peek == UInt8(ascii: "\"")
    try skipValue(depth)
    let replacement = isString ? rule.replacement ?? Self.null : Self.null
    guard !json[start..<position].elementsEqual(replacement) else { return }
    output += json[copied..<start] + replacement
    copied = position
  }

  private static let null = Array("null".utf8)

  // MARK: JSON

  private mutating func members(_ depth: Int, _ read: (inout ResponseEditor, String) throws -> Void) throws {
    try expect(UInt8(ascii: "{"))
    skipSpace()
    if take(UInt8(ascii: "}")) { return }
    repeat {
      skipSpace()
      let start = position
      try skipString()
      let key = Self.key(json[start + 1..<position - 1])
      skipSpace()
      try expect(UInt8(ascii: ":"))
      try read(&self, key)
      skipSpace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  private mutating func elements(_ read: (inout ResponseEditor) throws -> Void) throws {
    try expect(UInt8(ascii: "["))
    skipSpace()
    if take(UInt8(ascii: "]")) { return }
    repeat {
      try read(&self)
      skipSpace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  private mutating func skipValue(_ depth: Int) throws {
    skipSpace()
    switch peek {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
    case nil: throw malformed
    default:
      let start = position
      while let byte = peek, !",]} \t\r\n".utf8.contains(byte) { position += 1 }
      guard position > start else { throw malformed }
    }
  }

  /// Skips a list or an object. The host has checked that it is well-formed.
  private mutating func skipContainer() throws {
    var depth = 0
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        try skipString()
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      position += 1
      if depth == 0 { return }
    }
    throw malformed
  }

  private mutating func skipString() throws {
    try expect(UInt8(ascii: "\""))
    while let byte = peek {
      position += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return }
    }
    throw malformed
  }

  /// The text of a key. Names of GraphQL are ASCII, but a server may write them with escapes.
  private static func key(_ raw: ArraySlice<UInt8>) -> String {
    guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
    var text: [UInt8] = []
    var rest = raw
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
        text.append(byte)
        continue
      }
      if kind == UInt8(ascii: "u"), let code = UInt8(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16), code < 0x80 {
        text.append(code)
        rest = rest.dropFirst(4)
      } else {
        text += [byte, kind]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private var peek: UInt8? { position < json.count ? json[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ byte: UInt8) throws {
    skipSpace()
    guard take(byte) else { throw malformed }
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private var malformed: PluginFailure { PluginFailure("the response cannot be read, so no rule can be applied") }
}
