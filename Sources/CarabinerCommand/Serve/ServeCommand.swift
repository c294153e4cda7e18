internal import ArgumentParser
internal import Carabiner
internal import CarabinerFiles
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import UnixSignals

/// `carabiner serve`: a gateway whose requests go through the chain of a manifest.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Take GraphQL requests of others and run them through the chain of a manifest.",
    discussion: """
      Takes GraphQL over HTTP at --path: POST and GET, results whole, deferred results as multipart/mixed, subscriptions as
      multipart/mixed or text/event-stream, and graphql-transport-ws over WebSockets. GET /healthz answers ok while it serves.

      SIGHUP, `carabiner reload`, or with --watch a change of the files makes a new generation of the manifest: it is read, checked
      and loaded while the old one serves, and then takes over. What had begun ends in the generation it began in. If anything
      is wrong, the old generation goes on, and says why. SIGTERM and Ctrl-C let what is under way finish within --drain; a second
      one ends it at once.

      What clients send goes no further unless the manifest says so: serve: {forward-headers: [authorization]}, and back
      serve: {return-headers: [x-cache]}.

      Prints "listening ADDRESS" once it accepts connections, or with --log-format json an object with that address. Exit status: 0 after an orderly end, 3 if the manifest or a plugin is
      refused, 4 if it cannot listen.

      Example: carabiner serve -m chain.yaml --listen 127.0.0.1:4000 --admin unix:/run/carabiner.sock
      """)

  @OptionGroup var source: ManifestOptions
  @OptionGroup var limits: ServeLimits
  @OptionGroup var tracing: TracingOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where to listen: HOST:PORT, unix:PATH or fd:NUMBER; may be repeated. Port 0 takes any free one.", valueName: "address"))
  var listen: [String] = []

  @Option(name: .long, help: ArgumentHelp("A socket for `carabiner status`, `reload` and the like.", valueName: "unix:path"))
  var admin: String?

  @Option(name: .long, help: "Where the GraphQL server is; wins over the manifest's endpoint.")
  var endpoint: String?

  @Option(name: .long, help: "The path operations are taken at.")
  var path = "/graphql"

  @Flag(name: .long, help: "Make a new generation when the manifest, a file it names, or one that a plugin reads has changed.")
  var watch = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write operations, what the upstream answered and what came of it into a file, for carabiner replay. A file that is there becomes FILE.1, and so on to FILE.9.",
      valueName: "file"))
  var record: String?

  @Option(name: .long, help: "How long the record may become, as in 1GiB.", transform: size)
  var recordLimit = 1 << 30

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A folder for what outlives the process, as which plugins killed it (settings: {crash-loop: …}).", valueName: "dir"))
  var state: String?

  @Flag(name: .long, help: "If the manifest or a plugin is refused at the start, serve what served last; needs --state.")
  var startFromLastGood = false

  @Option(name: .long, help: ArgumentHelp("The certificates to show to TLS clients, in PEM; needs --tls-key.", valueName: "file"))
  var tlsCertificate: String?

  @Option(name: .long, help: ArgumentHelp("The key of the first certificate, in PEM.", valueName: "file"))
  var tlsKey: String?

  @Option(name: .long, help: "How many threads read from clients.")
  var threads = 1

  @Option(
    name: .long, help: ArgumentHelp("How long what is under way may take once it is told to end.", valueName: "duration"),
    transform: duration)
  var drain: Duration = .seconds(30)

  @Option(
    name: .long,
    help: ArgumentHelp("Of how many operations the stages of one are timed, for /metrics; 0 for none.", valueName: "number"))
  var timeStages = StageTimings.defaultInterval

  @OptionGroup var log: LogOptions
  @OptionGroup var probe: ProbeOptions

  func validate() throws {
    for text in listen where GatewayServer.Address(text) == nil {
      throw ValidationError("--listen takes HOST:PORT, unix:PATH or fd:NUMBER, not \(text.debugDescription)")
    }
    if let admin { guard admin.hasPrefix("unix:/") else { throw ValidationError("--admin takes unix:/PATH") } }
    guard path.hasPrefix("/"), !path.contains("?"), path != "/healthz" else {
      throw ValidationError("--path takes a path that begins with /")
    }
    guard (tlsCertificate == nil) == (tlsKey == nil) else { throw ValidationError("--tls-certificate and --tls-key go together") }
    if startFromLastGood, state == nil { throw ValidationError("--start-from-last-good needs --state DIR") }
    guard (0...1_000_000).contains(timeStages) else { throw ValidationError("--time-stages takes a number from 0 to 1000000") }
    guard (1...64).contains(threads) else { throw ValidationError("--threads takes a number from 1 to 64") }
  }

  func run() async throws {
    do {
      try await serve()
    } catch let status as ExitStatus {
      throw status
    } catch let error as GatewayServer.BindFailure {
      Terminal.complain("error: \(error); choose another with --listen, or --admin for its socket")
      throw ExitStatus.network
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func serve() async throws {
    // Signals that come while plugins are loaded are not lost.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    LineLogHandler.use(log.logFormat)
    let logger = Logger(label: "carabiner.serve")
    // Before anything of the other gateway's is touched, as its record.
    if let admin { try SoleServer.claim(adminSocket: String(admin.dropFirst("unix:".count))) }
    if let state { try SoleServer.claim(state: state) }
    let counters = ChainCounters()
    let source = GenerationSource(
      path: source.path, endpoint: endpoint, probeTimeout: probe.probeTimeout, state: state,
      observer: counters)
    let recorder = try record.map { try Recorder(path: $0, maximumBytes: recordLimit, logger: logger) }
    let traces = try tracing.export(logger)
    // Before any plugin is loaded, without a record; with one as soon as it is known where.
    try CrashReporter.install()
    let first = try first(of: source, logger)
    if let crashLoop = first.crashLoop { try CrashReporter.install(recordingTo: crashLoop.recordPath) }
    let live = LiveHost(first, recorder: recorder, timings: StageTimings(interval: timeStages), logger: logger)
    let certificate = try serverCertificate(logger)
    let reloader = Reloader(live, source, certificate)
    reloader.keep(first)
    let metrics = GatewayMetrics()
    let limits = DescriptorLimit.fitting(limits.gateway, logger)
    let operations = OperationService(
      path: path, limits: limits, runner: live, metrics: metrics,
      tracing: traces.map { RequestTracing($0.tracer, scheme: tlsKey == nil ? "http" : "https", redact: Terminal.redacted) },
      logger: logger, accessLogger: log.accessLogger, redact: Terminal.redacted)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    let servers = try await listeners(operations, limits, certificate, group)
    let adminServer = try await adminServer(
      AdminService(
        live: live, reloader: reloader, operations: operations,
        metrics: AdminMetrics(
          live: live, operations: operations, gateway: metrics, counters: counters, traces: traces,
          certificate: certificate,
          connectionCount: { servers.reduce(0) { $0 + $1.connectionCount } })), group)
    for server in servers { Terminal.emit(log.logFormat.listening(server.name)) }
    ServiceManager.notify("READY=1\nSTATUS=generation 1 serves")
    let watching = watch ? self.source.path.map { watch($0, live, reloader) } : nil
    let looking = certificate.map { certificate in Task { await certificate.watch() } }
    await reloadUntilEnd(signals, reloader)
    ServiceManager.notify("STOPPING=1")
    watching?.cancel()
    looking?.cancel()
    reloader.close()
    await shutDown(servers, operations)
    await adminServer?.shutDown(within: .seconds(1))
    await live.current.host.shutDown()
    await traces?.shutDown()
    recorder?.finish()
    log.finish()
    if let left = recorder?.leftOut, left > 0 {
      Terminal.complain(
        "warning: \(left) operations are not in the record: the disk was too slow for them, or --record-limit reached")
    }
    try? await group.shutdownGracefully()
  }

  // MARK: Parts

  /// The generation to begin with: the manifest's, or what was kept of the last one that served.
  private func first(of source: GenerationSource, _ logger: Logger) throws -> Generation {
    do {
      return try source.generation(1, of: source.candidate())
    } catch {
      guard startFromLastGood, let kept = try source.keptCandidate() else { throw error }
      Terminal.complain("warning: the last known good manifest serves, because the one that is there cannot: \(error)")
      logger.critical("the last known good manifest serves", metadata: ["reason": "\(Terminal.redacted("\(error)"))"])
      return try source.generation(1, of: kept)
    }
  }

  private func listeners(
    _ operations: OperationService, _ limits: GatewayLimits, _ certificate: ServerCertificate?,
    _ group: MultiThreadedEventLoopGroup
  ) async throws -> [GatewayServer] {
    var addresses = listen.compactMap { GatewayServer.Address($0) }
    if addresses.isEmpty { addresses = ServiceManager.sockets }
    if addresses.isEmpty { addresses = [.tcp(host: "127.0.0.1", port: 4000)] }
    var servers: [GatewayServer] = []
    let unsent = UnsentTotal(limits)
    for address in addresses {
      servers.append(
        try await GatewayServer(address, group: group, tls: certificate, limits: limits, unsent: unsent, handler: operations))
    }
    return servers
  }

  private func adminServer(_ service: AdminService, _ group: MultiThreadedEventLoopGroup) async throws -> GatewayServer? {
    guard let admin else { return nil }
    return try await GatewayServer(
      .unix(path: String(admin.dropFirst("unix:".count))), group: group, isForOwnerOnly: true, handler: service)
  }

  private func serverCertificate(_ logger: Logger) throws -> ServerCertificate? {
    guard let tlsCertificate, let tlsKey else { return nil }
    do {
      return try ServerCertificate(
        .init(certificates: tlsCertificate, key: tlsKey), protocols: limits.http2 ? ["h2", "http/1.1"] : ["http/1.1"],
        logger: logger
      ) { try BoundedFile.bytes(at: $0, maximumBytes: ServerCertificate.maximumFileBytes) }
    } catch {
      throw usageError("the certificate or its key cannot be used: \(error); --tls-certificate and --tls-key take files in PEM")
    }
  }

  private func watch(_ path: String, _ live: LiveHost, _ reloader: Reloader) -> Task<Void, Never> {
    let watch = ManifestWatch(path: path) { live.current.host.chain.watchedFiles }
    return Task { await watch.run { _ = await reloader.reload(trigger: "change of files") } }
  }

  private func reloadUntilEnd(_ signals: UnixSignalsSequence, _ reloader: Reloader) async {
    for await signal in signals {
      guard signal == .sighup else { return }
      ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(DispatchTime.now().uptimeNanoseconds / 1000)")
      let report = await reloader.reload(trigger: "SIGHUP")
      ServiceManager.notify("READY=1\nSTATUS=generation \(report.generation) serves")
    }
  }

  private func shutDown(_ servers: [GatewayServer], _ operations: OperationService) async {
    // A second signal ends the process, whatever is under way.
    signal(SIGTERM, SIG_DFL)
    signal(SIGINT, SIG_DFL)
    // One that asks for a new generation must not end what is under way.
    signal(SIGHUP, SIG_IGN)
    let report = CutOffReport(drain: drain, operations: operations)
    await withTaskGroup(of: Void.self) { group in
      for server in servers {
        group.addTask { await server.shutDown(within: drain) { report.write(connections: $0, of: server.name) } }
      }
    }
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
