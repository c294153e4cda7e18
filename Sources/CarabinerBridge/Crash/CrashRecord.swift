/// One crash, on a line of the form `1 TIME SIGNAL SHA256 ENTRY HOOK` that the signal handler writes.
struct CrashRecord: Sendable, Hashable {
  /// When the crash happened, in seconds since 1970.
  let time: Int64
  let signal: String
  /// SHA-256 of the plugin.
  let digest: String
  let entry: String
  let hook: String

  private static let version = "1"
  private static let maximumNameBytes = 128

  /// Parses and validates a line; nil if it is not well-formed or names no plugin.
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

  /// The record as a line.
  var line: String { "\(Self.version) \(time) \(signal) \(digest) \(entry) \(hook)" }

  private static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static func isName(_ text: String) -> Bool {
    (1...maximumNameBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
