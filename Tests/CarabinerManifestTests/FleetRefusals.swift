import CarabinerManifest

extension Refusal {
  private static func fleet(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal("fleet: \(name)", "carabiner: 1\nfleet: \(text)", code, "/fleet\(pointer)", fragment)
  }

  /// All mistakes in `fleet`.
  static let fleets: [Refusal] = [
    .fleet("a list", "[10%]", .wrongType, "", "must be an object"),
    .fleet("an unknown key", "{stage: [10%]}", .unknownKey, "/stage", "(did you mean stages?)"),
    .fleet("stages as a text", "{stages: 10%}", .wrongType, "/stages", "a list of shares, as in [10%, 50%, 100%]"),
    .fleet("no stages", "{stages: []}", .invalidValue, "/stages", "add 100%"),
    .fleet("stages that do not grow", "{stages: [50%, 10%, 100%]}", .invalidValue, "/stages", "each stage must be larger"),
    .fleet("stages that are the same", "{stages: [50%, 50%, 100%]}", .invalidValue, "/stages", "each stage must be larger"),
    .fleet("stages that end early", "{stages: [10%, 99.99%]}", .invalidValue, "/stages", "add 100%"),
    .fleet(
      "too many stages", "{stages: [\((1...32).map { "\($0)%" }.joined(separator: ", ")), 100%]}", .invalidValue, "/stages",
      "at most 32 stages"),
    .fleet("a stage as a number", "{stages: [10, 100%]}", .invalidValue, "/stages/0", "write a number above 0 and up to 100"),
    .fleet("a stage of nothing", "{stages: [0%, 100%]}", .invalidValue, "/stages/0", "is not a share of the nodes"),
    .fleet("a stage above 100%", "{stages: [10%, 101%]}", .invalidValue, "/stages/1", "is not a share of the nodes"),
    .fleet("a stage with three digits", "{stages: [0.125%, 100%]}", .invalidValue, "/stages/0", "is not a share of the nodes"),
    .fleet("hold as a number", "{hold: 10}", .invalidValue, "/hold", "write it with a unit"),
    .fleet("a negative hold", "{hold: -1m}", .invalidValue, "/hold", "-1m"),
    .fleet("no failures", "{halt-after: 0}", .invalidValue, "/halt-after", "a whole number from 1 to 10000"),
    .fleet("failures as a share", "{halt-after: 5%}", .invalidValue, "/halt-after", "a whole number from 1 to 10000"),
    .fleet("another effect", "{on-halt: wait}", .invalidValue, "/on-halt", "use revert or stay"),
    .fleet("another party", "{promote: nobody}", .invalidValue, "/promote", "use nodes or operator"),
  ]
}
