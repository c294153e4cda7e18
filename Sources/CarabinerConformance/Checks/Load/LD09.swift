internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ld09 = Check(
    "LD09", level: 3, "calls no function its host does not have",
    page: Page(
      rule: """
        With a host of the lowest minor the plugin says it needs, no slot beyond the size of the host's table is called: the plugin works
        without what is missing, or refuses (entry answers NULL, or create() fails and says why).
        """,
      reason: "Behind the end of the table stands whatever memory stands there. Calling it is a jump to a random place.",
      example: "host->trace_begin(call, name);          /* new in ABI 1.3, and abi_minor_required is 0 */",
      remedy: """
        if (CRB_HAS(host, trace_begin)) host->trace_begin(call, name);

        or set abi_minor_required, and "abi" in the note, to the minor that brought the function.
        """),
    .loading { trial in
      let note = try? PluginNote(of: ELFImage(trial.bytes), path: trial.path)
      let shape = LaboratoryTable.Shape(minor: UInt16(clamping: note?.abi.minor ?? 0))
      for interceptor in try trial.interceptors(of: trial.library(host: shape)) { try interceptor.exercise() }
    })
}
