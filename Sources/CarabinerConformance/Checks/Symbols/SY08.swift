extension Check {
  static let sy08 = Check(
    "SY08", level: 3, "asks for nothing that other machines lack",
    page: Page(
      rule: """
        Every library it needs is libc's, libgcc's, libstdc++'s, OpenSSL's, zlib's or Swift's, and no symbol is newer than Debian 12: glibc
        2.36, GLIBCXX_3.4.30, CXXABI_1.3.13. Others are declared in the note: "capabilities":["libsqlite3.so.0"] or ["GLIBC_2.38"].
        """,
      reason: """
        A plugin that needs a library, or a version of one, that is not there does not load, and the person who finds out is not the one
        who built it.
        """,
      example: "cc -shared -fPIC -o plugin.so plugin.c -lsqlite3 -luuid",
      remedy: """
        Build on the oldest system you support, in a container if need be, and link other libraries in:

        cc -shared -fPIC -Wl,--exclude-libs,ALL -o plugin.so plugin.c -l:libuuid.a
        """),
    .file { trial in
      let object = try trial.object()
      for library in object.needed
      where !PlatformBaseline.knows(library: library) && !trial.options.capabilities.contains(library) {
        trial.notes.fail("it needs \(library), which not every machine has; link it in, or declare it in the note's capabilities")
      }
      let versions = Set(object.symbols.filter { !$0.isDefined }.compactMap(\.version))
      for version in versions.sorted()
      where !PlatformBaseline.has(version: version) && !trial.options.capabilities.contains(version) {
        let names = object.symbols.filter { $0.version == version }.map(\.name).sorted()
        trial.notes.fail("it needs \(version) for \(names.prefix(3).joined(separator: ", ")), which is newer than Debian 12")
      }
    })
}
