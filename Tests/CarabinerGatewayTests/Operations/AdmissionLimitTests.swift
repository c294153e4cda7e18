import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("A reload changes the limits of operations")
struct AdmissionLimitTests {
  private func limits(_ most: Int, waiting: Int = 10, perClient: Int? = nil) -> GatewayLimits {
    var limits = GatewayLimits()
    (limits.maximumConcurrentOperations, limits.maximumWaitingOperations, limits.maximumOperationsPerClient) = (
      most, waiting, perClient
    )
    return limits
  }

  @Test("waiting operations begin at once if the limit grows, and fewer run after it shrinks", .rule("gateway.15"))
  func concurrent() {
    let begun = Atomic(0)
    let admission = Admission(limits(1))
    for _ in 0..<4 { _ = admission.enter("a") { begun.add(1, ordering: .relaxed) } }
    #expect(begun.load(ordering: .relaxed) == 1 && admission.load == (1, 3))
    admission.set(limits(3))
    #expect(begun.load(ordering: .relaxed) == 3 && admission.load == (3, 1))
    admission.set(limits(1))
    admission.leave("a")
    admission.leave("a")
    #expect(admission.load == (1, 1) && begun.load(ordering: .relaxed) == 3)
    admission.leave("a")
    #expect(admission.load == (1, 0) && begun.load(ordering: .relaxed) == 4)
    admission.leave("a")
    #expect(admission.load == (0, 0))
  }

  @Test("a limit per client that comes, goes and comes again never shuts a client out", .rule("gateway.15"))
  func perClient() {
    let admission = Admission(limits(10))
    func enter() -> Bool { if case .begun = admission.enter("a", begin: {}) { true } else { false } }
    #expect(enter() && enter())
    admission.set(limits(10, perClient: 1))
    #expect(enter() && !enter())
    for _ in 0..<3 { admission.leave("a") }
    #expect(enter() && !enter())
    admission.set(limits(10))
    #expect(enter())
    admission.set(limits(10, perClient: 1))
    for _ in 0..<2 { admission.leave("a") }
    #expect(enter() && !enter())
    admission.leave("a")
    #expect(enter())
  }
}
