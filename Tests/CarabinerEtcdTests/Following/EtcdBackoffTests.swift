import TestTools
import Testing

@testable import CarabinerEtcd

@Suite("Delays before a watch is begun again")
struct EtcdBackoffTests {
  @Test("100 ms are doubled up to 10 s, each 50 % longer or shorter at random, and begin again after a success", .rule("fleet.4"))
  func delays() {
    var generator = SeededGenerator(seed: 7)
    var seen: Set<Duration> = []
    for _ in 0..<200 {
      var backoff = EtcdBackoff(EtcdLimits())
      for base in [100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000] {
        let delay = backoff.delay(&generator)
        seen.insert(delay)
        #expect(delay >= .microseconds(base * 500) && delay <= .microseconds(base * 1500), "\(delay)")
      }
      backoff.reset()
      #expect(backoff.delay(&generator) <= .milliseconds(150))
    }
    #expect(seen.count > 1000)
  }

  @Test(
    "a view lacks a change that is newer, or a key that is deleted, unless the answer is older than the view", .rule("fleet.4"))
  func lag() throws {
    func found(_ revision: Int64, _ keys: [String: Int64]) throws -> EtcdTransaction {
      let values = keys.map { #"{"key":"\#(["a": "YQ==", "b": "Yg=="][$0] ?? "")","mod_revision":"\#($1)"}"# }.joined(
        separator: ",")
      return try EtcdTransaction(
        Array(#"{"header":{"revision":"\#(revision)"},"responses":[{"response_range":{"kvs":[\#(values)]}}]}"#.utf8))
    }
    let view = EtcdView(revision: 5, values: ["a": EtcdValue(key: "a", value: [], changed: 3)])
    #expect(try !view.lacksChanges(of: found(9, ["a": 3])))
    #expect(try view.lacksChanges(of: found(9, ["a": 8])))
    #expect(try view.lacksChanges(of: found(9, ["a": 3, "b": 7])))
    #expect(try view.lacksChanges(of: found(9, [:])))
    #expect(try !view.lacksChanges(of: found(4, [:])))
    #expect(try !view.lacksChanges(of: found(5, ["a": 3])))
  }

  @Test("at most one view and one failure wait for a slow reader, in their order", .rule("fleet.4"))
  func waiting() {
    let failure = EtcdReport.failure(EtcdError(.unavailable, "x"))
    var waiting: [EtcdReport] = []
    for revision in 1...3 {
      waiting.add(.view(EtcdView(revision: Int64(revision))))
      waiting.add(failure)
    }
    #expect(waiting == [.view(EtcdView(revision: 3)), failure])
    waiting.add(.view(EtcdView(revision: 4)))
    #expect(waiting == [failure, .view(EtcdView(revision: 4))])
  }
}
