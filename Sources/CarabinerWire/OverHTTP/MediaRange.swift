/// An item of an Accept header, or a Content-Type.
package struct MediaRange: Sendable, Hashable {
  /// The type and subtype in lower case, such as `application/json`.
  package let type: String
  /// The parameters except `q`, by name in lower case, with quotes removed.
  package let parameters: [String: String]
  /// The quality, 0 to 1.
  package let quality: Double

  /// The items of a header. Malformed items are skipped.
  package static func list(_ header: String) -> [MediaRange] {
    split(header, at: ",").compactMap { MediaRange($0) }
  }

  /// Parses one item; nil if it is malformed.
  package init?(_ text: Substring) {
    let pieces = Self.split(text, at: ";").map { $0.trimmingSpaces }
    guard let type = pieces.first?.lowercased(), type.split(separator: "/", omittingEmptySubsequences: false).count == 2
    else { return nil }
    var parameters: [String: String] = [:]
    var quality = 1.0
    for piece in pieces.dropFirst() {
      guard let equals = piece.firstIndex(of: "=") else { continue }
      let name = piece[..<equals].trimmingSpaces.lowercased()
      let value = Self.unquoted(piece[piece.index(after: equals)...].trimmingSpaces)
      if name == "q" {
        quality = Double(value).flatMap { (0...1).contains($0) ? $0 : nil } ?? 0
      } else {
        parameters[name] = value
      }
    }
    self.type = type
    self.parameters = parameters
    self.quality = quality
  }

  /// Splits at separators outside of quotes.
  private static func split(_ text: some StringProtocol, at separator: Character) -> [Substring] {
    var pieces: [Substring] = []
    let text = Substring(text)
    var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted, character == separator {
        pieces.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    return pieces + [text[start...]]
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var (result, isEscaped) = ("", false)
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        result.append(character)
        isEscaped = false
      }
    }
    return result
  }
}

extension StringProtocol where SubSequence == Substring {
  fileprivate var trimmingSpaces: Substring {
    let rest = drop { $0 == " " || $0 == "\t" }
    guard let last = rest.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return rest.prefix(0) }
    return rest[...last]
  }
}
