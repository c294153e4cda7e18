internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerFiles

extension Check {
  static let quietConstructors = Check(
    "LD05", level: 3, "does nothing while it is loaded",
    page: Page(
      rule: """
        Loading the library and calling crb_entry_v1 start no threads, open no descriptors, write no files, and change neither
        signals nor the environment.
        """,
      reason: """
        A host loads a library to inspect it, before it decides to use the plugin. Constructors run in an undefined order, under
        the dynamic linker's lock, and the host cannot undo their effects.
        """,
      example: """
        static FILE *log = NULL;
        __attribute__((constructor)) static void open_log(void) { log = fopen("/tmp/plugin.log", "a"); }
        """,
      remedy: "Do it in init(), or better in create() if it belongs to an instance, and undo it in destroy()."),
    .loading { trial in
      // The test host acquires its own resources now. For example, libc reserves a signal when it starts its first thread.
      TestHostThread {}.join()
      let host = unsafe TestHostTable.make(for: "laboratory")
      TestHost.current.enter("")
      TestHost.current.leave()
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
    "LD06", level: 3, "loads quickly",
    page: Page(
      rule: """
        Loading the library and calling crb_entry_v1 take less than 50 ms together. More is a warning, more than 500 ms a failure.
        The check loads three copies and takes the fastest, without the time for which the thread waited for a processor.
        """,
      reason: "Programs load all plugins before they serve the first request.",
      example: "__attribute__((constructor)) static void prepare(void) { build_tables(1 << 24); }",
      remedy: """
        Build tables when they are needed first (pthread_once), or at compile time. Few relocations help: static const data without
        pointers, -Wl,-O1, -fvisibility=hidden.
        """),
    .loading { trial in
      let host = unsafe TestHostTable.make(for: "laboratory")
      let paths = [trial.path, try trial.copy(named: "a-copy"), try trial.copy(named: "another-copy")]
      let times = try paths.map { path in
        try PatientClock.time { _ = unsafe trial.register(try trial.entry(of: path), host) }
      }
      let milliseconds = (times.min() ?? 0) / 1_000_000
      if milliseconds >= 500 {
        trial.notes.fail("it takes \(milliseconds) ms to load and register; the limit is 500 ms")
      } else if milliseconds >= 50 {
        trial.notes.warn("it takes \(milliseconds) ms to load and register; it should take less than 50 ms")
      }
    })
}

extension Check {
  static let balancedInit = Check(
    "LD10", level: 5, "releases in deinit() what it acquired in init()",
    page: Page(
      rule: """
        After init(), some calls and deinit(), no descriptor and no thread is left. After that, init() works again.
        """,
      reason: """
        The library stays in the process (R10). A program that stops its host and starts another one uses the library again, as
        deinit() left it.
        """,
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
        TestHost.current.enter("deinit")
        unsafe table.`deinit`?()
        TestHost.current.leave()
        for change in ProcessHoldings.now.taken(since: before) { trial.notes.fail("after deinit() \(change)") }
      }
    })
}

extension Check {
  static let loadedLibraries = Check(
    "LD11", level: 5, "loads no libraries by itself",
    page: Page(
      rule: """
        The dynamic linker loads the libraries that the library names as needed, and no others. create(), calls and destroy() load
        nothing, not even for a moment, unless the note declares it: "capabilities":["dlopen"]. Libraries that libc loads for
        itself (names of users and hosts, character sets, libgcc_s) do not count.
        """,
      reason: """
        The operator has pinned one file by its digest and checked its owner. A library that is loaded later is neither pinned nor
        checked, and runs with the same rights. Its constructors run in the middle of a request.
        """,
      example: """
        static crb_status create(…) { void *codec = dlopen("/var/lib/plugins/codec.so", RTLD_NOW); … }
        """,
      remedy: "Link what you need: cc -shared … -lcodec, or -l:libcodec.a. A plugin that must choose at run time declares dlopen."
    ),
    .loading { trial in
      guard !trial.options.capabilities.contains("dlopen") else { throw TrialNotes.Skip("it declares that it loads libraries") }
      TestHostThread {}.join()
      var before = LibraryList.now
      let library = try trial.library()
      let own = try? trial.needed(of: library)
      let loaded = LibraryList.now
      if let own {
        for name in loaded.additions(since: before) where !own.contains(LibraryList.fileName(name)) {
          trial.notes.fail("loading it also loads \(name), which it does not name as needed")
        }
      }
      before = loaded
      for interceptor in trial.interceptors(of: library) {
        try interceptor.exercise()
        let now = LibraryList.now
        for name in now.additions(since: before) {
          trial.notes.fail("while it runs it loads \(name)", at: interceptor.interceptor.id)
        }
        before = now
      }
    })
}

extension LoadingTrial {
  /// The names of the files that are loaded because the plugin or one of its libraries needs them.
  fileprivate func needed(of library: TestHostLibrary) throws -> Set<String> {
    let paths = Dictionary(LibraryList.now.names.map { (LibraryList.fileName($0), $0) }, uniquingKeysWith: { first, _ in first })
    var found: Set<String> = [LibraryList.fileName(path)]
    var waiting = try SharedObject(bytes).needed
    while let name = waiting.popLast() {
      guard found.insert(LibraryList.fileName(name)).inserted, let path = paths[LibraryList.fileName(name)] else { continue }
      // A library that cannot be read counts as one without dependencies.
      let bytes = (try? BoundedFile.bytes(at: path, maximumBytes: Self.maximumLibraryBytes)) ?? []
      waiting += (try? SharedObject(bytes).needed) ?? []
    }
    return found
  }

  private static let maximumLibraryBytes = 256 << 20
}
