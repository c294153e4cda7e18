public import Carabiner
internal import CarabinerBridge
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerSources
internal import CarabinerTracing
internal import Dispatch
internal import Foundation
internal import Logging
internal import Tracing

/// Runs GraphQL operations through the chain of a manifest, and loads the plugins that the manifest names.
///
/// A host has several generations of its manifest: one runs new operations, and earlier ones end when their last operation ends.
/// A process may have several hosts. They share only the code of the plugins.
public final class PluginHost: Sendable {
  let live: GenerationManager
  let reloader: Reloader
  let metrics: HostMetrics
  let output: HostOutput
  private let tracer: (any Tracer)?
  private let recorder: Recorder?
  /// Locked for the lifetime of the host.
  private let stateFolder: StateFolder?
  private let origin: ManifestOrigin
  /// The tasks that load a new generation after a change of the manifest at its source, or of a file.
  private let watching: [Task<Void, Never>]
  /// Nil if signatures are not checked.
  let releaseWatch: ReleaseWatch?
  private let watchingReleases: Task<Void, Never>?
  /// Reports metrics to a backend of swift-metrics; nil without one.
  let reporter: MetricsReporter?
  private let reporting: Task<Void, Never>?

  /// Checks a manifest, loads its plugins, and opens its store.
  ///
  /// ```swift
  /// let host = try await PluginHost(manifest: "chain.yaml", graphQL: [Timing()], http: [Signing()])
  /// ```
  ///
  /// - Parameters:
  ///   - path: The path of the manifest, in YAML or JSON. An address of etcd or a web server needs settings that only
  ///     `carabiner serve` has.
  ///   - graphQL: Interceptors of the program, before the GraphQL stages of the manifest, the outermost first.
  ///   - http: Interceptors of the program, after the HTTP stages of the manifest, the outermost first.
  ///   - configuration: The settings that are not part of the manifest.
  /// - Throws: ``ServerError`` with all problems of the manifest, and errors of the store and the transports.
  public convenience init(
    manifest path: String, graphQL: [any GraphQLInterceptor] = [], http: [any HTTPInterceptor] = [],
    configuration: Configuration = Configuration()
  ) async throws {
    var configuration = configuration
    configuration.own = OwnInterceptors(graphQL: graphQL, http: http)
    try await self.init(manifestOrNone: path, configuration)
  }

