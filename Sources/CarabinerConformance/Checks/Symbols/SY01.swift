extension Check {
  static let sy01 = Check(
    "SY01", level: 3, "exports the entry function and nothing else",
    page: Page(
      rule: """
        The only symbol a plugin exports is `crb_entry_v1` (and, for a plugin that serves several majors, `crb_entry_vN`). It counts as
        a failure from level 5 on.
        """,
      reason: """
        Names that are exported are shared by everything in a process. Two plugins that export a `log` or a `parse` take each other's,
        and which one wins depends on the order in which they were loaded.
        """,
      example: """
        cc -shared -fPIC -o plugin.so plugin.c            # every function that is not static is exported
        """,
      remedy: """
        cc -shared -fPIC -fvisibility=hidden -o plugin.so plugin.c

        CRB_EXPORT puts the entry function in front of that. In Rust build a cdylib; in Swift link with a version script, or accept the
        mangled names of your own module, which are let pass because they begin with the module's name.
        """),
    .file { trial in
      let exported = try trial.object().symbols.filter { $0.isDefined && $0.binding != 0 }.map(\.name)
      guard exported.contains(where: isEntry) else {
        return trial.notes.fail("it does not export crb_entry_v1; declare the function with CRB_EXPORT")
      }
      let others = exported.filter { !isEntry($0) && !isOfALanguage($0) }.sorted()
      guard !others.isEmpty else { return }
      trial.notes.fail(
        "it exports \(others.count) names beside its entry: \(others.prefix(8).joined(separator: ", "))"
          + (others.count > 8 ? ", …" : ""))
    })

  private static func isEntry(_ name: String) -> Bool {
    name.hasPrefix("crb_entry_v") && name.utf8.dropFirst(11).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// What linkers and compilers put in by themselves: bounds of sections, Swift's mangled names, Rust's exception personality.
  private static func isOfALanguage(_ name: String) -> Bool {
    ["_init", "_fini", "__bss_start", "_edata", "_end", "rust_eh_personality"].contains(name) || name.hasPrefix("$s")
      || name.hasPrefix("__swift_") || name.hasPrefix("_swift_") || name.hasPrefix("__start_swift")
      || name.hasPrefix("__stop_swift")
  }
}
