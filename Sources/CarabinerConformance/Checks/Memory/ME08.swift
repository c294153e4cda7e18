internal import CLaboratory
internal import CarabinerHost
internal import Glibc

extension Check {
  static let me08 = Check(
    "ME08", level: 8, "survives malloc() answering NULL",
    page: Page(
      rule: """
        When every n-th allocation of the plugin's own fails, for n from 1 to 16, it fails what it was doing and does not crash. A crash is a
        warning. Rust ends the process by itself when memory is out, and Swift and C++ allocate in their run times: they are not asked.
        """,
      reason: "Containers have limits, and malloc() says so. The first NULL that is written to ends all requests of the process.",
      example: "*state = malloc(sizeof(entry)); ((entry *)*state)->count = 0;",
      remedy: "if (!(*state = calloc(1, sizeof(entry)))) return CRB_FAIL;"),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard !SharedObject.isRust(trial.bytes) else {
        throw TrialNotes.Skip("Rust's run time ends the process when memory is out")
      }
      guard let code = unsafe trial.stages.first?.code, unsafe CLaboratory_watchAllocations(code) > 0 else {
        throw TrialNotes.Skip("it imports no allocator of libc")
      }
      for interval in 1...trial.options.times(16, atLeast: 8) {
        LaboratoryRecord.note("every \(interval)th allocation fails", inHook: false)
        let status = Self.runApart {
          CLaboratory_failAllocations(UInt64(interval))
          try? trial.exercise()
        }
        CLaboratory_failAllocations(0)
        // The low bits are the signal that ended it, if one did.
        guard status > 0, status & 0x7F != 0 else { continue }
        let signal = unsafe strsignal(status & 0x7F).map { unsafe String(cString: $0) } ?? "a signal"
        trial.notes.warn(
          "it crashes (\(signal)) when every \(interval)th allocation fails", at: LaboratoryRecord.hook ?? trial.interceptor.id)
        return
      }
    })

  /// Runs something in a copy of this process; how that ended, as waitpid() tells it.
  private static func runApart(_ body: () -> Void) -> Int32 {
    withoutActuallyEscaping(body) { body in
      var work = body
      return unsafe withUnsafeMutablePointer(to: &work) { pointer in
        unsafe CLaboratory_runApart(
          { context in unsafe context?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
      }
    }
  }
}
