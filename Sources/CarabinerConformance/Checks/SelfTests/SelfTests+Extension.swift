internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let ownSelfTests = Check(
    "SF01", level: 3, "passes its own self-tests",
    page: Page(
      rule: """
        If extension() answers a table for "crb.selftest/1", all its tests pass, each with a new instance.
        """,
      reason: """
        Only the author can test the purpose of a stage. Tests in the file also run on the machine of the operator, with the
        operator's configuration.
        """,
      example: "return CRB_E_STATE;                        /* without a message */",
      remedy: """
        static crb_status run(void *inst, uint32_t n, crb_error *why) {
          if (signature_matches()) return CRB_OK;
          why->message = text("the signature of \\"abc\\" is not that of RFC 4231");
          return CRB_E_STATE;
        }
        """),
    .interceptor { trial in
      let probe = try trial.instance()
      defer { probe.destroy() }
      guard let suite = try SelfTests(of: probe, trial) else { throw TrialNotes.Skip("it has no self-tests") }
      for number in 0..<suite.count { try suite.run(number) }
    })
}

/// The table of the self-tests of a plugin.
@safe private struct SelfTests {
  /// The maximum number of tests. A larger count was probably never set.
  private static let maximumCount: UInt32 = 10_000

  private let table: crb_selftest
  private let trial: InterceptorTrial

  var count: UInt32 { table.count }

  /// - Throws: ``TrialNotes/Skip`` after noting the fault of the table.
  init?(of instance: TestHostInstance, _ trial: InterceptorTrial) throws {
    guard let pointer = unsafe instance.extension("crb.selftest/1") else { return nil }
    self.trial = trial
    table = unsafe InterceptorTable.copy(pointer.assumingMemoryBound(to: crb_selftest.self), crb_selftest())
    guard unsafe table.name != nil, unsafe table.run != nil, table.count <= Self.maximumCount else {
      trial.notes.fail(
        "its table of tests has no name() or run(), is too small, or has \(table.count) tests, more than \(Self.maximumCount)",
        at: trial.interceptor.id)
      throw TrialNotes.Skip("its table of tests cannot be used")
    }
  }

  func run(_ number: UInt32) throws {
    let instance = try trial.instance()
    defer { instance.destroy() }
    let name = unsafe table.name?(number).map { unsafe String(cString: $0) } ?? "test \(number)"
    FlightRecord.note("its test \(name)", inHook: false)
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    let status = unsafe instance.use("self-test") { memory in unsafe table.run?(memory, number, &why) ?? Status.invalid }
    guard status != Status.ok, status != Status.unsupported else { return }
    let reason = unsafe why.message.text
    trial.notes.fail(
      "its test \(name.prefix(200).debugDescription) fails with \(status)\(reason.isEmpty ? "" : ": \(reason.prefix(500))")",
      at: trial.interceptor.id)
  }
}
