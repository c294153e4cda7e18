internal import CarabinerBridge

extension Check {
  static let secondGeneration = Check(
    "HR01", level: 5, "works beside a second copy of itself",
    page: Page(
      rule: """
        Two copies of the same library in one process, both initialized and with working instances, give the same answers as one
        alone.
        """,
      reason: """
        Libraries are never unmapped (R10). A reload loads the new file beside the old one, and drains the old instances while the
        new ones work. The new file may be equal to the old one.
        """,
      example:
        "static crb_status init(const crb_host *h, crb_view origin) { return open(\"plugin.lock\", O_CREAT | O_EXCL) < 0 ? CRB_E_STATE : CRB_OK; }",
      remedy: """
        If a resource exists only once, keep it outside of the process, or share it with a lock that is taken for each use and
        released afterwards.
        """),
    timeLimit: .seconds(90),
    .loading { trial in
      let old = try trial.interceptors(of: trial.library())
      let new: [InterceptorTrial]
      let expected = try old.map { try GenerationTrial.prints($0) }
      let varies = trial.options.capabilities.contains("varies")
      guard try !varies && old.map({ try GenerationTrial.prints($0) }) == expected else {
        return try GenerationTrial.survive(
          old, try trial.interceptors(of: trial.library(of: trial.copy(named: "second-generation"))))
      }
      let running = try old.map { try $0.instance() }
      defer { for instance in running { instance.destroy() } }
      do {
        new = try trial.interceptors(of: trial.library(of: trial.copy(named: "second-generation")))
        for (index, interceptor) in new.enumerated() where index < old.count {
          let fresh = try interceptor.instance()
          defer { fresh.destroy() }
          let place = interceptor.interceptor.id
          trial.notes.expect(
            GenerationTrial.prints(interceptor, fresh) == expected[index],
            "the answers of the new copy change beside the old one",
            at: place)
          trial.notes.expect(
            GenerationTrial.prints(old[index], running[index]) == expected[index],
            "the answers of the old copy change beside the new one",
            at: place)
        }
        try compareConfigurations(trial, old)
      } catch let skip as TrialNotes.Skip {
        trial.notes.fail("a second copy does not work beside the first: \(skip.reason)")
      }
    })

  /// Compares an instance of a library that had other instances before with an equal first instance in a copy of the library.
  private static func compareConfigurations(_ trial: LoadingTrial, _ old: [InterceptorTrial]) throws {
    for (index, interceptor) in old.enumerated() {
      let configurations = ConfigurationVariants.texts(
        for: interceptor.interceptor.configurationSchema, count: 24, seed: trial.options.seed)
      for (number, configuration) in configurations.enumerated() where configuration != interceptor.configuration {
        func prints(_ interceptor: InterceptorTrial) -> [[String]]? {
          guard let instance = try? interceptor.instance(configuration) else { return nil }
          defer { instance.destroy() }
          return GenerationTrial.prints(interceptor, instance)
        }
        guard let later = prints(interceptor), later == prints(interceptor) else { continue }
        let copy = try trial.interceptors(of: trial.library(of: trial.copy(named: "configuration-\(index)-\(number)")))
        guard index < copy.count, let first = prints(copy[index]), first == prints(copy[index]), first != later else { continue }
        return trial.notes.add(
          Finding(
            "LC05", .failure,
            "an instance with the configuration \(configuration.prefix(120)) answers differently if the library has had another instance before",
            place: interceptor.interceptor.id))
      }
    }
  }
}

/// The work of interceptors of several copies.
enum GenerationTrial {
  private static let exchanges = Array(Exchange.usual.prefix(6)) + Exchange.usual.suffix(1)

  /// Everything that the callers of an instance can observe.
  static func prints(_ trial: InterceptorTrial, _ instance: TestHostInstance) -> [[String]] {
    trial.stages.map { stage in trial.travel(exchanges, stage, instance).map(\.fingerprint) }
  }

  /// The same for a new instance.
  static func prints(_ trial: InterceptorTrial) throws -> [[String]] {
    let instance = try trial.instance()
    defer { instance.destroy() }
    return prints(trial, instance)
  }

  /// Runs the old and the new interceptors, without comparing their results.
  static func survive(_ old: [InterceptorTrial], _ new: [InterceptorTrial]) throws {
    for trial in old + new + old { _ = try prints(trial) }
  }
}

extension Check {
  static let secondVersion = Check(
    "HR02", level: 6, "works beside another version of itself",
    page: Page(
      rule: """
        A copy with another version number in its note and its table is loaded beside the first. Both are created and work. This
        can be checked only if the version is a text of its own in the file.
        """,
      reason: """
        An update is loaded while the old version still has calls in progress. If both use the same file or name, its content must
        state the version.
        """,
      example: "shm_open(\"/org.example.hello\", …);        /* and 1.1.0 lays it out differently */",
      remedy: "shm_open(\"/org.example.hello-1.1\", …);    /* or begin the content with a version that both can read */"),
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

  /// The file with another version in each text that is only the version, such as that in the note; nil if there are fewer than two
  /// such texts.
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

extension Check {
  static let hundredGenerations = Check(
    "HR03", level: 6, "can be loaded a hundred times",
    page: Page(
      rule: """
        A hundred copies work, each loaded, registered, created, used and destroyed before the next. More memory per copy than 4
        MiB plus twice the size of the file is a warning.
        """,
      reason: """
        Libraries are never unmapped. If a copy takes scarce resources of the process, such as thread keys or static thread-local
        storage, they are lost.
        """,
      example:
        "__attribute__((constructor)) static void start(void) { for (int i = 0; i < 64; i++) pthread_key_create(&keys[i], free); }",
      remedy: """
        Acquire such resources at first use, and release them with the last instance, or keep the data in the instance.
        """
    ),
    timeLimit: .seconds(180),
    .loading { trial in
      let count = trial.options.times(100, atLeast: 24)
      for interceptor in try trial.interceptors(of: trial.library()) { try interceptor.exercise([Exchange("a query")]) }
      let before = ProcessState.now.memory
      for generation in 2...count {
        FlightRecord.note("generation \(generation)", inHook: false)
        do {
          let path = try trial.copy(named: "generation-\(generation)")
          for interceptor in try trial.interceptors(of: trial.library(of: path)) {
            try interceptor.exercise([Exchange("a query")])
          }
        } catch let skip as TrialNotes.Skip {
          return trial.notes.fail("generation \(generation) does not work: \(skip.reason)")
        }
      }
      let growth = (ProcessState.now.memory - before) / (count - 1)
      if growth > 4 << 20 + 2 * trial.bytes.count {
        trial.notes.warn("each generation takes \(growth >> 10) KiB of memory that is never released")
      }
    })
}
