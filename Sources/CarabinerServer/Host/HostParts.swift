internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Logging

/// The parts of a host, made one after the other.
struct HostParts: Sendable {
  let output: HostOutput
  let counters = ChainCounters()
  let recorder: Recorder?
  let stateFolder: StateFolder?
  let live: GenerationManager
  let reloader: Reloader

  /// - Parameter path: The manifest; nil for one that says nothing.
  init(_ path: String?, _ configuration: PluginHost.Configuration) throws {
    let output = HostOutput(
      logger: configuration.logger, secrets: configuration.secrets ?? SecretRegister(), warning: configuration.warning)
    self.output = output
    if configuration.startsFromLastGood, configuration.stateDirectory == nil {
      throw ServerError.invalid("startsFromLastGood needs a stateDirectory")
    }
    // Before anything of another host is touched, as its record.
    stateFolder = try configuration.stateDirectory.map { try StateFolder($0) }
    recorder = try configuration.record.map { try Recorder(path: $0.path, maximumBytes: $0.maximumBytes, output: output) }
    // Before any plugin is loaded, without a record; with one as soon as it is known where.
    if configuration.installsCrashReporter { try CrashReporter.install() }
    let source = GenerationSource(path: path, configuration: configuration, observer: counters, output: output)
    let first = try source.first()
    if configuration.installsCrashReporter, let crashLoop = first.crashLoop {
      try CrashReporter.install(recordingTo: crashLoop.recordPath)
    }
    live = GenerationManager(
      first, recorder: recorder, timings: StageTimings(interval: configuration.timingInterval), output: output)
    reloader = Reloader(live, source)
    reloader.keep(first)
  }
}
