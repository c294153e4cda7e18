internal import Glibc

extension Check {
  static let ld03 = Check(
    "LD03", level: 1, "loads with every symbol resolved",
    page: Page(
      rule: "`dlopen` with RTLD_NOW succeeds: every function the plugin uses is in it, or in a library it names as needed.",
      reason: """
        With lazy binding a missing function kills the process on its first call, at an hour of its own choosing. Hosts load with
        RTLD_NOW, so such a plugin does not load at all.
        """,
      example: "cc -shared -fPIC -o plugin.so plugin.c             # uses HMAC() of libcrypto",
      remedy: """
        cc -shared -fPIC -Wl,-z,defs -o plugin.so plugin.c -lcrypto

        -z defs makes the linker refuse what would be missing later.
        """),
    .loading { trial in
      try trial.checkWhole()
      guard unsafe dlopen(trial.path, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) == nil else { return }
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
      trial.notes.fail("the dynamic linker refuses it: \(reason.replacingPrefix("\(trial.path): "))")
    })
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
