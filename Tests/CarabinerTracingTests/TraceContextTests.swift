import Testing

@testable import CarabinerTracing

/// W3C Trace Context in the header fields of a request.
@Suite("trace context")
struct TraceContextTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"

  @Test(
    "a field is read, and of later versions the parts that this version defines",
    arguments: [
      ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-03", true),
      ("cc-\(trace)-\(span)-01", true), ("cc-\(trace)-\(span)-00-what-comes", false),
    ])
  func read(_ text: String, _ isSampled: Bool) throws {
    let parent = try #require(TraceParent(text))
    #expect(parent.traceID.description == Self.trace)
    #expect(parent.spanID.description == Self.span)
    #expect(parent.isSampled == isSampled)
    #expect(parent.description == "00-\(Self.trace)-\(Self.span)-\(isSampled ? "01" : "00")")
  }

  @Test(
    "a malformed field is none",
    arguments: [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-0g", "00-\(trace)-\(span)-01-more",
      "00-\(trace)-\(span)-01 ", "ff-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01x", "0x-\(trace)-\(span)-01",
      "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-\(String(repeating: "0", count: 16))-01",
      "00-\(trace.uppercased())-\(span)-01", "00_\(trace)_\(span)_01", "00-\(trace.dropLast())-\(span)0-01",
      "00-\(trace)-\(span.dropLast())é-01",
    ])
  func malformed(_ text: String) { #expect(TraceParent(text) == nil) }

  @Test("entries of tracestate are joined and passed on unchanged")
  func state() throws {
    #expect(TraceState(["a=1, b@c=x y", "", "\td/e=!"])?.text == "a=1,b@c=x y,d/e=!")
    for malformed in ["a", "=1", "A=1", "a=", "a=1=2", "a=é", "a=1,b", "\(String(repeating: "k", count: 257))=1"] {
      #expect(TraceState([malformed]) == nil, "\(malformed)")
    }
    #expect(TraceState([]) == nil)
    #expect(TraceState([" , "]) == nil)
    #expect(TraceState([(0..<33).map { "k\($0)=v" }.joined(separator: ",")]) == nil)
  }

  @Test("if tracestate is too long, long entries are dropped first, then the last ones")
  func longState() throws {
    let long = "long=\(String(repeating: "x", count: 200))"
    let short = (0..<30).map { "k\($0)=\(String(repeating: "v", count: 10))" }
    let text = try #require(TraceState([([long] + short).joined(separator: ",")])).text
    #expect(text == short.joined(separator: ","))
    let many = (0..<30).map { "k\($0)=\(String(repeating: "v", count: 30))" }
    let kept = try #require(TraceState([many.joined(separator: ",")])).text
    #expect(kept.utf8.count <= TraceState.maximumBytes)
    #expect(many.joined(separator: ",").hasPrefix(kept + ","))
  }

  @Test("ids differ, and are written with all their digits")
  func identifiers() {
    let ids = (0..<1000).map { _ in SpanID.random() }
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { $0.description.utf8.count == 16 })
    #expect(SpanID(1)?.description == "0000000000000001")
    #expect(TraceID(high: 0, low: 255)?.description == "000000000000000000000000000000ff")
    #expect(TraceID(high: 0, low: 0) == nil)
  }

  // MARK: Sampling

  private static func parent(_ isSampled: Bool) -> TraceParent? {
    TraceParent("00-\(trace)-\(span)-\(isSampled ? "01" : "00")")
  }

  @Test(
    "a sampler follows the parent's decision, or uses its own share",
    arguments: [
      (true, 0, true, true), (true, 1, false, false), (false, 1, false, true), (false, 0, true, false),
    ] as [(Bool, Double, Bool, Bool)])
  func following(_ follows: Bool, _ share: Double, _ isSampled: Bool, _ isRecorded: Bool) {
    let sampler = TraceSampler(followsParent: follows, share: share)
    let context = sampler.context(of: Self.parent(isSampled), state: { nil })
    #expect((context != nil) == isRecorded)
    #expect(context?.isSampled ?? true)
    #expect(context.map { $0.spanID == Self.parent(true)?.spanID } ?? true)
  }

  @Test("about the share of new traces is recorded, and the decision depends only on the id")
  func share() {
    #expect(TraceSampler(share: 0).context(of: nil, state: { nil }) == nil)
    #expect(TraceSampler(share: 1).context(of: nil, state: { nil }) != nil)
    let sampler = TraceSampler(share: 0.25)
    let ids = (0..<4000).map { _ in TraceID.random() }
    let recorded = ids.filter(sampler.includes)
    // A tolerance of twelve standard deviations.
    #expect((650...1350).contains(recorded.count), "\(recorded.count) of 4000")
    #expect(recorded.allSatisfy(TraceSampler(share: 0.5).includes))
  }
}
