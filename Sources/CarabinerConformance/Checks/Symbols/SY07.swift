extension Check {
  static let sy07 = Check(
    "SY07", level: 3, "keeps its allocator to itself",
    page: Page(
      rule: "Neither malloc, free and their like nor C++'s operators new and delete are exported.",
      reason: """
        Allocators are found by their names, process-wide. One that is exported may serve a block that another allocator is asked to free
        later, in code that never heard of the plugin.
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
