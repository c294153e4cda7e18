internal import CarabinerHost

extension Check {
  static let ld05 = Check(
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
