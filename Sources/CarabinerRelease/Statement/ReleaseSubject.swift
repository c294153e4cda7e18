/// The kind and name of a released file, for example `plugin:token-auth`.
///
/// It is the principal that a trust file allows a key to sign for.
package struct ReleaseSubject: Sendable, Hashable, CustomStringConvertible {
  /// The longest name.
  package static let maximumNameBytes = 64

  /// The next step for the operator of a fleet whose prefix is not a name.
  package static let nameAdvice = "use a prefix whose last part has 1 to \(maximumNameBytes) of a-z, 0-9 and -"

  package let kind: ReleaseKind
  package let name: String

  /// - Returns: nil if the name does not have 1 to ``maximumNameBytes`` of a-z, 0-9 and -.
  package init?(_ kind: ReleaseKind, _ name: String) {
    guard Self.isName(name.utf8) else { return nil }
    self.kind = kind
    self.name = name
  }

  /// Reads `KIND:NAME`.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let kind = ReleaseKind(rawValue: String(parts[0])) else { return nil }
    self.init(kind, String(parts[1]))
  }

  /// The name of a manifest: that of its file without folder and suffix.
  package static func manifestName(path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? ""
    return file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
  }

  package static func isName(_ bytes: some Collection<UInt8>) -> Bool {
    (1...maximumNameBytes).contains(bytes.count)
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }

  package var description: String { "\(kind.rawValue):\(name)" }
}
