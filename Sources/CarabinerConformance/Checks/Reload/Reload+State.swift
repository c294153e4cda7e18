internal import CCarabiner
internal import CarabinerBridge

extension Check {
  static let stateHandOver = Check(
    "HR04", level: 5, "hands over its state, and refuses invalid state",
    page: Page(
      rule: """
        If extension() answers a table for "crb.state/1", a new instance takes the state that another instance has handed over,
        and works. It refuses a version newer than its own with a status. It takes or refuses bytes that were truncated, changed
        or made up, and works as before afterwards. save() works while calls are in progress, and leaves the state where it is.
        """,
      reason: """
        At a reload the bytes come from another file: an older version, or a newer one after a roll-back. An instance that trusts
        them can crash the host during the reload.
        """,
      example: "static crb_status adopt(…) { memcpy(&inst->entries, bytes.ptr, bytes.len); return CRB_OK; }",
      remedy: """
        if (version > table.version) return CRB_E_UNSUPPORTED;
        if (bytes.len < sizeof head || bytes.len - sizeof head != head.count * sizeof(entry)) return CRB_E_INVAL;
        Read into a copy, and use it only if all of it is valid.
        """),
    timeLimit: .seconds(120),
    .interceptor { try StateTrial($0).run() })
}
