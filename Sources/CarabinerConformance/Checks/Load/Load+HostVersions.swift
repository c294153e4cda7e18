internal import CCarabiner
internal import CarabinerBridge

extension Check {
  static let sameEntryTable = Check(
    "LD07", level: 3, "answers the same table to every host",
    page: Page(
      rule: "crb_entry_v1 answers the same table at every call, also for a second host in the same process.",
      reason: """
        A host may call it several times: to inspect, to check, and to load. Two hosts in one process share the library, because
        it is mapped once. Two tables would make two plugins that share their variables.
        """,
      example: "crb_plugin *table = malloc(sizeof *table); … return table;",
      remedy: """
        static const crb_plugin table = { … };
        CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) { host = h; return &table; }
        """),
    .loading { trial in
      let entry = unsafe try trial.entry()
      let first = unsafe TestHostTable.make(for: "laboratory")
      let second = unsafe TestHostTable.make(for: "laboratory")
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

extension Check {
  static let newerHosts = Check(
    "LD08", level: 3, "works with newer hosts",
    page: Page(
      rule: """
        The plugin registers, can be created, and its hooks work with a host whose minor version is larger by 1,000 and whose
        table is longer by 256 bytes.
        """,
      reason: """
        Minor versions only add slots, at the end of tables (R1). A plugin that insists on the version it was built with fails
        after the next update of the host.
        """,
      example: "if (h->size != sizeof(crb_host) || h->abi_minor != CRB_ABI_MINOR) return NULL;",
      remedy: "Set abi_minor_required to what you need, and let the host compare. Ask for newer slots with CRB_HAS(host, slot)."),
    .loading { trial in
      for ordinary in try trial.interceptors(of: trial.library()) { try ordinary.instance().destroy() }
      let newer = TestHostTable.Shape(minor: UInt16(CRB_ABI_MINOR) + 1000, extraBytes: 256)
      let path = try trial.copy(named: "for-a-newer-host")
      do {
        for interceptor in try trial.interceptors(of: trial.library(of: path, host: newer)) {
          try interceptor.exercise([Exchange("a query of a newer host")])
        }
      } catch let skip as TrialNotes.Skip {
        trial.notes.fail(
          "it works with a host of ABI 1.\(CRB_ABI_MINOR), but not with one of ABI 1.\(newer.minor): \(skip.reason)")
      }
    })
}

extension Check {
  static let olderHosts = Check(
    "LD09", level: 3, "calls no function that its host lacks",
    page: Page(
      rule: """
        With a host of the lowest minor version that the plugin requires, the plugin calls no slot beyond the size of the host's
        table. It works without the missing function, or refuses (the entry function answers NULL, or create() fails with a
        reason).
        """,
      reason: "The memory after the end of the table is undefined. A call through it jumps to a random address.",
      example: "host->trace_begin(call, name);          /* new in ABI 1.3, and abi_minor_required is 0 */",
      remedy: """
        if (CRB_HAS(host, trace_begin)) host->trace_begin(call, name);

        or set abi_minor_required, and "abi" in the note, to the minor version that added the function.
        """),
    .loading { trial in
      let note = try? PluginNote(of: ELFImage(trial.bytes), path: trial.path)
      let shape = TestHostTable.Shape(minor: UInt16(clamping: note?.abi.minor ?? 0))
      for interceptor in try trial.interceptors(of: trial.library(host: shape)) { try interceptor.exercise() }
    })
}
