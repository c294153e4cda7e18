extension Check {
  static let sy09 = Check(
    "SY09", level: 3, "has no functions that run while symbols are bound",
    page: Page(
      rule: """
        The library has no IFUNC: no function with a resolver, exported or not, unless the note declares it: "capabilities":["ifunc"].
        """,
      reason: """
        A resolver runs in the middle of relocation, before any constructor, under the dynamic linker's lock. Functions of libc it calls may not
        be bound yet. Nothing that looks at a library before and after it was loaded sees a file that a resolver opened and closed.
        """,
      example: """
        static int (*choose(void))(const void *) { FILE *cpu = fopen("/proc/cpuinfo", "r"); … return fast; }
        int digest(const void *) __attribute__((ifunc("choose")));
        """,
      remedy: """
        Choose an implementation in create(), or on first use with pthread_once() and a function pointer. Where a library that is linked in has
        resolvers that only ask the processor, declare them.
        """),
    .file { trial in
      guard !trial.options.capabilities.contains("ifunc") else { throw TrialNotes.Skip("it declares that it has resolvers") }
      let object = try trial.object()
      let names = object.symbols.filter { $0.isDefined && $0.isResolved }.map(\.name).sorted()
      let count = max(names.count, object.resolvedAtLoad)
      guard count > 0 else { return }
      let shown = names.isEmpty ? "" : ": \(names.prefix(3).joined(separator: ", "))"
      trial.notes.fail("it has \(count) functions with resolvers\(shown)")
    })
}
