internal import ArgumentParser
internal import CarabinerConformance

/// The child process of ``ConformCommand``, which runs one check of one plugin. Not for users.
struct ConformTrialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "conform-trial", shouldDisplay: false)

  @Option var check: String
  @Option var plugin: String
  @Option var folder: String
  @Option var seed: UInt64
  @Option var effort: Double
  @Option var parent: Int32
  @Option var confine: Confinement
  @Option var isolation = TrialIsolation.inProcess
  @Option var config: String?
  @Option var allow: [String] = []
  @Option var file: [String] = []
  @Option var first = 0
  @Option var count = 0
  @Option var keep: [Int] = []
  @Option var lastExchange: Int?
  @Option var instruction: [UInt64] = []
  @Flag var keepNone = false
  @Flag var traced = false
  @Flag var impatient = false

  func validate() throws {
    let places = 0...FuzzOrder.maximumCount
    guard places.contains(first), places.contains(count) else { throw ValidationError("--first or --count is out of range") }
  }

  func run() throws {
    var options = TrialOptions(configuration: config, seed: seed, capabilities: Set(allow), effort: effort)
    options.cases = FuzzOrder(cases: first..<(first + count), kept: keepNone ? [] : keep.isEmpty ? nil : Set(keep))
    options.files = file
    options.lastExchange = lastExchange
    options.isTraced = traced
    options.isImpatient = impatient
    options.isolation = isolation
    options.confinement = confine
    var order = TrialProcess.Order(check: check, plugin: plugin, options: options, parent: parent, confinement: confine)
    order.instructions = instruction
    TrialProcess.run(order, in: folder)
  }
}