  /// - Parameter path: The path or the address of the manifest; nil for an empty one.
  package convenience init(manifestOrNone path: String?, _ configuration: Configuration) async throws {
    let origin = try ServerError.wrapping { try ManifestOrigin(path, configuration) }
    let configuration = configuration.readingRevocations(of: origin.remote)
    await origin.remote?.begin(within: configuration.source.timeout)
    do {
      // Loading blocks: it reads files, links libraries and runs plugin code.
      let parts = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<HostParts, any Error>) in
        DispatchQueue(label: "carabiner.start").async {
          continuation.resume(with: Result { try ServerError.wrapping { try HostParts(origin, configuration) } })
        }
      }
      self.init(parts, configuration, origin)
    } catch {
      origin.remote?.close()
      throw error
    }
  }

  private init(_ parts: HostParts, _ configuration: Configuration, _ origin: ManifestOrigin) {
    self.origin = origin
    live = parts.live
    reloader = parts.reloader
    output = parts.output
    recorder = parts.recorder
    stateFolder = parts.stateFolder
    tracer = configuration.tracer
    let metrics = HostMetrics(live: parts.live, counters: parts.counters, trust: configuration.trust, remote: origin.remote)
    self.metrics = metrics
    reporter = configuration.metrics.map { MetricsReporter($0, interval: configuration.metricsInterval) }
    reporting = reporter?.start { metrics.write(to: &$0) }
    let releaseWatch = configuration.trust.map { ReleaseWatch(live: parts.live, trust: $0) }
    self.releaseWatch = releaseWatch
    watchingReleases = releaseWatch.map { watch in Task { await watch.run() } }
    watching = Self.watch(origin, configuration, parts)
  }

  deinit {
    for task in watching { task.cancel() }
    origin.remote?.close()
    watchingReleases?.cancel()
    reporting?.cancel()
    reloader.close()
    live.events.finish()
    stateFolder?.release()
  }

  // MARK: Operations

  /// Runs operations through the chain that serves when they start.
  public var transport: HostTransport { HostTransport(host: self) }

  /// The executor on which operations run without changing threads.
  public var executor: any TaskExecutor { live.executor }

  /// The number of the serving generation, counted from 1.
  public var generation: UInt64 { live.current.number }

  /// The text without the secrets of the manifests that this host has read.
  ///
  /// Errors may contain the endpoint's URL, which may contain a key.
  public func redacted(_ text: String) -> String { output.redacted(text) }

  /// Checks that the stage `persisted-queries` runs for an operation.
  ///
  /// - Throws: ``ServerError`` if it does not.
  package func requirePersistedQueries(for operation: DynamicOperation) throws {
    try live.current.host.requirePersistedQueries(for: operation)
  }

  /// Checks that the manifest is for GraphQL.
  ///
  /// - Parameter remedy: The next step for the operator.
  /// - Throws: ``ServerError`` if it is not.
  package func requireGraphQL(_ remedy: String) throws {
    try ServerError.wrapping { try live.current.host.manifest.requireGraphQL(remedy) }
  }

  // MARK: Generations

  /// Reads the manifest again. If it is valid, the new generation serves.
  ///
  /// With `serve: {canary: …}` or `serve: {shadow: …}` in the manifest, the new generation is on trial first.
  ///
  /// - Parameter anew: Whether all plugin instances are recreated, including those without changes.
  /// - Returns: The event, which lists what has changed.
  /// - Throws: ``ServerError`` if the manifest or a plugin is refused; the current generation continues to serve.
  @discardableResult public func reload(anew: Bool = false) async throws -> GenerationEvent {
    let report = await reload(trigger: "reload()", anew: anew)
    guard report.isAccepted else {
      let error = report.error ?? ServerError(.refused, report.problems.joined(separator: "\n"))
      throw error.mapTexts(output.redacted)
    }
    return GenerationEvent(report, redact: output.redacted)
  }

  /// Reads the manifest again. If it is valid, the new generation serves.
  ///
  /// - Parameter trigger: The reason, for the log.
  package func reload(trigger: String, anew: Bool = false) async -> ReloadReport {
    await reloader.reload(trigger: trigger, anew: anew)
  }

  /// The events of generations from now on, until the host is released.
  ///
  /// Each call returns a new stream. A slow reader misses the oldest events.
  public var events: AsyncStream<GenerationEvent> { live.events.stream() }

  private static func watch(_ origin: ManifestOrigin, _ configuration: Configuration, _ parts: HostParts) -> [Task<Void, Never>] {
    let (live, reloader) = (parts.live, parts.reloader)
    var tasks: [Task<Void, Never>] = []
    if let remote = origin.remote {
      tasks.append(
        Task {
          await remote.run(isRefused: live.current.isKept, onConfirmed: { await reloader.keepConfirmed() }) {
            await reloader.reload(trigger: "change at the source", asksSource: false).isAccepted
          }
        })
    }
    if configuration.watchesFiles {
      let watch = ManifestWatch(origin: origin, trust: configuration.trust) { live.current.host.chain.watchedFiles }
      tasks.append(Task { await watch.run { _ = await reloader.reload(trigger: "change of files", asksSource: false) } })
    }
    return tasks
  }

  // MARK: The end

  /// Shares the lock of the state folder with a process that takes over.
  ///
  /// - Returns: A descriptor, which the caller closes; nil if the host has no state folder.
  func shareStateLock() -> Int32? { stateFolder?.share() }

  /// Writes this process into the lock of the state folder, because it has taken over.
  package func noteStateLock() { stateFolder?.note() }

  /// Refuses reloads from now on.
  package func stopReloading() {
    for task in watching { task.cancel() }
    origin.remote?.close()
    watchingReleases?.cancel()
    reloader.close()
  }

  /// Removes the report of this node from its fleet, after ``stopReloading()``. Waits for etcd at most two seconds.
  package func leaveFleet() async {
    guard let remote = origin.remote else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await remote.leave() }
      group.addTask { try? await Task.sleep(for: Self.endTime) }
      await group.next()
      group.cancelAll()
    }
  }

  /// The time that calls of plugins have to end, in ``shutDown()``.
  private static let endTime = Duration.seconds(2)

  /// Refuses reloads, ends the subscriptions at the upstream, waits until plugins have seen the end of their calls, and writes the
  /// remaining records.
  ///
  /// Call it when no more operations are needed. Plugins end with the host. It waits at most two seconds for the calls of plugins,
  /// including those of other hosts in the process.
  public func shutDown() async {
    stopReloading()
    await live.current.host.shutDown()
    await live.trial?.generation.host.shutDown()
    await PluginCalls.haveEnded(within: Self.endTime)
    await leaveFleet()
    recorder?.finish()
    live.events.finish()
    reporting?.cancel()
    await reporting?.value
  }

  /// The number of operations that were not recorded because the disk was slow or the file had reached its maximum size.
  package var unrecordedOperations: Int { recorder?.leftOut ?? 0 }

  // MARK: Parts

  /// Returns the tracer of an operation in a generation; nil if operations are not traced.
  func chainTracer(in generation: Generation) -> (any ChainTracer)? {
    guard let tracer else { return nil }
    return ChainSpans(
      tracer, attributes: [AttributeName.generation: .int64(Int64(clamping: generation.number))], redact: output.redacted)
  }
}
