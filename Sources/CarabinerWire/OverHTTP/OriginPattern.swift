/// An origin, or a pattern of origins, that an operator lists: `https://example.org`, `https://*.example.org` or `*`.
package enum OriginPattern: Sendable, Hashable {
  /// All origins: `*`.
  case any
  /// One origin, in its normal form.
  case exact(String)
  /// The origins of all subdomains of a host, also over several labels.
  ///
  /// - Parameters:
  ///   - scheme: The scheme with `://`.
  ///   - suffix: The dot, the host, and the port unless it is that of the scheme.
  case subdomains(scheme: String, suffix: String)

  /// Parses a pattern; nil if the text is not one.
  package init?(_ text: String) {
    if text == "*" {
      self = .any
      return
    }
    let normal = Self.normal(text)
    guard let separator = normal.firstRange(of: "://"), Self.isScheme(normal[..<separator.lowerBound]) else { return nil }
    let scheme = String(normal[..<separator.upperBound])
    let rest = normal[separator.upperBound...]
    guard rest.hasPrefix("*.") else {
      guard Self.isHostAndPort(rest) else { return nil }
      self = .exact(normal)
      return
    }
    let suffix = rest.dropFirst()
    guard !suffix.hasPrefix(".["), Self.isHostAndPort(suffix.dropFirst()) else { return nil }
    self = .subdomains(scheme: scheme, suffix: String(suffix))
  }

  /// Whether an origin in its normal form matches.
  package func matches(_ origin: String) -> Bool {
    switch self {
    case .any: return true
    case .exact(let known): return origin == known
    case .subdomains(let scheme, let suffix):
      guard origin.hasPrefix(scheme), origin.hasSuffix(suffix), origin.utf8.count > scheme.utf8.count + suffix.utf8.count
      else { return false }
      return Self.isHost(origin.dropFirst(scheme.count).dropLast(suffix.count))
    }
  }

  /// An origin in lower case, without the default port of its scheme.
  package static func normal(_ origin: some StringProtocol) -> String {
    let lowered = origin.lowercased()
    for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where lowered.hasPrefix(scheme) && lowered.hasSuffix(port) {
      return String(lowered.dropLast(port.count))
    }
    return lowered
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, first.isLowercaseLetter else { return false }
    return text.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDecimalDigit || "+-.".utf8.contains($0) }
  }

  private static func isHostAndPort(_ text: Substring) -> Bool {
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return false }
      let address = text[..<end].dropFirst()
      let isAddress = !address.isEmpty && address.utf8.allSatisfy { $0.isHexadecimalDigit || ":.".utf8.contains($0) }
      return isAddress && isPort(text[end...].dropFirst())
    }
    let end = text.firstIndex(of: ":") ?? text.endIndex
    return isHost(text[..<end]) && isPort(text[end...])
  }

  /// Whether the text is empty, or a colon and a port.
  private static func isPort(_ text: Substring) -> Bool {
    if text.isEmpty { return true }
    let digits = text.dropFirst()
    return text.hasPrefix(":") && !digits.isEmpty && digits.utf8.allSatisfy(\.isDecimalDigit) && UInt16(digits) != nil
  }

  /// Whether the text is labels with dots between them.
  private static func isHost(_ text: Substring) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDecimalDigit || "-_".utf8.contains($0) }
    }
  }
}

extension UInt8 {
  fileprivate var isLowercaseLetter: Bool { self &- UInt8(ascii: "a") < 26 }
  fileprivate var isDecimalDigit: Bool { self &- UInt8(ascii: "0") < 10 }
  fileprivate var isHexadecimalDigit: Bool { isDecimalDigit || self &- UInt8(ascii: "a") < 6 }
}
