internal import CarabinerBridge

extension Check {
  static let leftProcesses = Check(
    "PR01", level: 3, "leaves no processes",
    page: Page(
      rule: "When the process ends, no process that the plugin started is alive.",
      reason: "A process that outlives its host keeps ports, files and memory without an owner.",
      example: "if (fork() == 0) execl(\"/usr/bin/collector\", \"collector\", NULL);",
      remedy: """
        Start no processes. If you must, declare it, wait for them in destroy(), and set PR_SET_PDEATHSIG, so that the kernel ends
        them with the host.
        """
    ),
    .interceptor { try $0.exercise() })
}

extension Check {
  static let hostDescriptors = Check(
    "PR02", level: 3, "writes to no descriptor it did not open, and closes none",
    page: Page(
      rule: """
        The plugin writes only to descriptors that it has opened, and closes only those. Descriptors of the host, including 0, 1
        and 2, stay open on the same files, with the same flags.
        """,
      reason: """
        The kernel reuses descriptor numbers at once: number 3 is a log file now, and the socket of a client later. If descriptor
        0 is closed, the next socket gets the number 0, and code that reads standard input reads from it.
        """,
      example: "for (int fd = 3; fd < 1024; fd++) close(fd);",
      remedy: "Log with host->log(). Keep the numbers that open() and socket() returned, and close only those."),
    .loading { loading in
      let output = PrintedOutput()
      var trials: [InterceptorTrial] = []
      do { trials = loading.interceptors(of: try loading.library()) } catch {
        _ = output.finish()
        throw error
      }
      judge(output, "while it is loaded", loading.notes)
      for trial in trials {
        let before = ProcessSnapshot.now
        let output = PrintedOutput()
        defer { judge(output, "in its calls", loading.notes) }
        try trial.exercise(Exchange.usual + Exchange.varied(trial.words))
        for lost in ProcessSnapshot.now.lostDescriptors(since: before)
        where !lost.hasPrefix("descriptor 1 ") && !lost.hasPrefix("descriptor 2 ") {
          trial.notes.fail(lost, at: trial.interceptor.id)
        }
      }
    })

  /// Reports what the plugin has written to descriptors 1 and 2.
  private static func judge(_ output: PrintedOutput, _ moment: String, _ notes: TrialNotes) {
    for (number, bytes) in zip(1..., output.finish()) where !bytes.isEmpty {
      notes.fail(
        "\(moment) it writes to descriptor \(number), which belongs to the host: \(String(decoding: bytes.prefix(60), as: UTF8.self).debugDescription)"
      )
    }
  }
}

extension Check {
  static let forbiddenSystemCalls = Check(
    "PR03", level: 3, "makes no system call that plugins may not make",
    page: Page(
      rule: """
        The plugin makes no system call that the harness refuses. A plugin may use memory, threads, files of its own, time and everything
        that changes only its process. The harness refuses calls that reach beyond the process: sockets, io_uring, other programs,
        namespaces, signals and limits of other processes, modes and owners of files, keys, shared memory of other processes, the clock.
        The call breaks the rule also if the plugin ignores the error, and also in a constructor, on a thread, or in a copy of the process.

        Some refused calls break no rule, because libc and run times make them on their own and continue without them: advice about
        memory and files (fadvise64, mlock, mbind), newer forms of allowed calls (clone3, preadv2, futex_waitv, copy_file_range), and
        questions about the process itself (getxattr, sched_getattr, PR_SET_VMA). The same is true of calls by which a process signals,
        limits or schedules itself, and of memory that the harness cannot limit (MAP_SHARED with MAP_ANONYMOUS). A call that is newer than
        this harness is a warning.

        A plugin that must have a connection of its own declares it: "capabilities":["socket"]. socket() is refused all the same, so
        that the checks show what the plugin does without a network, but it breaks no rule.

        A look-up of a user, a group or a host name counts: libc opens a socket for it. Files are not part of this check. Landlock
        refuses to open them, and does not report it.
        """,
      reason: """
        A host has no walls like those of the harness. A call that fails here succeeds there: it connects, starts a program, or changes
        what belongs to others, and the operator sees nothing of it.
        """,
      example: """
        int s = socket(AF_UNIX, SOCK_STREAM, 0);
        if (s >= 0 && connect(s, …) == 0) report(s);                                /* no error if it fails */
        """,
      remedy: """
        Remove the call. Ask a server with the extension crb.fetch, which has limits and shows in metrics. Log with host->log(). Look up
        users and names before the host starts, and pass them in the configuration.
        """),
    .interceptor { trial in
      guard RefusedCalls.areCounted else {
        throw TrialNotes.Skip("this system has no filter of system calls (seccomp), so none is refused")
      }
      try trial.exercise()
    })
}
