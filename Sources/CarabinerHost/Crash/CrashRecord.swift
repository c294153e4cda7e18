/// One crash, as the signal handler writes it: `1 TIME SIGNAL SHA256 ENTRY HOOK` on a line.
struct CrashRecord: Sendable, Hashable {
  /// When it was, in seconds since 1970.
  let time: Int64
  let signal: String
  /// SHA-256 of the plugin.
  let digest: String
  let entry: String
  let hook: String

  private static let version = "1"
  private static let maximumNameBytes = 128

  /// Reads a line, believing nothing; nil if it is none, or names no plugin.
  init?(_ line: Substring) {
    let fields = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 6, fields[0] == Self.version, fields[1].utf8.count <= 18,
      fields[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int64(fields[1]),
      fields[2].hasPrefix("SIG"), Self.isName(fields[2]), Self.isDigest(fields[3]), Self.isName(fields[4]), Self.isName(fields[5])
    else { return nil }
    self.time = time
    signal = fields[2]
    digest = fields[3]
    entry = fields[4]
    hook = fields[5]
  }

  /// The line it was read from.
  var line: String { "\(Self.version) \(time) \(signal) \(digest) \(entry) \(hook)" }

  private static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static func isName(_ text: String) -> Bool {
    (1...maximumNameBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
