package import FoundationEssentials

/// A URL for messages, logs and traces: without user name and password.
///
/// Every message that contains a URL must use this type.
package struct PrintableURL: Sendable, Hashable, CustomStringConvertible {
  /// The text to show.
  package let description: String

  /// A URL that Foundation has parsed.
  package init(_ url: URL) { self.init(url.absoluteString) }

  /// The text without query and fragment.
  package var withoutQuery: String { String(description.prefix { $0 != "?" && $0 != "#" }) }

  /// A text that is meant as a URL, valid or not, or a message that quotes a URL.
  package init(_ text: some StringProtocol) {
    guard let slashes = text.firstRange(of: "//") else {
      description = String(text)
      return
    }
    let behind = text[slashes.upperBound...]
    let authority = behind.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let userInformation = authority.contains("@") || authority.endsWithPortOrHost ? authority : behind
    guard let at = userInformation.lastIndex(of: "@") else {
      description = String(text)
      return
    }
    description = String(text[..<slashes.upperBound]) + String(behind[behind.index(after: at)...])
  }
}

extension StringProtocol {
  /// Whether the text is a host, or a host and a port. If not, a password with an unescaped delimiter may have ended it before the
  /// `@`.
  fileprivate var endsWithPortOrHost: Bool {
    guard let colon = lastIndex(of: ":"), last != "]" else { return true }
    return self[index(after: colon)...].allSatisfy { ("0"..."9").contains($0) }
  }
}
