internal import CarabinerWire
internal import Glibc

/// The report of a child to its supervisor: lines on a descriptor. Each line begins with a number that only these two processes
/// know, and the last line marks the end. A plugin does not know the number, so it cannot forge a line.
enum TrialReport {
  /// The descriptor of the child's end.
  static let descriptor: Int32 = 3

  /// The content of a report.
  struct Contents: Sendable {
    var findings: [Finding] = []
    var skip: String?
    /// Whether it was skipped because no instance could be created.
    var hasNoInstance = false
    /// Why the file is not a plugin, although it is a shared object.
    var foreignReason: String?
    /// The runtime of a sanitizer that the plugin needs, if the check was the first.
    var runtime: String?
    /// The names and places of instructions, if the child was asked for them.
    var sources: [InstructionSource] = []
    /// The failure of the harness, if there was one.
    var failure: String?
    var isComplete = false
    /// The number of lines without the secret number.
    var strayLines = 0
  }

  static func line(_ nonce: String, _ kind: String, _ value: JSONValue) -> String {
    "\(nonce) \(JSONValue.object([kind: value]).serializedText)\n"
  }

  /// Writes the report of a child and its end.
  static func write(_ contents: Contents, nonce: String) {
    var text = contents.findings.map { line(nonce, "finding", $0.record) }.joined()
    if let skip = contents.skip { text += line(nonce, contents.hasNoInstance ? "noInstance" : "skip", .string(skip)) }
    if let reason = contents.foreignReason { text += line(nonce, "foreign", .string(reason)) }
    if let runtime = contents.runtime { text += line(nonce, "runtime", .string(runtime)) }
    text += contents.sources.map { line(nonce, "source", $0.json) }.joined()
    if let failure = contents.failure { text += line(nonce, "failure", .string(failure)) }
    text += line(nonce, "end", .number(JSONNumber(contents.findings.count)))
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes[written...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      written += count
    }
  }

  /// Reads the report of a child; only lines with the number count.
  static func read(_ text: String, nonce: String) -> Contents {
    var contents = Contents()
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, parts[0] == nonce, let json = try? JSONValue(parsing: String(parts[1])) else {
        contents.strayLines += 1
        continue
      }
      if let finding = json["finding"].flatMap(Finding.init) { contents.findings.append(finding) }
      if let skip = json["skip"]?.string { contents.skip = skip }
      if let skip = json["noInstance"]?.string { (contents.skip, contents.hasNoInstance) = (skip, true) }
      if let reason = json["foreign"]?.string { contents.foreignReason = reason }
      if let runtime = json["runtime"]?.string { contents.runtime = runtime }
      if let source = json["source"].flatMap(InstructionSource.init) { contents.sources.append(source) }
      if let failure = json["failure"]?.string { contents.failure = failure }
      if let count = json["end"]?.int { contents.isComplete = count == contents.findings.count }
    }
    return contents
  }
}
