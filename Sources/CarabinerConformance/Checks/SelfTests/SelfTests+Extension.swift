internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ownSelfTests = Check(
    "SF01", level: 3, "passes the tests it brings along",
    page: Page(
      rule: """
        An interceptor whose extension() answers a table for "crb.selftest/1" passes all tests of it, each with a fresh instance.
        """,
      reason: """
        What a stage is for only its author can test. Tests that travel with the file are run by everybody who judges it, on their machine
        and with their configuration, and not only where it was built.
        """,
      example: "return CRB_E_STATE;                        /* and nobody learns what was wrong */",
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
      guard let suite = try SelfTests(of: probe, trial) else { throw TrialNotes.Skip("it brings no tests along") }
      for number in 0..<suite.count { try suite.run(number) }
    })
}

/// The table of tests a plugin brings along.
@safe private struct SelfTests {
  /// More are not run: a count that was never set is a large one.
  private static let maximumCount: UInt32 = 10_000

  private let table: crb_selftest
  private let trial: InterceptorTrial

  var count: UInt32 { table.count }

  /// - Throws: ``TrialNotes/Skip`` after noting what is wrong with the table.
  init?(of instance: LaboratoryInstance, _ trial: InterceptorTrial) throws {
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
    LaboratoryRecord.note("its test \(name)", inHook: false)
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
