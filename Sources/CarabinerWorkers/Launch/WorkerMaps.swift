internal import CarabinerFiles

/// The files that a process has mapped, by which addresses of its code are named.
struct WorkerMaps: Sendable {
  private struct Part {
    let range: Range<UInt64>
    let offset: UInt64
    /// Device and number of the file: two files may have the same name.
    let file: String
    let name: String
    let isCode: Bool
  }

  /// More than a worker has with sixteen plugins.
  private static let maximumBytes = 4 << 20

  private let parts: [Part]

  /// The mapped files of a process; nil if they cannot be read.
  init?(of process: Int32) {
    guard let text = try? BoundedFile.text(at: "/proc/\(process)/maps", maximumBytes: Self.maximumBytes) else { return nil }
    self.init(text)
  }

  /// Reads the text of `/proc/PID/maps`.
  init(_ text: String) {
    parts = text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count == 6, fields[1].count >= 3, let dash = fields[0].firstIndex(of: "-"),
        let start = UInt64(fields[0][..<dash], radix: 16),
        let end = UInt64(fields[0][fields[0].index(after: dash)...], radix: 16),
        start < end, let offset = UInt64(fields[2], radix: 16)
      else { return nil }
      return Part(
        range: start..<end, offset: offset, file: "\(fields[3]) \(fields[4])", name: Self.name(fields[5]),
        isCode: fields[1].contains("x"))
    }
  }

  /// The name of a file without its folder, and of a plugin without what its memory file adds.
  private static func name(_ path: Substring) -> String {
    var text = path.drop { $0 == " " }
    if text.hasSuffix(" (deleted)") { text = text.dropLast(" (deleted)".count) }
    if text.hasPrefix("/memfd:carabiner:") { return String(text.dropFirst("/memfd:carabiner:".count)) }
    return String(text.split(separator: "/").last ?? text)
  }

  /// The library with an address in its code, and the distance from where it begins, as `hmac.so+0x12c7`; nil if there is none.
  func place(of address: UInt64) -> String? {
    guard let part = parts.first(where: { $0.range.contains(address) && $0.isCode }), !part.name.hasPrefix("[") else {
      return nil
    }
    // The library begins with the beginning of its file.
    let start = parts.first { $0.file == part.file && $0.offset == 0 }?.range.lowerBound
    let distance = start.flatMap { $0 <= address ? address - $0 : nil } ?? (address - part.range.lowerBound + part.offset)
    return "\(part.name)+0x\(String(distance, radix: 16))"
  }
}
