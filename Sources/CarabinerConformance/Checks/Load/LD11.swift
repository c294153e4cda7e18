internal import CarabinerHost

extension Check {
  static let ld11 = Check(
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
