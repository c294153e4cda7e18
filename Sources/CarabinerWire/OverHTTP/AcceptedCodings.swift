/// The content codings that a client accepts (RFC 9110, 12.5.3).
package struct AcceptedCodings: Sendable, Hashable {
  private var qualities: [String: Double] = [:]

  /// Parses the value of Accept-Encoding. Elements that are malformed have the quality 0.
  package init(_ header: String) {
    for element in header.split(separator: ",") {
      let parts = element.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmedSpaces)
      guard let name = parts.first, !name.isEmpty else { continue }
      var quality = 1.0
      for parameter in parts.dropFirst() where parameter.lowercased().hasPrefix("q=") {
        quality = Double(parameter.dropFirst(2)).flatMap { (0...1).contains($0) ? $0 : nil } ?? 0
      }
      // The first element of a name counts.
      let lowered = name.lowercased()
      if qualities[lowered] == nil { qualities[lowered] = quality }
    }
  }

  /// The coding that the client prefers; nil for none.
  ///
  /// - Parameter codings: The codings that the server has. Of codings with the same quality, the first is chosen.
  package func preferred(of codings: [String]) -> String? {
    var best: (name: String, quality: Double)?
    for name in codings {
      let quality = qualities[name] ?? (name == "gzip" ? qualities["x-gzip"] : nil) ?? qualities["*"] ?? 0
      if quality > 0, quality > best?.quality ?? 0 { best = (name, quality) }
    }
    guard let best, best.quality >= qualities["identity"] ?? 0 else { return nil }
    return best.name
  }
}

extension Substring {
  fileprivate var trimmedSpaces: Substring {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let last = lastIndex(where: { !isSpace($0) }) else { return prefix(0) }
    return self[...last].drop(while: isSpace)
  }
}
