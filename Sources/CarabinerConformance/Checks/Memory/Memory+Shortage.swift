internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

extension Check {
  static let hostWithoutMemory = Check(
    "ME07", level: 6, "survives a host without memory",
    page: Page(
      rule: """
        If buf_alloc, buf_adopt, buf_slice or scratch answer 0 or NULL, every time, every second or every third time, the plugin
        fails the call or continues without the memory. It does not crash.
        """,
      reason: """
        Quotas are reached in production. A plugin that writes through NULL ends all requests of the process.
        """,
      example: "uint8_t *out; crb_buf b = host->buf_alloc(self, n, &out); memcpy(out, text, n);",
      remedy: "uint8_t *out; crb_buf b = host->buf_alloc(self, n, &out); if (!b) return CRB_FAIL;"),
    timeLimit: .seconds(120),
    .interceptor { trial in
      let slots: [HostSlot] = [.bufAlloc, .bufAdopt, .bufSlice, .scratch]
      func uses() -> Int { trial.testHost.state.withLock { state in slots.reduce(0) { $0 + (state.uses[$1] ?? 0) } } }
      let before = uses()
      for interval in 1...trial.options.times(7, atLeast: 3) {
        let instance = try trial.instance()
        defer { instance.destroy() }
        trial.testHost.state.withLock { state in
          for slot in slots { state.faults.fail(slot, with: Status.noMemory, every: interval) }
        }
        defer { trial.testHost.state.withLock { $0.faults.clear() } }
        FlightRecord.note("every \(interval)th allocation of the host fails", inHook: false)
        for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
      }
      if uses() == before { throw TrialNotes.Skip("it asks the host for no memory") }
    })
}

extension Check {
  static let failingMalloc = Check(
    "ME08", level: 8, "survives a failing malloc()",
    page: Page(
      rule: """
        If every n-th allocation of the plugin fails, for n from 1 to 16, the plugin fails its operation and does not crash. A
        crash is a warning. Rust ends the process when memory is out, and Swift and C++ allocate in their run times, so they are
        not checked.
        """,
      reason: """
        In a container with a memory limit malloc() can fail. A write through NULL ends all requests of the process.
        """,
      example: "*state = malloc(sizeof(entry)); ((entry *)*state)->count = 0;",
      remedy: "if (!(*state = calloc(1, sizeof(entry)))) return CRB_FAIL;"),
    timeLimit: .seconds(120),
    .interceptor { trial in
      guard !SharedObject.isRust(trial.bytes) else {
        throw TrialNotes.Skip("Rust's run time ends the process when memory is out")
      }
      guard let code = unsafe trial.stages.first?.code, unsafe CTestHost_watchAllocations(code) > 0 else {
        throw TrialNotes.Skip("it imports no allocator of libc")
      }
      for interval in 1...trial.options.times(16, atLeast: 8) {
        FlightRecord.note("every \(interval)th allocation fails", inHook: false)
        let status = ProcessCopy.run {
          CTestHost_failAllocations(UInt64(interval))
          try? trial.exercise()
        }
        CTestHost_failAllocations(0)
        // The low bits are the signal that ended it, if one did.
        guard status > 0, status & 0x7F != 0 else { continue }
        let signal = unsafe strsignal(status & 0x7F).map { unsafe String(cString: $0) } ?? "a signal"
        trial.notes.warn(
          "it crashes (\(signal)) when every \(interval)th allocation fails", at: FlightRecord.hook ?? trial.interceptor.id)
        return
      }
    })
}
