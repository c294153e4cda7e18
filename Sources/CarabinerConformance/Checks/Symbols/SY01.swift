extension Check {
  static let sy01 = Check(
    "SY01", level: 5, "exports the entry function and nothing else",
    page: Page(
      rule: """
        The only symbol a plugin exports is `crb_entry_v1` (and, for a plugin that serves several majors, `crb_entry_vN`). What
        compilers put in by themselves does not count: Swift's mangled names, and C++'s weak copies of the standard library's templates.
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

        CRB_EXPORT puts the entry function in front of that. In Rust build a cdylib. In Swift mark C functions of your own with
        `__attribute__((visibility("hidden")))`.
        """),
    .file { trial in
      let exported = try trial.object().symbols.filter { $0.isDefined && $0.binding != SharedObject.Binding.local }
      guard exported.contains(where: { isEntry($0.name) }) else {
        return trial.notes.fail("it does not export crb_entry_v1; declare the function with CRB_EXPORT")
      }
      // Unique names and allocators are worse than other names, and have rules of their own: SY02 and SY07.
      let others = exported.filter { symbol in
        !isEntry(symbol.name) && !isOfALanguage(symbol) && symbol.binding != SharedObject.Binding.unique
          && !AllocatorSymbol.contains(symbol.name)
      }.map(\.name).sorted()
      guard !others.isEmpty else { return }
      trial.notes.fail(
        "it exports \(others.count) names beside its entry: \(others.prefix(8).joined(separator: ", "))"
          + (others.count > 8 ? ", …" : ""))
    })

  private static func isEntry(_ name: String) -> Bool {
    name.hasPrefix("crb_entry_v") && name.utf8.dropFirst(11).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// What linkers and compilers put in by themselves: bounds of sections, Swift's mangled names, Rust's exception personality, and
  /// weak copies of what is in namespace std, which libstdc++ makes visible whatever the compiler was told.
  private static func isOfALanguage(_ symbol: SharedObject.Symbol) -> Bool {
    let name = symbol.name
    if symbol.binding == SharedObject.Binding.weak, name.hasPrefix("_Z") {
      // The names of types begin with a letter that namespace std begins with as well.
      let rest = name.hasPrefix("_ZTS") ? name.dropFirst(4) : name.drop { "_ZNKTVILGRtv0123456789".contains($0) }
      if rest.hasPrefix("St") || rest.hasPrefix("Sa") || rest.hasPrefix("Ss") || rest.contains("__gnu_cxx") { return true }
    }
    return ["_init", "_fini", "__bss_start", "_edata", "_end", "rust_eh_personality"].contains(name) || name.hasPrefix("$s")
      || name.hasPrefix("__swift_") || name.hasPrefix("_swift_") || name.hasPrefix("__start_swift")
      || name.hasPrefix("__stop_swift")
  }
}
