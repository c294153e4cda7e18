internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerDownloads
internal import CarabinerFiles
internal import CarabinerFleet
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerSources
internal import Foundation
internal import Logging
internal import UnixSignals

/// `carabiner serve`: a gateway whose requests pass the chain of a manifest.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve GraphQL requests through the chain of a manifest.",
    discussion: """
      The gateway serves GraphQL over HTTP at --path by POST and GET: single results, deferred results as multipart/mixed,
      subscriptions as multipart/mixed or text/event-stream, and graphql-transport-ws over WebSockets. GET /healthz answers ok
      while the process runs, and GET /readyz while load balancers should send requests.

      SIGHUP, `carabiner reload`, or with --watch a change of the files loads a new generation: the manifest is read, checked
      and loaded while the old generation serves. Then the new one takes over. Running operations end in the generation in which
      they started. If the new generation is refused, the old one continues, and the log shows the reason.

      At SIGTERM or Ctrl-C, /readyz answers with 503, and all requests are served for the time of --lame-duck. Then the listeners close,
      and running operations have the time of --drain to finish. A second signal ends the process at once.

      With -m etcd://HOST:PORT,HOST:PORT/PREFIX or -m https://HOST/chain.yaml, the manifest is read from etcd or a web server, and each
      change there loads a new generation. That needs --state, and --trust or --allow-unsigned. While the source is away, the manifest
      that serves stays, and a start uses the last good one.

      Headers of clients are sent to the upstream only if the manifest allows them: serve: {forward-headers: [authorization]}.
      Headers of the upstream are returned to clients only with serve: {return-headers: [x-cache]}.

      The gateway prints "listening ADDRESS" when it accepts connections, or with --log-format json an object with the address.
      Exit status: 0 after a normal end, 3 if the manifest or a plugin is refused, 4 if it cannot listen, or if the source of the manifest
      does not answer and there is no last good one.

      Example: carabiner serve -m chain.yaml --listen 127.0.0.1:4000 --admin unix:/run/carabiner.sock
      """)

  @OptionGroup var source: ManifestOptions
  @OptionGroup var remote: SourceOptions
  @OptionGroup var node: NodeOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var pluginCache: PluginCacheOptions
  @OptionGroup var limits: ServeLimits
  @OptionGroup var tracing: TracingOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "An address to listen on: HOST:PORT, unix:PATH or fd:NUMBER. May be repeated. Port 0 selects a free port.",
      valueName: "address"))
  var listen: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "An address that serves GET /metrics for Prometheus, and nothing else. May be repeated.", valueName: "host:port"))
  var metrics: [String] = []

  @Option(
    name: .long, help: ArgumentHelp("A socket for `carabiner status`, `reload` and other commands.", valueName: "unix:path"))
  var admin: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take over from the gateway with this admin socket: use its listening sockets, and end it once this one is ready. "
        + "Without --listen all of its addresses are taken.", valueName: "unix:path"))
  var takeOver: String?

  @Option(name: .long, help: "The URL of the GraphQL server. It overrides the manifest's endpoint.")
  var endpoint: String?

  @Option(
    name: .long, help: "The only path of the GraphQL endpoint. It replaces serve: {paths: …} of the manifest. (default: /graphql)"
  )
  var path: String?

  @Flag(name: .long, help: "Load a new generation when the manifest, a file it names, or a file that a plugin reads changes.")
  var watch = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write operations, responses of the upstream and results to a file, for carabiner replay. An existing file is renamed to FILE.1, and so on to FILE.9.",
      valueName: "file"))
  var record: String?

  @Option(name: .long, help: "The largest size of the record, such as 1GiB.", transform: size)
  var recordLimit = 1 << 30

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A folder for data that is kept between runs, such as crashes of plugins (settings: {crash-loop: …}), serials (--trust), and plugins that were downloaded.",
      valueName: "dir"))
  var state: String?

  @Flag(
    name: .long, help: "If the manifest or a plugin is refused at the start, serve the last manifest that worked. Needs --state.")
  var startFromLastGood = false

  @Flag(
    name: .long,
    help:
      "With -m etcd:// or https:// and without --trust: use the manifest although each user with write access to it can run code here."
  )
  var allowUnsigned = false

  @Flag(
    name: .long,
    help: "Switch off plugins that --revoked or the fleet's list names while they serve. Requests of a mandatory one get 500.")
  var enforceRevocation = false

  @Option(name: .long, help: ArgumentHelp("The certificate chain for TLS clients, in PEM. Needs --tls-key.", valueName: "file"))
  var tlsCertificate: String?

  @Option(name: .long, help: ArgumentHelp("The key of the first certificate, in PEM.", valueName: "file"))
  var tlsKey: String?

  @Option(name: .long, help: "The number of threads that read from clients.")
  var threads = 1

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time after SIGTERM or Ctrl-C in which all requests are still served, while /readyz answers with 503. Load balancers need it to "
        + "choose another gateway.", valueName: "duration"), transform: duration)
  var lameDuck: Duration = .zero

  @Option(
    name: .long,
    help: ArgumentHelp("The time that running operations have to finish after --lame-duck.", valueName: "duration"),
    transform: duration)
  var drain: Duration = .seconds(30)

  @Option(
    name: .long,
    help: ArgumentHelp("Time the stages of one in this many operations, for /metrics. 0 for none.", valueName: "number"))
  var timeStages = StageTimings.defaultInterval

  @OptionGroup var log: LogOptions
  @OptionGroup var probe: ProbeOptions

  /// Whether the manifest is in etcd.
  private var isOfFleet: Bool {
    if case .etcd? = source.path.flatMap({ try? ManifestAddress($0) }) { true } else { false }
  }

  func validate() throws {
    for text in listen where GatewayServer.Address(text) == nil {
      throw ValidationError("--listen takes HOST:PORT, unix:PATH or fd:NUMBER, not \(text.debugDescription)")
    }
    for text in metrics {
      guard case .tcp = GatewayServer.Address(text) else {
        throw ValidationError("--metrics takes HOST:PORT, not \(text.debugDescription)")
      }
    }
    if let admin { guard admin.hasPrefix("unix:/") else { throw ValidationError("--admin takes unix:/PATH") } }
    if let takeOver { guard takeOver.hasPrefix("unix:/") else { throw ValidationError("--take-over takes unix:/PATH") } }
    if let path, !ServePaths.isPath(path) || ServePaths.reserved.contains(path) {
      throw ValidationError(
        "--path takes a path that begins with / and is none of \(ServePaths.reserved.joined(separator: ", "))")
    }
    guard (tlsCertificate == nil) == (tlsKey == nil) else { throw ValidationError("--tls-certificate and --tls-key go together") }
    if enforceRevocation, trust.revoked == nil, trust.trust == nil || !isOfFleet {
      throw ValidationError("--enforce-revocation needs --revoked FILE, or a manifest from etcd with --trust FILE")
    }
    if let path = source.path, ManifestAddress.isRemote(path) {
      guard state != nil else {
        throw ValidationError("-m \(path.prefix { $0 != ":" })://… needs --state DIR for the last good manifest")
      }
      guard allowUnsigned || trust.trust != nil else {
        throw ValidationError(
          "-m \(path.prefix { $0 != ":" })://… needs --trust FILE, because each user with write access there can run code here; "
            + "--allow-unsigned accepts that")
      }
    }
    if allowUnsigned, trust.trust != nil { throw ValidationError("--allow-unsigned and --trust contradict each other; give one") }
    if startFromLastGood, state == nil { throw ValidationError("--start-from-last-good needs --state DIR") }
    guard (0...1_000_000).contains(timeStages) else { throw ValidationError("--time-stages takes a number from 0 to 1000000") }
    guard (1...64).contains(threads) else { throw ValidationError("--threads takes a number from 1 to 64") }
  }

  func run() async throws {
    do {
      try await serve()
    } catch let status as ExitStatus {
      throw status
    } catch let error as ServerError where error.code == .cannotListen {
      Terminal.complain("error: \(error); choose another with --listen, or --admin for its socket")
      throw ExitStatus.network
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func serve() async throws {
    // Trap signals first, so that those during the loading of plugins are not lost.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    try log.begin()
    let logger = Logger(label: "carabiner.serve")
    // This signal has its own task, because log files must also be reopened during a reload and at the end.
    let reopening = await UnixSignalsSequence(trapping: .sigusr1)
    let reopener = Task { for await _ in reopening { LogOptions.reopen(logger) } }
    defer { reopener.cancel() }
    // This check comes before any file is opened that a running gateway may use, such as its record.
    if let adminPath, admin != takeOver { try SoleServer.claim(adminSocket: adminPath) }
    let inheritance = try takeOver.map { try Inheritance(adminSocket: String($0.dropFirst("unix:".count))) }
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    let signalReader = Task { for await signal in signals { continuation.yield(.signal(signal)) } }
    defer { signalReader.cancel() }
    let traces = try tracing.export(logger)
    let host = try await PluginHost(manifestOrNone: source.path, try hostConfiguration(inheritance, logger))
    var configuration = try gatewayConfiguration(inheritance, traces, logger)
    configuration.onHandedOver = { continuation.yield(.handedOver) }
    if let inheritance { configuration.onReady = { try await Self.takeOver(from: inheritance, host) } }
    let gateway = try await Gateway(host: host, configuration: configuration).start()
    for address in gateway.addresses { Terminal.emit(log.logFormat.listening(address)) }
    ServiceManager.notify("READY=1\nSTATUS=\(Self.status(generation: 1))")
    let changes = host.events
    let statusWriter = Task { for await event in changes { Self.notifyStatus(after: event) } }
    let isHandedOver = await reloadUntilEnd(events, host)
    statusWriter.cancel()
    if !isHandedOver { ServiceManager.notify("STOPPING=1") }
    host.stopReloading()
    // The successor is a node with the same name. It takes part in roll-outs once this process has left the fleet.
    if isHandedOver { await host.leaveFleet() }
    takeSecondSignal()
    await gateway.shutDown(lameDuck: lameDuck, within: drain, isHandedOver: isHandedOver)
    await host.shutDown()
    log.finish()
    if host.unrecordedOperations > 0 {
      Terminal.complain(
        "warning: \(host.unrecordedOperations) operations are not in the record: the disk was too slow for them, or --record-limit reached"
      )
    }
  }

  // MARK: Parts

  private var adminPath: String? { admin.map { String($0.dropFirst("unix:".count)) } }

  /// An event that the gateway waits for.
  private enum Event: Sendable {
    case signal(UnixSignal)
    /// A successor has taken over.
    case handedOver
  }

  private func hostConfiguration(_ inheritance: Inheritance?, _ logger: Logger) throws -> PluginHost.Configuration {
    var configuration = PluginHost.Configuration(logger: logger)
    configuration.endpoint = endpoint
    configuration.probe = .init(executable: PluginProbe.ownExecutable, timeout: probe.probeTimeout)
    configuration.stateDirectory = state
    configuration.stateLock = inheritance?.stateLock
    configuration.startsFromLastGood = startFromLastGood
    configuration.trust = trust.policy
    configuration.source = try remote.settings()
    configuration.source.nodeName = try node.name()
    configuration.allowsUnsignedSource = allowUnsigned
    pluginCache.configure(&configuration)
    configuration.trust?.enforcesRevocation = enforceRevocation
    configuration.installsCrashReporter = true
    configuration.watchesFiles = watch
    configuration.timingInterval = timeStages
    configuration.record = record.map { ($0, recordLimit) }
    configuration.secrets = Terminal.secrets
    configuration.warning = { Terminal.complain("warning: \($0)") }
    return configuration
  }

  private func gatewayConfiguration(
    _ inheritance: Inheritance?, _ traces: TraceExport?, _ logger: Logger
  ) throws -> Gateway.Configuration {
    let source = try remote.settings()
    var configuration = Gateway.Configuration()
    configuration.addresses = listen
    configuration.inheritance = inheritance
    if listen.isEmpty, inheritance == nil {
      configuration.inherited = ServiceManager.sockets
    }
    configuration.metricsAddresses = metrics
    configuration.flags.path = path
    configuration.flags.limits = limits.given
    configuration.flags.areOfCommand = true
    configuration.flags.others = [
      EffectiveSetting(flag: "threads", "\(threads)", default: "1"),
      EffectiveSetting(flag: "lame-duck", DurationText.print(lameDuck), default: "0s"),
      EffectiveSetting(flag: "drain", DurationText.print(drain), default: "30s"),
      EffectiveSetting(flag: "watch", "\(watch)", default: "false"),
      EffectiveSetting(flag: "source-ca", source.authorityFile ?? "none", default: "none"),
      EffectiveSetting(flag: "source-certificate", source.certificateFile ?? "none", default: "none"),
      EffectiveSetting(flag: "source-key", source.keyFile ?? "none", default: "none"),
      EffectiveSetting(flag: "source-user", source.login?.user ?? "none", default: "none"),
      EffectiveSetting(flag: "source-password-file", source.login?.passwordFile ?? "none", default: "none"),
      EffectiveSetting(flag: "source-interval", DurationText.print(source.interval), default: "30s"),
      EffectiveSetting(flag: "source-timeout", DurationText.print(source.timeout), default: "5s"),
      EffectiveSetting(flag: "node-id", try node.name()?.description ?? "none", default: "none"),
      EffectiveSetting(flag: "allow-unsigned", "\(allowUnsigned)", default: "false"),
      EffectiveSetting(flag: "trust", trust.trust ?? "none", default: "none"),
      EffectiveSetting(flag: "trust-threshold", "\(trust.trustThreshold ?? 1)", default: "1"),
      EffectiveSetting(flag: "revoked", trust.revoked ?? "none", default: "none"),
      EffectiveSetting(flag: "enforce-revocation", "\(enforceRevocation)", default: "false"),
      EffectiveSetting(
        flag: "plugin-cache", pluginCache.pluginCache ?? state.map { "\($0)/plugins" } ?? "none",
        default: state.map { "\($0)/plugins" } ?? "none"),
      EffectiveSetting(
        flag: "plugin-cache-size", ByteSizeText.print(pluginCache.pluginCacheSize ?? DownloadLimits().maximumCacheBytes),
        default: "1GiB"),
      EffectiveSetting(flag: "time-stages", "\(timeStages)", default: "\(StageTimings.defaultInterval)"),
    ]
    LargeBlocks.returnToSystem()
    configuration.threads = threads
    configuration.lameDuckTime = lameDuck
    configuration.drainTime = drain
    if let tlsCertificate, let tlsKey { configuration.tls = .init(certificates: tlsCertificate, key: tlsKey) }
    configuration.adminSocket = adminPath
    configuration.accessLogger = log.accessLogger
    configuration.lostLogLines = { LineLogHandler.destinations.lostLines }
    configuration.traces = traces
    configuration.onEnding = { status, time in ServiceManager.notify(status: status, extendingBy: time) }
    return configuration
  }

  /// Makes the earlier gateway end. Called when this one listens at all of its addresses.
  private static func takeOver(from inheritance: Inheritance, _ host: PluginHost) async throws {
    // This comes first. Otherwise systemd would take the end of the earlier process for the end of the service.
    ServiceManager.notify("MAINPID=\(ProcessInfo.processInfo.processIdentifier)\nREADY=1")
    do {
      try inheritance.commit()
    } catch {
      ServiceManager.notify("MAINPID=\(inheritance.process)")
      throw error
    }
    host.noteStateLock()
  }

  /// - Returns: Whether a successor has taken over.
  private func reloadUntilEnd(_ events: AsyncStream<Event>, _ host: PluginHost) async -> Bool {
    for await event in events {
      guard case .signal(.sighup) = event else {
        if case .handedOver = event { return true }
        return false
      }
      ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(DispatchTime.now().uptimeNanoseconds / 1000)")
      let report = await host.reload(trigger: Self.signalTrigger)
      ServiceManager.notify("READY=1\nSTATUS=\(Self.status(generation: report.generation))")
    }
    return false
  }

  private static let signalTrigger = "SIGHUP"

  private static func status(generation: UInt64) -> String { "generation \(generation) serves" }

  /// Shows systemd the generation after a change that no signal has caused, such as `carabiner reload`.
  private static func notifyStatus(after event: GenerationEvent) {
    guard event.kind != .ended, event.trigger?.contains(signalTrigger) != true else { return }
    ServiceManager.notify("STATUS=\(status(generation: event.generation))")
  }

  private func takeSecondSignal() {
    // A second signal ends the process at once.
    signal(SIGTERM, SIG_DFL)
    signal(SIGINT, SIG_DFL)
    // A reload signal must not end the process while it drains.
    signal(SIGHUP, SIG_IGN)
  }
}

/// A duration with its unit.
func duration(_ text: String) throws -> Duration {
  do throws(MalformedQuantity) {
    return try DurationText.parse(text)
  } catch {
    throw ValidationError(error.description)
  }
}
