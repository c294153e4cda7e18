extension Check {
  static let sy02 = Check(
    "SY02", level: 3, "has no names that are one for the whole process",
    page: Page(
      rule: "No symbol is bound STB_GNU_UNIQUE.",
      reason: """
        The dynamic linker keeps one copy of such a name in the process, even of libraries loaded with RTLD_LOCAL: two plugins, or two
        versions of one, then share a static variable without knowing it. g++ makes the static variables of inline functions and
        templates unique.
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
        "\(unique.count) of its names are one for the whole process, such as \(first); compile with -fno-gnu-unique")
    })
}
