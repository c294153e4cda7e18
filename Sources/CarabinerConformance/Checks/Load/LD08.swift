internal import CCarabiner

extension Check {
  static let ld08 = Check(
    "LD08", level: 3, "works with hosts that are newer",
    page: Page(
      rule: """
        A host whose minor is larger by 1,000 and whose table is longer by 256 bytes is as good as any: the plugin registers, can be
        created, and its hooks work.
        """,
      reason:
        "Minors only add, at the end of tables (R1). A plugin that insists on what it was built with stops working at the host's next update.",
      example: "if (h->size != sizeof(crb_host) || h->abi_minor != CRB_ABI_MINOR) return NULL;",
      remedy: "Set abi_minor_required to what you need, and let the host compare. Ask for newer slots with CRB_HAS(host, slot)."),
    .loading { trial in
      for ordinary in try trial.interceptors(of: trial.library()) { try ordinary.instance().destroy() }
      let newer = LaboratoryTable.Shape(minor: UInt16(CRB_ABI_MINOR) + 1000, extraBytes: 256)
      let path = try trial.copy(named: "for-a-newer-host")
      do {
        for interceptor in try trial.interceptors(of: trial.library(of: path, host: newer)) {
          try interceptor.exercise([Exchange("a query of a newer host")])
        }
      } catch let skip as TrialNotes.Skip {
        trial.notes.fail(
          "it works with a host of ABI 1.\(CRB_ABI_MINOR), and not with one of ABI 1.\(newer.minor): \(skip.reason)")
      }
    })
}
