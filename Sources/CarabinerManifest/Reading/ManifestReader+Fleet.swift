internal import CarabinerFleet
internal import CarabinerWire

/// The keys of `fleet`, whose values are a plan only if they fit together.
struct RolloutKeys: Sendable {
  fileprivate var stages = RolloutPlan.standard.stages
  fileprivate var hold = RolloutPlan.standard.hold
  fileprivate var failures = RolloutPlan.standard.failuresToHalt
  fileprivate var effect = RolloutPlan.standard.haltEffect
  fileprivate var promoter = RolloutPlan.standard.promoter

  static let fields = Fields(Self()) {
    $0.key(
      "stages", \.stages,
      .list(of: .stage, "a list of shares, as in [10%, 50%, 100%]", 1...RolloutPlan.maximumStages) {
        ($0 == 0 ? RolloutPlanFault.endsBeforeAll : .tooManyStages).description
      }, "The shares of the gateways that get the manifest, one after the other. They grow, and the last one is 100%.")
    $0.key(
      "hold", \.hold, .delay, "The time for which all gateways of a stage serve the manifest before the next stage begins.")
    $0.key(
      "halt-after", \.failures, .count(1...RolloutPlan.maximumFailures),
      "The number of gateways that fail with the manifest before the roll-out halts.")
    $0.key(
      "on-halt", \.effect, .word("is not an effect of a halt; use"),
      "The effect of a halt on gateways that serve the manifest: revert returns to the stable one, stay keeps it.")
    $0.key(
      "promote", \.promoter, .word("is not a party that promotes; use"),
      "The party that makes the manifest the stable one after the last stage: the gateways, or carabiner fleet promote.")
  }
}

extension ManifestReader {
  /// The plan of a roll-out; nil if it has a problem.
  mutating func fleet(_ json: JSONValue, _ pointer: JSONPointer) -> RolloutPlan? {
    let count = problems.count
    guard let keys = RolloutKeys.fields.read(json, pointer, &self), problems.count == count else { return nil }
    do throws(RolloutPlanFault) {
      return try RolloutPlan(
        stages: keys.stages, hold: keys.hold, failuresToHalt: keys.failures, haltEffect: keys.effect, promoter: keys.promoter)
    } catch {
      problem(.invalidValue, pointer.appending("stages"), error.description)
      return nil
    }
  }
}

extension ValueKind<Share> {
  fileprivate static var stage: Self {
    Self(
      #""type": "string", "pattern": "^(100([.]0{1,2})?|[0-9]{1,2}([.][0-9]{1,2})?)%$", "not": {"pattern": "^[0.]+%$"}"#,
      json: { .string($0.description) },
      read: { reader, json, place in
        if let share = json.string.flatMap({ Share($0) }) { return share }
        reader.problem(
          .invalidValue, place,
          "\(json) is not a share of the nodes; write a number above 0 and up to 100 with a per cent sign, as in 5% or 0.5%")
        return nil
      })
  }
}
