extension Check {
  static let sy06 = Check(
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
