public import Carabiner
internal import CarabinerGateway
internal import CarabinerHost
package import CarabinerManifest
public import Logging
public import Tracing

extension PluginHost {
  /// How a host runs, beside what its manifest says.
  public struct Configuration: Sendable {
    /// A program that loads a new plugin in a child process before the host does.
    public struct Probe: Sendable {
      /// The path of the program `carabiner`.
      public var executable: String
      /// How long loading may take before the child process is killed.
      public var timeout: Duration

      /// - Parameters:
      ///   - executable: The path of the program `carabiner`.
      ///   - timeout: How long loading may take before the child process is killed.
      public init(executable: String, timeout: Duration = .seconds(10)) {
        self.executable = executable
        self.timeout = timeout
      }
    }

    /// The URL of the GraphQL server, http or https; nil for the manifest's `endpoint`.
    public var endpoint: String?
    /// Headers of every request. They replace those of the manifest with the same name.
    public var headers: HTTPHeaders = [:]
    /// How many seconds an attempt may take, interceptors included; nil for the manifest's `timeout`.
    public var requestTimeout: Double?
    /// Whether GraphQL errors that the server sends with a status of 400 to 499 are results. Otherwise the operation fails with
    /// ``Carabiner/ResponseCodeError``.
    public var returnsGraphQLErrors = true
    /// Loads new plugins in a child process first at each reload: a plugin that crashes or hangs there does not harm this process.
    /// Nil, the default, loads them in this process only.
    public var probe: Probe?
    /// A folder for what outlives the process: the last good manifest, and the plugins that crashed it. One host at a time uses it. Nil,
    /// the default, keeps nothing.
    public var stateDirectory: String?
    /// Whether the last good manifest serves if the manifest or a plugin is refused at the start; needs ``stateDirectory``.
    public var startsFromLastGood = false
    /// Whether the host handles the fatal signals of the process, to name the plugin whose code was running when it crashes.
    ///
    /// `settings: {crash-loop: …}` in a manifest needs it. Signal handlers are of the whole process.
    public var installsCrashReporter = false
    /// Whether a change of the manifest, of a file it names, or of one that a plugin reads is a reload.
    public var watchesFiles = false
    /// Gets messages about reloads, trials and warnings. Secrets of the manifest do not appear in them.
    public var logger: Logger
    /// Makes spans of what the chain does with operations of ``PluginHost/transport``; nil for none.
    public var tracer: (any Tracer)?

    package var wire = WireChoice()
    /// Whether a file that was checked is the file that is loaded, even if it was replaced in between.
    package var pinsFiles = true
    /// Whether `settings: {crash-loop: …}` counts for this host.
    package var countsCrashes = true
    /// Of how many operations the stages of one are timed; 0 for none.
    package var timingInterval = StageTimings.defaultInterval
    /// Where operations are written down, and how long the file may become in bytes; nil for nowhere.
    package var record: (path: String, maximumBytes: Int)?
    /// The secrets that no report may show, together with those of others; nil for those of this host alone.
    package var secrets: SecretRegister?
    /// Gets warnings for the operator; nil to log them.
    package var warning: (@Sendable (String) -> Void)?

    /// The defaults.
    public init(logger: Logger = Logger(label: "carabiner.host")) { self.logger = logger }
  }
}
