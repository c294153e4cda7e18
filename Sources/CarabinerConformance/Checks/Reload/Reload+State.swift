internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let stateHandOver = Check(
    "HR04", level: 5, "hands its state over, and takes no other",
    page: Page(
      rule: """
        An interceptor whose extension() answers a table for "crb.state/1" takes what another instance of it has handed over, and works.
        A version newer than its own it refuses with a status; bytes that were cut, changed or made up it takes or refuses, and is afterwards
        as whole as before. save() works beside calls that are under way.
        """,
      reason: """
        At a reload the bytes come from another file: yesterday's version, or tomorrow's after somebody went back. One that believes them
        takes the host down at the very moment that was to change nothing.
        """,
      example: "static crb_status adopt(…) { memcpy(&inst->entries, bytes.ptr, bytes.len); return CRB_OK; }",
      remedy: """
        if (version > table.version) return CRB_E_UNSUPPORTED;
        if (bytes.len < sizeof head || bytes.len - sizeof head != head.count * sizeof(entry)) return CRB_E_INVAL;
        Read into a copy, and put it in place when all of it was good.
        """),
    timeLimit: .seconds(120),
    .interceptor { try StateTrial($0).run() })
}
