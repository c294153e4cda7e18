internal import CCarabiner
internal import CarabinerBridge

extension Check {
  static let uniqueIDs = Check(
    "DS02", level: 1, "has unique ids that do not change between loads",
    page: Page(
      rule: """
        Each interceptor's id is a reverse-DNS name of at most 128 bytes. It is unique in the library, and the same at each
        registration.
        """,
      reason: """
        Manifests, logs and metrics name an interceptor by its id. After a change of the id they name no interceptor.
        """,
      example: "static char id[64]; snprintf(id, sizeof id, \"org.example.%d\", rand());",
      remedy: ".id = \"org.example.hello\","),
    .loading { trial in
      let entry = unsafe try trial.entry()
      let host = unsafe TestHostTable.make(for: "laboratory")
      var seen: [[String]] = []
      for _ in 0..<2 {
        guard let table = unsafe trial.register(entry, host), let items = unsafe table.pointee.items else {
          throw TrialNotes.Skip("its entry function answers NULL; see LD07")
        }
        var ids: [String] = []
        for index in unsafe 0..<Int(min(table.pointee.count, RegistrationReader.maximumInterceptors)) {
          guard let id = unsafe items[index]?.pointee.id else {
            return trial.notes.fail("interceptor \(index) has no id")
          }
          ids.append(unsafe String(cString: id))
        }
        seen.append(ids)
      }
      for id in seen[0] where !PluginNote.isIdentifier(id) {
        trial.notes.fail("\(id.debugDescription) is not a reverse-DNS name of at most 128 bytes")
      }
      trial.notes.expect(
        Set(seen[0]).count == seen[0].count, "two interceptors have the same id: \(seen[0].joined(separator: ", "))")
      trial.notes.expect(seen[0] == seen[1], "its ids change: \(seen[0]) and then \(seen[1])")
    })
}

extension Check {
  static let versionAndThreadClass = Check(
    "DS03", level: 1, "has a semantic version and a thread class",
    page: Page(
      rule:
        "`version` is a semantic version, MAJOR.MINOR.PATCH with an optional -pre-release and +build; `thread_class` is one of CRB_THREADS_*.",
      reason: """
        Manifests require versions, so a host must know which of two versions is newer. With an unknown thread class a host does
        not know how many threads may run the plugin at once.
        """,
      example: ".version = \"1.0\", .thread_class = 0,",
      remedy: ".version = \"1.0.0\", .thread_class = CRB_THREADS_CONCURRENT,"),
    .loading { trial in
      let classes = UInt32(CRB_THREADS_PER_CALL)...UInt32(CRB_THREADS_CONCURRENT)
      for item in unsafe try trial.items(of: trial.table()) {
        let copy = unsafe item.table
        let id = unsafe trial.text(copy.id) ?? ""
        let version = unsafe trial.text(copy.version) ?? ""
        trial.notes.expect(
          isSemantic(version), "\(version.debugDescription) is not a semantic version; write for example 1.0.0", at: id)
        trial.notes.expect(
          unsafe classes.contains(copy.thread_class), unsafe "\(copy.thread_class) is not a thread class; see CRB_THREADS_*",
          at: id)
      }
    })

  /// Whether a version has the form that semver.org defines.
  private static func isSemantic(_ version: String) -> Bool {
    let build = version.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
    guard let head = build.first else { return false }
    let parts = head.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let core = parts.first else { return false }
    let numbers = core.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 3 && numbers.allSatisfy(isNumber)
      && (parts.count < 2 || isList(parts[1], numbersHaveNoZeros: true))
      && (build.count < 2 || isList(build[1], numbersHaveNoZeros: false))
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

  private static func isNumber(_ text: Substring) -> Bool {
    !text.isEmpty && text.allSatisfy(isDigit) && (text.count == 1 || text.first != "0")
  }

  private static func isList(_ text: Substring, numbersHaveNoZeros: Bool) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
      !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLetter || isDigit($0) || $0 == "-") }
        && !(numbersHaveNoZeros && part.allSatisfy(isDigit) && !isNumber(part))
    }
  }
}
