extension Check {
  static let ld04 = Check(
    "LD04", level: 3, "loads and registers wherever its file is",
    page: Page(
      rule: """
        The library loads and its entry function answers a table when the file is a copy in another folder, and when it is in no folder at
        all, loaded from memory. Anything else is a warning.
        """,
      reason: """
        Hosts never map the operator's file, for whoever overwrites a mapped file kills the process. They map a copy with a name of their
        own, or a sealed one in memory. What a plugin looks for beside itself ($ORIGIN, its own path) is not there.
        """,
      example: """
        Dl_info info;
        dladdr(&table, &info);
        load_rules(dirname(strdup(info.dli_fname)));        /* the host's staging folder, or /proc/self/fd/7 */
        """,
      remedy: """
        Take files by the configuration, or beside `origin`, the path in the manifest that init() and create() are given. Link libraries
        of your own statically.
        """),
    .loading { trial in
      let host = unsafe LaboratoryTable.make(for: "laboratory")
      guard unsafe trial.register(try trial.entry(), host) != nil else {
        throw TrialNotes.Skip("its entry function answers NULL; see LD07")
      }
      let places = [("a copy in another folder", try trial.copy(named: "a-copy")), ("a copy in memory", try trial.memoryCopy())]
      for (name, path) in places {
        do {
          if unsafe trial.register(try trial.entry(of: path), host) == nil {
            trial.notes.warn("its entry function answers NULL when it is loaded from \(name)")
          }
        } catch is TrialNotes.Skip {
          trial.notes.warn("it does not load from \(name): \(LoadingTrial.linkerMessage)")
        }
      }
    })
}
