internal import CarabinerHost

extension Check {
  static let pr02 = Check(
    "PR02", level: 3, "writes to no descriptor it did not open, and closes none",
    page: Page(
      rule: """
        The plugin writes only to descriptors it has opened itself, and closes only those. Those of the host, 0, 1 and 2 among them, stay open
        on the files they were open on, with the flags they had.
        """,
      reason: """
        Descriptor numbers are reused at once: number 3 is a log file now, and the socket of a customer's request a moment later. When 0 is
        closed, the next socket becomes 0, and is read by what reads standard input.
        """,
      example: "for (int fd = 3; fd < 1024; fd++) close(fd);",
      remedy: "Log with host->log(). Keep the numbers you were given by open() and socket(), and close those."),
    .interceptor { trial in
      let before = ProcessSnapshot.now
      try trial.exercise()
      for lost in ProcessSnapshot.now.lostDescriptors(since: before) { trial.notes.fail(lost, at: trial.interceptor.id) }
    })
}
