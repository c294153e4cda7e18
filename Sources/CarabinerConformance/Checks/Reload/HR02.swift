internal import CarabinerHost

extension Check {
  static let hr02 = Check(
    "HR02", level: 6, "works beside another version of itself",
    page: Page(
      rule: """
        A copy with another version number in its note and its table is loaded beside the first; both are created and work. (Only a plugin
        whose version stands in its file as text of its own can be tested so.)
        """,
      reason:
        "An update is loaded while the old version still has calls under way. What both share, a file or a name, has to say whose it is.",
      example: "shm_open(\"/org.example.hello\", …);        /* and 1.1.0 lays it out differently */",
      remedy: "shm_open(\"/org.example.hello-1.1\", …);    /* or begin it with a version both know how to read */"),
    timeLimit: .seconds(90),
    .loading { trial in
      try trial.checkWhole()
      guard let note = try? PluginNote(of: try ELFImage(trial.bytes), path: trial.path),
        let changed = Self.changed(trial.bytes, note.version)
      else { throw TrialNotes.Skip("its version cannot be changed in its file") }
      let old = try trial.interceptors(of: trial.library())
      let running = try old.map { try $0.instance() }
      defer { for instance in running { instance.destroy() } }
      do {
        let new = try trial.interceptors(of: trial.library(of: trial.copy(named: "another-version", changed)))
        guard new.first?.interceptor.version != note.version else {
          throw TrialNotes.Skip("its version cannot be changed in its file")
        }
        for interceptor in new { _ = try GenerationTrial.prints(interceptor) }
        for (interceptor, instance) in zip(old, running) { _ = GenerationTrial.prints(interceptor, instance) }
      } catch let skip as TrialNotes.Skip where !skip.reason.contains("cannot be changed") {
        trial.notes.fail("another version does not work beside the first: \(skip.reason)")
      }
    })

  /// The file with another version wherever the version stands as a text of its own, or in the note.
  private static func changed(_ bytes: [UInt8], _ version: String) -> [UInt8]? {
    let text = Array(version.utf8)
    guard let digit = text.firstIndex(where: { (UInt8(ascii: "0")...UInt8(ascii: "8")).contains($0) }) else { return nil }
    var changed = bytes
    var places = 0
    for index in bytes.indices.dropLast(text.count + 1) where index > 0 && bytes[index] == text[0] {
      let ends: Set<UInt8> = [0, UInt8(ascii: "\"")]
      guard ends.contains(bytes[index - 1]), ends.contains(bytes[index + text.count]),
        bytes[index..<(index + text.count)].elementsEqual(text)
      else { continue }
      changed[index + digit] += 1
      places += 1
    }
    return places > 1 ? changed : nil
  }
}
