public import Carabiner
internal import CarabinerBridge
package import CarabinerDownloads
internal import CarabinerGateway
package import CarabinerManifest
package import CarabinerSources
public import CoreMetrics
public import Logging
public import Tracing

extension PluginHost {
  /// The settings of a host that are not part of its manifest.
  public struct Configuration: Sendable {
    /// A program that loads a new plugin in a child process before the host does.
    public struct Probe: Sendable {
      /// The path of the program `carabiner`.
      public var executable: String
      /// The time that loading may take before the child process is killed.
      public var timeout: Duration

      /// - Parameters:
      ///   - executable: The path of the program `carabiner`.
      ///   - timeout: The time that loading may take before the child process is killed.
      public init(executable: String, timeout: Duration = .seconds(10)) {
        self.executable = executable
        self.timeout = timeout
      }
    }

    /// The URL of the GraphQL server, with the scheme http or https; nil for the manifest's `endpoint`.
    public var endpoint: String?
    /// Headers of every request. They replace those of the manifest with the same name.
    public var headers: HTTPHeaders = [:]
    /// The timeout of an attempt in seconds, including interceptors; nil for the manifest's `timeout`.
    public var requestTimeout: Double?
    /// Whether GraphQL errors that the server sends with a status of 400 to 499 are results. Otherwise the operation fails with
    /// ``Carabiner/ResponseCodeError``.
    public var returnsGraphQLErrors = true
    /// The program that loads new plugins in a child process at each reload, so that a plugin that crashes or hangs does not
    /// affect this process. Nil, the default, loads them in this process only.
    public var probe: Probe?
    /// A folder for data that outlives the process: the last known good manifest, and the plugins that crashed the process. Only
    /// one host at a time can use it. Nil, the default, stores nothing.
    public var stateDirectory: String?
    /// A folder for plugins that manifests name by URL; nil, the default, for `plugins` in ``stateDirectory``. Several hosts can share it.
    public var pluginCache: String?
    /// The size in bytes of ``pluginCache`` above which old files that no host uses are removed; the default is 1 GiB.
    public var maximumPluginCacheBytes = 1 << 30
    /// Whether the last known good manifest is used if the manifest or a plugin is refused at startup; requires
    /// ``stateDirectory``.
    public var startsFromLastGood = false
    /// Whether the host handles the fatal signals of the process, to report which plugin was running at a crash.
    ///
    /// `settings: {crash-loop: …}` in a manifest requires it. Signal handlers apply to the whole process.
    public var installsCrashReporter = false
    /// Whether a change of the manifest, of a file it names, or of a file that a plugin reads causes a reload.
    public var watchesFiles = false
    /// Whether the host refuses a manifest with a `cache` or `parsing` list that is not the default list.
    ///
    /// Set it for a ``ManifestProvider`` whose program has a cache and a parser of its own, for example the interceptors of
    /// `CarabinerPipeline`. The stages of those lists would not run there.
    public var refusesCacheAndParsing = false
    /// Logs reloads, trials and warnings. Secrets of the manifest are removed.
    public var logger: Logger
    /// Creates spans for operations of ``PluginHost/transport``; nil for none.
    public var tracer: (any Tracer)?

    /// The backend of swift-metrics for the metrics of the host, and of a ``Gateway`` over it; nil, the default, for none. They have the
    /// names and labels of the gateway's Prometheus metrics.
    public var metrics: (any MetricsFactory)?
    /// The time between two reports to ``metrics``, at least 100 ms. The last report is made when the host shuts down.
    public var metricsInterval: Duration = .seconds(10)

    /// The interceptors of the program.
    var own = OwnInterceptors()
    package var wire = WireChoice()
    /// A descriptor of the lock of ``stateDirectory`` that a running gateway shares; nil for none.
    package var stateLock: Int32?
    /// Whether a plugin's file is pinned to the digest that it had at its check. If it was replaced in between, the new file is not
    /// loaded.
    package var pinsFiles = true
    /// The keys that must have signed the manifest and the plugins; nil if signatures are not checked.
    package var trust: TrustPolicy?
    /// How a manifest that is not a file is reached.
    package var source = SourceSettings()
    /// Whether a manifest that is not a file is used without a signature.
    package var allowsUnsignedSource = false
    /// The limits of downloads.
    package var downloadLimits = DownloadLimits()
    /// Whether `settings: {crash-loop: …}` applies to this host.
    package var countsCrashes = true
    /// The stages of one in this many operations are timed; 0 for none.
    package var timingInterval = StageTimings.defaultInterval
    /// The file in which operations are recorded, and its maximum size in bytes; nil for none.
    package var record: (path: String, maximumBytes: Int)?
    /// The secrets to hide in output, shared with other components; nil to use only those of this host.
    package var secrets: SecretRegister?
    /// Called with warnings for the operator; nil to log them.
    package var warning: (@Sendable (String) -> Void)?

    /// Creates the default configuration.
    public init(logger: Logger = Logger(label: "carabiner.host")) { self.logger = logger }
  }
}

extension PluginHost.Configuration {
  /// The same configuration, which also reads the list of revocations of the manifest's source, if the source has one.
  func readingRevocations(of source: RemoteManifest?) -> Self {
    guard let trust, let source, let published = PublishedList(source, keptIn: stateDirectory) else { return self }
    var configuration = self
    configuration.trust?.revocations = Revocations(path: trust.revocations?.path, published: published)
    return configuration
  }
}
