extension Check {
  static let sharedBuffers = Check(
    "SY10", level: 4, "imports no function of libc that keeps data between calls",
    page: Page(
      rule: """
        The library imports none of strtok, localtime, gmtime, ctime, asctime, ecvt, fcvt, getpwnam, gethostbyname, hcreate, lgamma,
        tmpnam and related functions. Each import is a failure.
        """,
      reason:
        "They keep their data in one place for the whole process. Another thread overwrites it between two lines of the plugin.",
      example: #"for (char *tag = strtok(text, ","); tag; tag = strtok(NULL, ","))"#,
      remedy:
        "Use the functions with a place of your own: strtok_r, localtime_r, gmtime_r, getpwnam_r, getaddrinfo, hcreate_r, lgamma_r."
    ),
    .file { trial in
      let imports = Set(try trial.object().symbols.filter { !$0.isDefined }.map(\.name))
      for name in names.intersection(imports).sorted() where !trial.options.capabilities.contains(name) {
        trial.notes.fail(
          "it imports \(name), which keeps data for all threads of the process; use a function with a place of your own")
      }
    })

  private static let names: Set<String> = [
    "strtok", "localtime", "gmtime", "ctime", "asctime", "ecvt", "fcvt", "getpwnam", "getpwuid", "getgrnam", "getgrgid",
    "gethostbyname", "gethostbyaddr", "getservbyname", "getprotobyname", "hcreate", "hsearch", "lgamma", "tmpnam", "tempnam",
    "ttyname", "getlogin", "crypt", "l64a", "drand48", "lrand48", "mrand48",
  ]
}
