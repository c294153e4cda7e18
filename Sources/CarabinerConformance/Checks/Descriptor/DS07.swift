internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ds07 = Check(
    "DS07", level: 1, "answers NULL for extensions it does not have",
    page: Page(
      rule: """
        extension() answers NULL for ids it does not know: foreign ones, the empty one, and its own with something before or behind them.
        """,
      reason:
        "Who asks casts the answer to the table of that id. A table that is something else is called with the wrong arguments.",
      example: "return strncmp(id, \"org.example.stats/1\", 19) == 0 ? &stats : NULL;       /* also for …/10 */",
      remedy: "return strcmp(id, \"org.example.stats/1\") == 0 ? &stats : NULL;"),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.extension != nil else { throw TrialNotes.Skip("it has no extension()") }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for id in ["", "/", "/1", "1", " ", "org.carabiner.conform.unknown/1", String(repeating: "x", count: 4096), "%s%n/1"] {
        trial.notes.expect(
          unsafe instance.extension(id) == nil, "it has a table for \(id.prefix(40).debugDescription)", at: trial.interceptor.id)
      }
      // Its own ids stand somewhere in its file.
      for id in ExtensionIDs.candidates(in: trial.bytes) where unsafe instance.extension(id) != nil {
        for changed in [id + "0", id + " ", id + "x", " " + id, String(id.dropLast()), id.uppercased() + "\n"] {
          trial.notes.expect(
            unsafe instance.extension(changed) == nil, "it takes \(changed.debugDescription) for \(id)", at: trial.interceptor.id)
        }
      }
    })
}

/// What in a file looks like `org.example.stats/1`.
private enum ExtensionIDs {
  static func candidates(in bytes: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    for text in bytes.split(separator: 0) where (3...128).contains(text.count) {
      guard let slash = text.lastIndex(of: UInt8(ascii: "/")), slash > text.startIndex, slash + 1 < text.endIndex,
        text[(slash + 1)...].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        text.allSatisfy({ (0x21...0x7E).contains($0) })
      else { continue }
      found.insert(String(decoding: text, as: UTF8.self))
    }
    return found
  }
}
