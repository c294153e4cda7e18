extension Check {
  static let sy05 = Check(
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
