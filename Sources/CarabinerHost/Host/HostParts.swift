internal import CarabinerBridge
internal import CarabinerGateway
internal import CarabinerManifest
internal import Logging

/// Creates the parts of a host in order.
struct HostParts: Sendable {
  let output: HostOutput
  let counters = ChainCounters()
  let recorder: Recorder?
  let stateFolder: StateFolder?
  let live: GenerationManager
  let reloader: Reloader

  init(_ origin: ManifestOrigin, _ configuration: PluginHost.Configuration) throws {
    let output = HostOutput(
      logger: configuration.logger, secrets: configuration.secrets ?? SecretRegister(), warning: configuration.warning)
    self.output = output
    if configuration.startsFromLastGood, configuration.stateDirectory == nil {
      throw ServerError.invalid("startsFromLastGood needs a stateDirectory")
    }
    // The folder is locked first, before any file that another host may use is changed, such as its record.
    stateFolder = try configuration.stateDirectory.map { try StateFolder($0, inherited: configuration.stateLock) }
    recorder = try configuration.record.map { try Recorder(path: $0.path, maximumBytes: $0.maximumBytes, output: output) }
    // Installed before any plugin is loaded. The file for its reports is set as soon as it is known.
    if configuration.installsCrashReporter { try CrashReporter.install() }
    let source = GenerationSource(origin: origin, configuration: configuration, observer: counters, output: output)
    let first = try source.first()
    if configuration.installsCrashReporter, let crashLoop = first.crashLoop {
      try CrashReporter.install(recordingTo: crashLoop.recordPath)
    }
    live = GenerationManager(
      first, recorder: recorder, timings: StageTimings(interval: configuration.timingInterval), output: output)
    reloader = Reloader(live, source)
    reloader.keep(first)
    reloader.notifySource(.accepted, of: first.published, first)
  }
}
