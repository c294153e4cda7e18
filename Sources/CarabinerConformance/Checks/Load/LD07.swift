extension Check {
  static let ld07 = Check(
    "LD07", level: 3, "has an entry function that gives the same table to all",
    page: Page(
      rule: "crb_entry_v1 answers a table, the same one at every call, also for a second host in the same process.",
      reason: """
        A host may ask more than once: to inspect, to check, to load. Programs with two hosts in them share the library, for it is mapped
        once. A second table would make two plugins of it that share their variables.
        """,
      example: "crb_plugin *table = malloc(sizeof *table); … return table;",
      remedy: """
        static const crb_plugin table = { … };
        CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) { host = h; return &table; }
        """),
    .loading { trial in
      let entry = unsafe try trial.entry()
      let first = unsafe LaboratoryTable.make(for: "laboratory")
      let second = unsafe LaboratoryTable.make(for: "laboratory")
      guard let table = unsafe trial.register(entry, first) else {
        return trial.notes.fail("its entry function answers NULL to an ordinary host of ABI 1.0")
      }
      trial.notes.expect(
        unsafe trial.register(entry, first) == table, "a second call of its entry function answers another table")
      let other = unsafe trial.register(entry, second)
      trial.notes.expect(
        unsafe other == table, unsafe "a second host is answered \(other == nil ? "NULL" : "another table")")
    })
}
