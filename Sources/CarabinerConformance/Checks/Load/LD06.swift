extension Check {
  static let ld06 = Check(
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
