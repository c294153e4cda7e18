/// A GraphQL stage written in Swift.
///
/// One instance serves all calls, from several threads at once. A hook that has to wait returns `.later` with what to do;
/// one that does not costs a function call. Export a plugin with one line:
///
///     @c(crb_entry_v1) public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
///       unsafe PluginExport.table(for: MyPlugin.self, host: host)
///     }
public protocol GraphQLPlugin: Sendable {
  /// Who this plugin is.
  static var identity: PluginIdentity { get }

  /// Makes an instance.
  ///
  /// - Throws: Anything; its description is what the operator reads.
  init(configuration: PluginConfiguration, host: PluginHost) throws

  /// Before anything is sent.
  func onRequest(_ call: PluginCall) throws -> HookAnswer

  /// For each result; only the parts declared in `identity.needs` are there.
  func onResult(_ result: PluginResult, _ call: PluginCall) throws -> HookAnswer

  /// When a step further in failed.
  func onError(_ error: PluginCallError, _ call: PluginCall) throws -> HookAnswer
}

extension GraphQLPlugin {
  public func onResult(_ result: PluginResult, _ call: PluginCall) throws -> HookAnswer { .continue }
  public func onError(_ error: PluginCallError, _ call: PluginCall) throws -> HookAnswer { .continue }
}

/// What a hook answers.
public enum HookAnswer: Sendable {
  /// Go on; in `onError`, pass the error on.
  case `continue`
  /// Swallow this result, or end the stream in place of this error.
  case drop
  /// Pass this result on and end the stream.
  case finish
  /// Start again from the first stage, after so many nanoseconds.
  case retry(afterNanoseconds: UInt64 = 0)
  /// A whole response in JSON takes the place of the request, the result or the error.
  case replace(json: String)
  /// The hook is not done: the call is suspended, this runs, and what it brings is the answer.
  case later(@Sendable () async throws -> HookAnswer)
}

/// Who a plugin is, and what it reads and changes.
public struct PluginIdentity: Sendable {
  /// Parts of a message a stage reads or changes.
  public struct Parts: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let headers = Parts(rawValue: 1 << 0)
    public static let document = Parts(rawValue: 1 << 4)
    public static let variables = Parts(rawValue: 1 << 5)
    public static let extensions = Parts(rawValue: 1 << 6)
    public static let operationName = Parts(rawValue: 1 << 7)
    public static let json = Parts(rawValue: 1 << 8)
    public static let data = Parts(rawValue: 1 << 9)
    public static let errors = Parts(rawValue: 1 << 10)
  }

  /// Reverse DNS; the same as in the ELF note.
  public var id: StaticString
  /// Semantic version; the same as in the ELF note.
  public var version: StaticString
  /// JSON Schema of the configuration; nil if there is none.
  public var configurationSchema: StaticString?
  /// What the stage reads.
  public var needs: Parts
  /// What the stage may change.
  public var mutates: Parts

  /// An identity of these parts.
  public init(
    id: StaticString, version: StaticString, configurationSchema: StaticString? = nil, needs: Parts = [],
    mutates: Parts = []
  ) {
    self.id = id
    self.version = version
    self.configurationSchema = configurationSchema
    self.needs = needs
    self.mutates = mutates
  }
}

/// Something a plugin throws with a message for people.
public struct PluginFailure: Error, CustomStringConvertible {
  public let description: String

  /// A failure that says this.
  public init(_ description: String) { self.description = description }
}
