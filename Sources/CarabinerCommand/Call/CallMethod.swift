/// The name of a method, `package.Service/Method`.
struct CallMethod {
  /// The path of its calls, without a slash at the beginning.
  let path: String

  /// Reads an argument; nil if it is not the name of a method. A slash at the beginning is accepted.
  init?(_ text: String) {
    let name = text.hasPrefix("/") ? text.dropFirst() : text[...]
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isName(parts[0], withDots: true), Self.isName(parts[1], withDots: false) else { return nil }
    path = String(name)
  }

  private static func isName(_ text: Substring, withDots: Bool) -> Bool {
    let words = text.split(separator: ".", omittingEmptySubsequences: false)
    guard withDots || words.count == 1 else { return false }
    return words.allSatisfy { word in
      !word.isEmpty && word.utf8.allSatisfy { $0 == UInt8(ascii: "_") || Character(Unicode.Scalar($0)).isASCIIWordCharacter }
    }
  }
}

extension Character {
  fileprivate var isASCIIWordCharacter: Bool { isASCII && (isLetter || isNumber) }
}
