/// The kind and name of a released file, for example `plugin:token-auth`.
///
/// It is the principal that a trust file allows a key to sign for.
package struct ReleaseSubject: Sendable, Hashable, CustomStringConvertible {
  /// The longest name.
  package static let maximumNameBytes = 64

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

  /// The subject of a file that a fleet has in etcd. Its name is the last part of the prefix.
  ///
  /// - Parameter address: The prefix, or an address that ends with it.
  /// - Throws: ``ReleaseError`` with code `signature` if no statement can have the name.
  package init(_ kind: ReleaseKind, ofFleet address: String) throws(ReleaseError) {
    let name = Self.manifestName(path: address)
    guard let subject = Self(kind, name) else {
      throw ReleaseError(
        .signature,
        "no statement can have the name \(name.prefix(Self.maximumNameBytes).debugDescription); use a prefix whose last part has 1 to "
          + "\(Self.maximumNameBytes) of a-z, 0-9 and -")
    }
    self = subject
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
