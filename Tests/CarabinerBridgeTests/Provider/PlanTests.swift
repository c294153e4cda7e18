import Carabiner
import CarabinerManifest
import Testing

@testable import CarabinerProvider

@Suite("Compiled plans")
struct PlanTests {
  private func chain() throws -> HostedChain {
    try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          rules:
            - {when: {operation: Get*}, chain: {graphql: []}}
            - {when: {operation: GetBook}, chain: {cache: []}}
            - {when: {type: mutation}, chain: {graphql: [max-retry]}}
          """))
  }

  @Test("operations that no rule distinguishes share one plan, however many names clients choose")
  func sharedPlans() throws {
    let chain = try chain()
    let (other, get) = (chain.compiled("Other", .query), chain.compiled("GetOther", .query))
    #expect(other !== get)
    for number in 0..<5000 {
      #expect(chain.compiled("Other\(number)", .query) === other)
      #expect(chain.compiled("GetOther\(number)", .query) === get)
    }
    #expect(chain.compiled(nil, .query) === other)
    #expect(chain.compiled(nil, .subscription) === other)
  }

  @Test("operations that a rule distinguishes have separate plans")
  func ownPlans() throws {
    let chain = try chain()
    let plans = [
      chain.compiled("Other", .query), chain.compiled("GetBook", .query), chain.compiled("GetOther", .query),
      chain.compiled("Other", .mutation), chain.compiled("GetOther", .mutation),
    ]
    #expect(Set(plans.map(ObjectIdentifier.init)).count == 4)
    // The first rule that names a list applies.
    #expect(plans[2] === plans[4])
  }

  @Test("a plan is compiled again after an override has changed")
  func changes() throws {
    let chain = try chain()
    let (other, get) = (chain.compiled("Other", .query), chain.compiled("GetOther", .query))
    try chain.setOverrides(StageOverrides())
    #expect(chain.compiled("Other", .query) !== other)
    #expect(chain.compiled("GetOther", .query) !== get)
  }
}
