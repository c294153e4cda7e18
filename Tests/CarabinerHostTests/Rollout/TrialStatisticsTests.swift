import CarabinerWire
import Testing

@testable import CarabinerHost

@Suite("The statistics of a trial")
struct TrialStatisticsTests {
  @Test("each client is counted once, up to a limit")
  func clients() {
    let statistics = TrialStatistics()
    for number in 0..<60 { statistics.saw(GenerationTrial.hash(of: "client \(number % 20)")) }
    #expect(statistics.summary.clients == 20)
    #expect(statistics.summary.json["clients"] == 20)
    for number in 0..<UInt64(TrialStatistics.maximumClients + 10) { statistics.saw(number) }
    #expect(statistics.summary.clients == TrialStatistics.maximumClients)
  }

  @Test("a key is on the same side of a share each time, and the share is kept")
  func share() {
    let keys = (0..<2000).map { "192.0.2.\($0)" }
    let taken = keys.filter { GenerationTrial.takes($0, share: 0.25) }
    #expect((400...600).contains(taken.count))
    #expect(taken.allSatisfy { GenerationTrial.takes(GenerationTrial.hash(of: $0), share: 0.3) })
  }
}
