extension Check {
  static let pr03 = Check(
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
