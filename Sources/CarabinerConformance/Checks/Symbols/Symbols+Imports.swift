extension Check {
  static let librarySearchPaths = Check(
    "SY05", level: 3, "looks for libraries only in folders of administrators",
    page: Page(
      rule: """
        RPATH and RUNPATH name only $ORIGIN and folders below it, and folders that only an administrator can write to: below /usr,
        /lib, /lib64 and /opt.
        """,
      reason: """
        The dynamic linker searches these paths before those of the system. If a path lies in /tmp or in a home folder, its owner
        can put code into every process that loads the plugin. A relative path depends on the folder in which the host was
        started. A build folder does not exist on other machines.
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
        The library imports none of exit, abort, fork, exec, system, popen, posix_spawn, dlopen, signal, sigaction, setenv,
        putenv, longjmp and related functions, unless the note declares it: "capabilities":["abort"]. Each undeclared import is a
        warning. abort is accepted in libraries that unwind stacks, because the run time of the language imports it.

        An import is only a warning, because the code that calls it may never run. The calls are failures: TH09 reports a changed
        environment, signal or priority, and LD11 reports a loaded library.
        """,
      reason: """
        The process belongs to the host and to all its plugins. exit() and abort() end all requests, setenv() races with every
        getenv() of other threads, a signal handler serves the whole process, and longjmp() abandons the frames of the host.
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
    ("loads code that no check has tested", ["dlopen", "dlmopen", "dlclose"]),
    (
      "changes what signals do to the whole process",
      ["signal", "sigaction", "sigset", "bsd_signal", "sigprocmask", "sigignore", "alarm", "setitimer"]
    ),
    ("changes the environment while other threads read it", ["setenv", "unsetenv", "putenv", "clearenv"]),
    (
      "abandons the frames of the host",
      ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "setcontext", "swapcontext"]
    ),
  ]

  static let all = groups.reduce(into: Set<String>()) { $0.formUnion($1.names) }

  static func effect(of name: String) -> String { groups.first { $0.names.contains(name) }?.effect ?? "" }
}

extension Check {
  static let platformBaseline = Check(
    "SY08", level: 3, "needs only libraries and symbols of the baseline",
    page: Page(
      rule: """
        Every needed library belongs to libc, libgcc, libstdc++, OpenSSL, zlib or Swift, and no symbol is newer than Debian 12:
        glibc 2.36, GLIBCXX_3.4.30, CXXABI_1.3.13. Others are declared in the note: "capabilities":["libsqlite3.so.0"] or
        ["GLIBC_2.38"].
        """,
      reason: """
        A plugin does not load on a machine that lacks a needed library or symbol version. The operator finds out, not the author.
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
