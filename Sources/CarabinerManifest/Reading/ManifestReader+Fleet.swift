internal import CarabinerFleet
internal import CarabinerWire

extension ManifestReader {
  private static let fleetKeys = ["stages", "hold", "halt-after", "on-halt", "promote"]

  /// The plan of a roll-out; nil if it has a problem.
  mutating func fleet(_ json: JSONValue, _ pointer: JSONPointer) -> RolloutPlan? {
    guard let object = object(json, pointer, knowing: Self.fleetKeys) else { return nil }
    let count = problems.count
    let standard = RolloutPlan.standard
    var (stages, hold, failures) = (standard.stages, standard.hold, standard.failuresToHalt)
    var (effect, promoter) = (standard.haltEffect, standard.promoter)
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "stages": stages = self.stages(value, place)
      case "hold": hold = duration(value, place, orZero: true) ?? hold
      case "halt-after": failures = self.count(value, place, 1...RolloutPlan.maximumFailures) ?? failures
      case "on-halt": effect = word(value, place, "an effect of a halt") ?? effect
      case "promote": promoter = word(value, place, "a party that promotes") ?? promoter
      default: break
      }
    }
    guard problems.count == count else { return nil }
    do throws(RolloutPlanFault) {
      return try RolloutPlan(
        stages: stages, hold: hold, failuresToHalt: failures, haltEffect: effect, promoter: promoter)
    } catch {
      problem(.invalidValue, pointer.appending("stages"), error.description)
      return nil
    }
  }

  private mutating func stages(_ json: JSONValue, _ pointer: JSONPointer) -> [Share] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of shares, as in [10%, 50%, 100%]")
      return []
    }
    guard entries.count <= RolloutPlan.maximumStages else {
      problem(.invalidValue, pointer, RolloutPlanFault.tooManyStages.description)
      return []
    }
    return entries.enumerated().compactMap { index, entry in
      guard let share = entry.string.flatMap({ Share($0) }) else {
        problem(
          .invalidValue, pointer.appending(index),
          "\(entry) is not a share of the nodes; write a number above 0 and up to 100 with a per cent sign, as in 5% or 0.5%")
        return nil
      }
      return share
    }
  }

  private mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ json: JSONValue, _ pointer: JSONPointer, _ meaning: String
  ) -> Word? {
    guard let word = json.string.flatMap(Word.init) else {
      let known = Word.allCases.map(\.rawValue).joined(separator: " or ")
      problem(.invalidValue, pointer, "\(json) is not \(meaning); use \(known)")
      return nil
    }
    return word
  }
}
