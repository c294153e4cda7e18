extension Check {
  static let librarySearchPaths = Check(
    "SY05", level: 3, "looks for libraries only where nobody else can put some",
    page: Page(
      rule: """
        RPATH and RUNPATH name only $ORIGIN and folders below it, and folders only an administrator writes to: below /usr, /lib, /lib64
        and /opt.
        """,
      reason: """
        These paths come before the system's. One in /tmp or in somebody's home lets that somebody put code into every process that loads
        the plugin; one that is relative depends on the folder the host was started in; and a build folder is not there on other machines.
        """,
      example: "cc -shared -fPIC -Wl,-rpath,/home/me/build/lib -o plugin.so plugin.c -lthing",
      remedy: """
        cc -shared -fPIC -Wl,-rpath,'$ORIGIN' -o plugin.so plugin.c -lthing          # or link libthing.a

        A Swift toolchain in a home folder writes its own path; -Xswiftc -no-toolchain-stdlib-rpath leaves it out.
        """),
    .file { trial in
      for path in try trial.object().searchPaths where !isSafe(path) {
        trial.notes.fail(
          "it looks for libraries in \(path.isEmpty ? "the working directory (an empty path)" : path.debugDescription)")
      }
    })

  private static func isSafe(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard !parts.contains("..") else { return false }
    if ["$ORIGIN", "${ORIGIN}"].contains(parts.first) { return !path.hasPrefix("/") }
    return path.hasPrefix("/") && ["usr", "lib", "lib64", "opt"].contains(parts.first)
  }
}

extension Check {
  static let processImports = Check(
    "SY06", level: 4, "imports nothing that ends or changes the process",
    page: Page(
      rule: """
        None of exit, abort, fork, exec, system, popen, posix_spawn, dlopen, signal, sigaction, setenv, putenv, longjmp and their like is
        imported, unless the note declares it: "capabilities":["abort"]. Each one that is not declared is a warning. abort is let pass
        in libraries that unwind stacks, where the run time of the language brings it in.

        An import is only a warning, because the code that calls it may never run. The calls are failures: TH09 reports a changed environment,
        signal or priority, and LD11 a library that is loaded.
        """,
      reason: """
        The process belongs to the host, and other plugins are in it. exit() and abort() end all its requests, setenv() races with every
        getenv() in other threads, a signal's handler is one for all, and longjmp() leaves the host's frames in the middle.
        """,
      example: "if (!key) { fprintf(stderr, \"no key\\n\"); exit(1); }",
      remedy: """
        Answer CRB_E_INVAL from create() and fill `why`, or CRB_FAIL from a hook after set_error(). If there is no way around:

        CRB_DECLARE_NOTE("{\"id\":\"org.example.hello\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"dlopen\"]}");
        """),
    .file { trial in
      let imports = Set(try trial.object().symbols.filter { !$0.isDefined }.map(\.name))
      let unwinds = imports.contains { $0.hasPrefix("_Unwind_") }
      for name in ProcessImport.all.intersection(imports).subtracting(trial.options.capabilities).sorted() {
        if name == "abort", unwinds { continue }
        trial.notes.warn(
          "it imports \(name), which \(ProcessImport.effect(of: name)); declare it in the note's capabilities if it has to")
      }
    })
}

/// Functions of libc that reach beyond the plugin.
private enum ProcessImport {
  private static let groups: [(effect: String, names: Set<String>)] = [
    ("ends the process", ["exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "err", "errx", "verr", "verrx"]),
    (
      "starts or replaces processes",
      [
        "fork", "vfork", "_Fork", "clone", "system", "popen", "posix_spawn", "posix_spawnp", "execl", "execlp", "execle", "execv",
        "execvp", "execve", "execvpe", "fexecve", "daemon",
      ]
    ),
    ("loads code nobody has tested", ["dlopen", "dlmopen", "dlclose"]),
    (
      "changes what signals do to the whole process",
      ["signal", "sigaction", "sigset", "bsd_signal", "sigprocmask", "sigignore", "alarm", "setitimer"]
    ),
    ("changes the environment while other threads read it", ["setenv", "unsetenv", "putenv", "clearenv"]),
    (
      "leaves other people's frames in the middle",
      ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "setcontext", "swapcontext"]
    ),
  ]

  static let all = groups.reduce(into: Set<String>()) { $0.formUnion($1.names) }

  static func effect(of name: String) -> String { groups.first { $0.names.contains(name) }?.effect ?? "" }
}

extension Check {
  static let platformBaseline = Check(
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
