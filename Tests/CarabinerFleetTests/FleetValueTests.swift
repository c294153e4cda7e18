import CarabinerFleet
import CarabinerWire
import TestTools
import Testing

@Suite("Values of a fleet's keys")
struct FleetValueTests {
  private static let id = CandidateID(manifest: Array("candidate".utf8))

  private func text(_ value: some FleetValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

  private func requireRoundTrip<Value: FleetValue>(_ value: Value) throws {
    #expect(try Value(parsing: value.bytes) == value, "\(text(value))")
    #expect(value.bytes.count <= Value.maximumBytes)
  }

  @Test(
    "a report has version, state, serving, candidate, generation, since and reason", .rule("fleet.12"),
    arguments: NodeReport.State.allCases)
  func report(state: NodeReport.State) throws {
    let record = NodeRecord(
      version: "2.1.0", state: state, serving: CandidateID(manifest: []), candidate: Self.id, generation: 7, since: 1_764_200_000,
      reason: "a reason")
    try requireRoundTrip(record)
    let json = try JSONValue(parsing: record.bytes)
    #expect(json.object?.keys == ["version", "state", "serving", "candidate", "generation", "since", "reason"])
    #expect(json["state"]?.string == state.rawValue && json["candidate"]?.string == "\(Self.id)")
    #expect(record.report == NodeReport(state, of: Self.id))
    try requireRoundTrip(NodeRecord(version: "", state: state, since: 0))
  }

  @Test(
    "a stage keeps each bit of its last place", .rule("fleet.12"), arguments: [0, 1, 0x0102_0304_0506_0708, UInt64.max - 1, .max])
  func stage(end: UInt64) throws {
    try requireRoundTrip(RolloutStage(3, end: end, fleet: 12))
    #expect(text(RolloutStage(1, end: 255, fleet: 0)) == #"{"stage":1,"end":"00000000000000ff","fleet":0}"#)
  }

  @Test("notes about a candidate, and halts of nodes and operators, are read back", .rule("fleet.12"))
  func marksAndHalts() throws {
    for mark in [TrialMark.trying(ends: 0), .trying(ends: 2), .serving(ends: 1), .failed("no"), .failed("")] {
      try requireRoundTrip(mark)
    }
    let node = try #require(NodeName("node-1"))
    for author in [RolloutHalt.Author.node(node), .operator, nil] {
      try requireRoundTrip(RolloutHalt(by: author))
      try requireRoundTrip(RolloutHalt(by: author, reason: "ü\n\u{1B}", failures: ["node-1": "crashed", "node-2": ""]))
    }
  }

  @Test("members of later versions are ignored, and missing ones have defaults", .rule("fleet.12"))
  func laterMembers() throws {
    let record = try NodeRecord(parsing: Array(#"{"state":"serving","new":{"a":[1]}}"#.utf8))
    #expect(record == NodeRecord(version: "", state: .serving, since: 0))
    #expect(try TrialMark(parsing: Array(#"{"state":"trying"}"#.utf8)) == .trying(ends: 0))
    #expect(try RolloutHalt(parsing: Array("{}".utf8)) == RolloutHalt(by: nil))
  }

  @Test("long texts are cut, so that a value stays below its limit", .rule("fleet.12"))
  func longTexts() throws {
    let long = String(repeating: "\u{1}", count: 100_000)
    let marks = String(repeating: "e\u{301}", count: 100_000)
    for text in [long, marks] {
      #expect(try NodeRecord(parsing: NodeRecord(version: text, state: .refused, since: 0, reason: text).bytes).state == .refused)
      #expect(try TrialMark(parsing: TrialMark.failed(text).bytes).isFailure)
      let failures = Dictionary(uniqueKeysWithValues: (0..<300).map { ("node-\($0)", text) })
      let halt = RolloutHalt(by: .operator, reason: text, failures: failures)
      #expect(try RolloutHalt(parsing: halt.bytes).failures.count == 100)
    }
  }

  @Test(
    "a damaged value is an error with the next step", .rule("fleet.12"),
    arguments: [
      "", "x", "[]", "1", "{}", #"{"state":"flying"}"#, #"{"state":1}"#, #"{"state":"serving","serving":"xyz"}"#,
      #"{"state":"serving","candidate":"0123456789ABCDEF"}"#, #"{"state":"serving","generation":-1}"#,
      #"{"state":"serving","generation":1e30}"#, #"{"state":"serving","since":"now"}"#,
      #"{"state":"serving","since":999999999999999}"#, #"{"state":"serving","a":[[[[[1]]]]]}"#,
      #"{"state":"serving","reason":["a"]}"#, "\u{FEFF}{\"state\":\"serving\"}",
      #"{"state":"serving","x":""# + String(repeating: "x", count: 9000) + #""}"#,
    ])
  func damagedReports(text: String) {
    let error = #expect(throws: FleetError.self) { try NodeRecord(parsing: Array(text.utf8)) }
    #expect(error?.code == .malformed && error?.message.contains("remove the key") == true)
  }

  @Test("damaged stages, notes and halts are errors", .rule("fleet.12"))
  func otherDamages() {
    for text in [
      "{}", #"{"stage":0,"end":"0000000000000000","fleet":1}"#, #"{"stage":33,"end":"0000000000000000","fleet":1}"#,
      #"{"stage":1,"end":"0","fleet":1}"#, #"{"stage":1,"end":0,"fleet":1}"#, #"{"stage":1,"end":"+000000000000000","fleet":1}"#,
      #"{"stage":1,"end":"0000000000000000","fleet":-1}"#, #"{"stage":1,"end":"0000000000000000"}"#,
    ] {
      #expect(throws: FleetError.self, "\(text)") { try RolloutStage(parsing: Array(text.utf8)) }
    }
    for text in ["{}", #"{"state":"trying","ends":-1}"#, #"{"state":"failed","reason":1}"#, #"{"state":"serving","ends":1.5}"#] {
      #expect(throws: FleetError.self, "\(text)") { try TrialMark(parsing: Array(text.utf8)) }
    }
    for text in ["null", #"{"by":1}"#, #"{"nodes":[]}"#, #"{"nodes":{"a":1}}"#, #"{"reason":{}}"#] {
      #expect(throws: FleetError.self, "\(text)") { try RolloutHalt(parsing: Array(text.utf8)) }
    }
  }

  @Test("random changes of values never end the process", .rule("fleet.12"), arguments: 1...20)
  func randomChanges(seed: UInt64) {
    var random = Seeded(state: seed)
    let values = [
      NodeRecord(version: "1", state: .serving, serving: Self.id, since: 5, reason: "r").bytes,
      RolloutStage(1, end: 77, fleet: 9).bytes, TrialMark.failed("why").bytes,
      RolloutHalt(by: .operator, reason: "r", failures: ["a": "b"]).bytes,
    ]
    for _ in 0..<500 {
      for value in values {
        var bytes = value
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        _ = try? NodeRecord(parsing: bytes)
        _ = try? RolloutStage(parsing: bytes)
        _ = try? TrialMark(parsing: bytes)
        _ = try? RolloutHalt(parsing: bytes)
      }
    }
  }
}
