extension Check {
  static let exports = Check(
    "SY01", level: 5, "exports the entry function and nothing else",
    page: Page(
      rule: """
        The only symbol that a plugin exports is `crb_entry_v1` (a plugin that serves several major versions also exports
        `crb_entry_vN`). Symbols that compilers add do not count: Swift's mangled names, and C++'s weak copies of templates of the
        standard library.
        """,
      reason: """
        All code in a process shares exported names. Two plugins that export a `log` or a `parse` call each other's function, and
        the order of loading decides which one.
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
      guard let entry = exported.first(where: { isEntry($0.name) }) else {
        return trial.notes.fail("it does not export crb_entry_v1; declare the function with CRB_EXPORT")
      }
      guard entry.isFunction else {
        return trial.notes.fail("its symbol \(entry.name) is data; declare a function of this name with CRB_EXPORT")
      }
      // SY02 and SY07 report unique symbols and allocators.
      let others = exported.filter { symbol in
        !isEntry(symbol.name) && !isOfALanguage(symbol) && symbol.binding != SharedObject.Binding.unique
          && !AllocatorSymbol.contains(symbol.name)
      }.map(\.name).sorted()
      guard !others.isEmpty else { return }
      trial.notes.fail(
        "it exports \(others.count) names beside its entry: \(others.prefix(8).joined(separator: ", "))"
          + (others.count > 8 ? ", …" : ""))
    })

  static func isEntry(_ name: String) -> Bool {
    name.hasPrefix("crb_entry_v") && name.utf8.dropFirst(11).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Whether a linker or compiler added the symbol: bounds of sections, Swift's mangled names, Rust's exception personality,
  /// and weak copies of symbols of namespace std, which libstdc++ exports in spite of compiler flags.
  private static func isOfALanguage(_ symbol: SharedObject.Symbol) -> Bool {
    let name = symbol.name
    if symbol.binding == SharedObject.Binding.weak, name.hasPrefix("_Z") {
      // `_ZTS`, the prefix of type names, is removed as a whole. Otherwise its S would remain before `St`, the mangled namespace
      // std.
      let rest = name.dropFirst(name.hasPrefix("_ZTS") ? 4 : 2).drop { "ZNKTVILGRtv0123456789".contains($0) }
      if rest.hasPrefix("St") || rest.hasPrefix("Sa") || rest.hasPrefix("Ss") || rest.contains("__gnu_cxx") { return true }
    }
    return ["_init", "_fini", "__bss_start", "_edata", "_end", "rust_eh_personality"].contains(name) || name.hasPrefix("$s")
      || name.hasPrefix("__swift_") || name.hasPrefix("_swift_") || name.hasPrefix("__start_swift")
      || name.hasPrefix("__stop_swift")
  }
}

extension Check {
  static let processWideNames = Check(
    "SY02", level: 3, "has no symbols that are unique in the whole process",
    page: Page(
      rule: "No symbol has the binding STB_GNU_UNIQUE.",
      reason: """
        The dynamic linker keeps one copy of such a symbol in the process, even of libraries loaded with RTLD_LOCAL. Two plugins,
        or two versions of one, then share a static variable. g++ makes the static variables of inline functions and templates
        unique.
        """,
      example: """
        inline registry &instance() { static registry it; return it; }      // g++: STB_GNU_UNIQUE
        """,
      remedy: """
        g++ -fno-gnu-unique -fvisibility=hidden -fvisibility-inlines-hidden …

        clang++ never makes them.
        """),
    .file { trial in
      let unique = try trial.object().symbols.filter { $0.isDefined && $0.binding == SharedObject.Binding.unique }.map(\.name)
        .sorted()
      guard let first = unique.first else { return }
      trial.notes.fail(
        "\(unique.count) of its symbols are unique in the whole process (STB_GNU_UNIQUE), such as \(first); compile with -fno-gnu-unique"
      )
    })
}

extension Check {
  static let allocatorSymbols = Check(
    "SY07", level: 3, "keeps its allocator to itself",
    page: Page(
      rule: """
        The library exports neither malloc, free and related functions nor the operators new and delete of C++.
        """,
      reason: """
        The dynamic linker finds allocators by name, for the whole process. An exported allocator may serve a block that other
        code later passes to another allocator's free().
        """,
      example: "cc -shared -fPIC -o plugin.so plugin.c libjemalloc_pic.a",
      remedy: """
        cc -shared -fPIC -fvisibility=hidden -Wl,--exclude-libs,ALL -o plugin.so plugin.c libjemalloc_pic.a

        or give the allocator names of its own (jemalloc: --with-jemalloc-prefix).
        """),
    .file { trial in
      let exported = try trial.object().symbols.filter { symbol in
        symbol.isDefined && symbol.binding != SharedObject.Binding.local && AllocatorSymbol.contains(symbol.name)
      }
      guard !exported.isEmpty else { return }
      trial.notes.fail(
        "it exports \(exported.map(\.name).sorted().joined(separator: ", ")); hide them with -Wl,--exclude-libs,ALL")
    })
}
