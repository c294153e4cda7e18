internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let quietConstructors = Check(
    "LD05", level: 3, "does nothing while it is loaded",
    page: Page(
      rule: """
        Loading the library and calling crb_entry_v1 starts no threads, opens no descriptors, writes no files, and changes neither signals
        nor the environment.
        """,
      reason: """
        A host loads a library to look at it, before it knows whether the plugin is wanted. Constructors run in an order nobody chose, under
        the dynamic linker's lock, and nothing undoes what they did.
        """,
      example: """
        static FILE *log = NULL;
        __attribute__((constructor)) static void open_log(void) { log = fopen("/tmp/plugin.log", "a"); }
        """,
      remedy: "Do it in init(), or better in create() for what belongs to an instance, and undo it in destroy()."),
    .loading { trial in
      // What the laboratory itself takes, it takes now; with its first thread libc takes a signal.
      LaboratoryThread {}.join()
      let host = unsafe LaboratoryTable.make(for: "laboratory")
      Laboratory.current.enter("")
      Laboratory.current.leave()
      _ = ProcessHoldings.now
      let before = ProcessHoldings.now
      let entry = unsafe try trial.entry()
      let loaded = ProcessHoldings.now
      _ = unsafe trial.register(entry, host)
      for change in loaded.changes(since: before) { trial.notes.fail("after loading it \(change)") }
      for change in ProcessHoldings.now.changes(since: loaded) { trial.notes.fail("after crb_entry_v1 \(change)") }
    })
}

extension Check {
  static let loadTime = Check(
    "LD06", level: 3, "is loaded in no time",
    page: Page(
      rule: """
        Loading the library and calling crb_entry_v1 take less than 50 ms together; more is a warning, more than 500 ms a failure. The
        fastest of three copies counts, without the time the machine let it wait for a processor.
        """,
      reason: "Programs that load plugins when they start show their users nothing until the last one is loaded.",
      example: "__attribute__((constructor)) static void prepare(void) { build_tables(1 << 24); }",
      remedy: """
        Build tables when they are needed first (pthread_once), or at compile time. Few relocations help: static const data without
        pointers, -Wl,-O1, -fvisibility=hidden.
        """),
    .loading { trial in
      let host = unsafe LaboratoryTable.make(for: "laboratory")
      let paths = [trial.path, try trial.copy(named: "a-copy"), try trial.copy(named: "another-copy")]
      let times = try paths.map { path in
        try PatientClock.time { _ = unsafe trial.register(try trial.entry(of: path), host) }
      }
      let milliseconds = (times.min() ?? 0) / 1_000_000
      if milliseconds >= 500 {
        trial.notes.fail("it takes \(milliseconds) ms to load and register; the limit is 500 ms")
      } else if milliseconds >= 50 {
        trial.notes.warn("it takes \(milliseconds) ms to load and register; 50 ms are enough")
      }
    })
}

extension Check {
  static let balancedInit = Check(
    "LD10", level: 5, "gives back in deinit() what it took in init()",
    page: Page(
      rule: #"""
        After init(), some calls and deinit(), no descriptor and no thread is left; and init() works again after that.
        """#,
      reason: #"""
        The library stays in the process (R10). A program that stops its host and starts another finds it as deinit() left it.
        """#,
      example: #"""
        static void deinit(void) { stop = 1; }                        /* and the thread of init() sleeps on */
        """#,
      remedy: #"""
        static void deinit(void) { stop = 1; pthread_join(worker, NULL); close(file); file = -1; }
        """#),
    .loading { trial in
      let table = unsafe InterceptorTable.copy(try trial.table(), crb_plugin())
      guard unsafe table.`init` != nil || table.`deinit` != nil else {
        throw TrialNotes.Skip("it has neither init() nor deinit()")
      }
      _ = ProcessHoldings.now
      let before = ProcessHoldings.now
      for round in 1...2 {
        do {
          for interceptor in try trial.interceptors(of: trial.library()) { try interceptor.exercise([Exchange("a query")]) }
        } catch let skip as TrialNotes.Skip where round == 2 {
          return trial.notes.fail("after deinit() it does not work again: \(skip.reason)")
        }
        Laboratory.current.enter("deinit")
        unsafe table.`deinit`?()
        Laboratory.current.leave()
        for change in ProcessHoldings.now.taken(since: before) { trial.notes.fail("after deinit() \(change)") }
      }
    })
}

extension Check {
  static let loadedLibraries = Check(
    "LD11", level: 5, "loads no libraries by itself",
    page: Page(
      rule: """
        When the library is loaded, the libraries it names as needed are loaded with it, and no others. Nothing is loaded in create(), in calls
        or in destroy(), also for a moment, unless the note declares it: "capabilities":["dlopen"]. What libc loads for itself (names of users
        and hosts, character sets, libgcc_s) does not count.
        """,
      reason: """
        The operator has pinned one file by its digest, and checked whom it belongs to. A library that it loads later is neither pinned nor
        checked, and runs with the same rights. Its constructors run in the middle of a request.
        """,
      example: """
        static crb_status create(…) { void *codec = dlopen("/var/lib/plugins/codec.so", RTLD_NOW); … }
        """,
      remedy: "Link what you need: cc -shared … -lcodec, or -l:libcodec.a. A plugin that must choose at run time declares dlopen."
    ),
    .loading { trial in
      guard !trial.options.capabilities.contains("dlopen") else { throw TrialNotes.Skip("it declares that it loads libraries") }
      LaboratoryThread {}.join()
      var before = LibraryList.now
      let library = try trial.library()
      let own = try? trial.needed(of: library)
      let loaded = LibraryList.now
      if let own {
        for name in loaded.additions(since: before) where !own.contains(LibraryList.fileName(name)) {
          trial.notes.fail("while it is loaded it loads \(name)")
        }
      }
      before = loaded
      for interceptor in trial.interceptors(of: library) {
        try interceptor.exercise()
        let now = LibraryList.now
        for name in now.additions(since: before) { trial.notes.fail("at work it loads \(name)", at: interceptor.interceptor.id) }
        before = now
      }
    })
}

extension LoadingTrial {
  /// The names of the files that are loaded because the plugin or one of its libraries needs them.
  fileprivate func needed(of library: LaboratoryLibrary) throws -> Set<String> {
    let paths = Dictionary(LibraryList.now.names.map { (LibraryList.fileName($0), $0) }, uniquingKeysWith: { first, _ in first })
    var found: Set<String> = [LibraryList.fileName(path)]
    var waiting = try SharedObject(bytes).needed
    while let name = waiting.popLast() {
      guard found.insert(LibraryList.fileName(name)).inserted, let path = paths[LibraryList.fileName(name)] else { continue }
      // A library that cannot be read again needs nothing that is known.
      let bytes = (try? BoundedFile.bytes(at: path, maximumBytes: Self.maximumLibraryBytes)) ?? []
      waiting += (try? SharedObject(bytes).needed) ?? []
    }
    return found
  }

  private static let maximumLibraryBytes = 256 << 20
}
