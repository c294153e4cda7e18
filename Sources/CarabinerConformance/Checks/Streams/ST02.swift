internal import CCarabiner
internal import CarabinerHost
internal import CarabinerWire

extension Check {
  static let st02 = Check(
    "ST02", level: 3, "keeps the order of results",
    page: Page(
      rule: "Results go on in the order they came, none twice, whether a stage replaces them or not.",
      reason: #"""
        A consumer applies patches and ticks one after the other. In another order they mean something else.
        """#,
      example: "state->held = result;  return CRB_DROP;          /* and stages it after the next one */",
      remedy: "Stage what was held before what came later."),
    .interceptor { trial in
      let count = trial.options.times(100, atLeast: 20)
      let exchange = Exchange("\(count) numbered results") {
        $0.results = (0..<count).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.kind == .graphQL && stage.mutates.contains(.json) {
        let numbers = trial.travel([exchange], stage, instance)[0].elements.compactMap {
          (try? JSONValue(parsing: $0.bytes))?["data"]?["tick"]?.int
        }
        for (earlier, later) in zip(numbers, numbers.dropFirst()) where earlier >= later {
          return trial.notes.fail("result \(later) goes outward after result \(earlier)", at: trial.interceptor.id)
        }
      }
    })
}
