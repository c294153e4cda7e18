internal import CarabinerWire

/// A part of a text with references.
enum ReferencePart: Sendable, Hashable {
  case text(String)
  case environment(String)
  case file(String)

  /// Splits a text into its parts.
  ///
  /// - Throws: ``ManifestProblem`` if a reference is malformed.
  static func parts(of text: String, at pointer: JSONPointer) throws(ManifestProblem) -> [ReferencePart] {
    // Bytes, because a dollar sign followed by a combining mark is another character.
    var rest = Substring(text).utf8
    var parts: [ReferencePart] = []
    var plain = ""
    while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
      plain += String(Substring(rest[..<dollar]))
      rest = rest[dollar...]
      if rest.starts(with: "$${".utf8) {
        plain += "${"
        rest = rest.dropFirst(3)
      } else if rest.starts(with: "${".utf8) {
        guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
          throw ManifestProblem(
            .malformedReference, at: pointer, "a reference begins with ${ and does not end with }; write $${ for ${ itself")
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        plain = ""
        parts.append(try reference(Substring(rest[..<end].dropFirst(2)), at: pointer))
        rest = rest[rest.index(after: end)...]
      } else {
        plain += "$"
        rest = rest.dropFirst()
      }
    }
    plain += String(Substring(rest))
    return plain.isEmpty ? parts : parts + [.text(plain)]
  }

  private static func reference(_ inside: Substring, at pointer: JSONPointer) throws(ManifestProblem) -> ReferencePart {
    let kind = inside.prefix { $0 != ":" }
    let name = String(inside.dropFirst(kind.count + 1))
    guard ["env", "file"].contains(kind) else {
      throw ManifestProblem(
        .malformedReference, at: pointer,
        "${\(inside)} is not a reference\(Suggestion.text(for: String(kind), among: ["env", "file"])); use ${env:NAME}, ${file:path}, "
          + "or $${ for ${ itself")
    }
    guard !name.isEmpty, !name.utf8.contains(0), kind == "file" || !name.contains("=") else {
      throw ManifestProblem(.malformedReference, at: pointer, "${\(inside)} has no valid name; use ${env:NAME} or ${file:path}")
    }
    return kind == "env" ? .environment(name) : .file(name)
  }
}

extension JSONValue {
  /// All texts in a value, with their places.
  func texts(at pointer: JSONPointer) -> [(pointer: JSONPointer, text: String)] {
    switch self {
    case .string(let text): [(pointer, text)]
    case .array(let elements): elements.enumerated().flatMap { $1.texts(at: pointer.appending($0)) }
    case .object(let object): object.flatMap { $0.value.texts(at: pointer.appending($0.key)) }
    case .null, .bool, .number: []
    }
  }
}
