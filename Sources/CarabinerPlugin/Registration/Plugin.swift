public import FoundationEssentials

/// A plugin written in Swift. The type conforms to the protocols of its stages and hooks.
///
/// One instance serves all calls of a manifest entry, from several threads at once.
///
///     struct Hello: GraphQL.Stage {
///       static let identity = PluginIdentity(id: "org.example.hello", version: "1.0.0")
///       static let graphQL = StageParts(mutates: .headers)
///
///       init(configuration: PluginConfiguration, host: PluginHost) {}
///
///       func onRequest(_ call: GraphQL.Call, _ state: inout NoState) throws -> Verdict {
///         try call.setHeader("X-Hello", to: "world")
///         return .continue
///       }
///     }
///
///     @c(crb_entry_v1) public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
///       unsafe PluginExport.table(for: Hello.self, host: host)
///     }
///
/// | Stage           | First hook, mandatory | Further hooks, a protocol each                         |
/// |-----------------|-----------------------|--------------------------------------------------------|
/// | `GraphQL.Stage` | `onRequest`           | `OnResult`, `OnError`, `OnEnd`, `OnCancel`             |
/// | `HTTP.Stage`    | `onRequest`           | `OnHead`, `OnChunk`, `OnError`, `OnEnd`, `OnCancel`    |
/// | `Cache.Stage`   | `onRead`              | `OnWrite`, `OnCancel`                                  |
/// | `Parser.Stage`  | `onHead`              | `OnChunk`, `OnError`, `OnEnd`, `OnCancel`              |
///
/// If a type does not conform to a hook's protocol, the slot is NULL and the host does not call the hook. An error thrown by a
/// hook fails the call with its description. A hook that must wait returns ``Verdict/later(_:)``.
///
/// ``Handover`` passes state to the next instance at a reload. `carabiner conform` runs the tests of ``SelfTesting``.
public protocol Plugin: Sendable {
  /// The plugin's identity.
  static var identity: PluginIdentity { get }

  /// Creates an instance.
  ///
  /// - Throws: Any error. Its description is shown to the operator.
  init(configuration: PluginConfiguration, host: PluginHost) throws
}

/// The identity of a plugin.
public struct PluginIdentity: Sendable {
  /// The id, a reverse-DNS name, as in the ELF note.
  public var id: StaticString
  /// The semantic version, as in the ELF note.
  public var version: StaticString
  /// The JSON Schema of the configuration; nil if the plugin has none.
  public var configurationSchema: StaticString?
  /// The threads the host may use for the hooks of one instance.
  public var threads: ThreadClass
  /// The display name; nil if there is none.
  public var name: StaticString?
  /// The author or company; nil if there is none.
  public var vendor: StaticString?
  /// The address of the documentation; nil if there is none.
  public var url: StaticString?

  /// Creates an identity.
  public init(
    id: StaticString, version: StaticString, configurationSchema: StaticString? = nil, threads: ThreadClass = .concurrent,
    name: StaticString? = nil, vendor: StaticString? = nil, url: StaticString? = nil
  ) {
    self.id = id
    self.version = version
    self.configurationSchema = configurationSchema
    self.threads = threads
    self.name = name
    self.vendor = vendor
    self.url = url
  }
}

/// The threads the host may use for the hooks of one instance.
public enum ThreadClass: UInt32, Sendable {
  /// Each call has its own instance.
  case perCall = 1
  /// The host runs one hook of the instance at a time.
  case serial
  /// The host may run hooks of different calls at the same time.
  case concurrent
}

/// The kind of an error.
public struct ErrorFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A retry may succeed.
  public static let retryable = ErrorFlags(rawValue: 1 << 0)
  /// A timeout expired.
  public static let timeout = ErrorFlags(rawValue: 1 << 1)
  /// The call was cancelled.
  public static let cancelled = ErrorFlags(rawValue: 1 << 2)
  /// The network failed.
  public static let transport = ErrorFlags(rawValue: 1 << 3)
  /// The server returned an error status.
  public static let httpStatus = ErrorFlags(rawValue: 1 << 4)
  /// The response could not be parsed.
  public static let parse = ErrorFlags(rawValue: 1 << 5)
  /// The cache or the store failed.
  public static let cache = ErrorFlags(rawValue: 1 << 6)
  /// The GraphQL server rejected the operation.
  public static let graphQL = ErrorFlags(rawValue: 1 << 7)
  /// A limit was reached.
  public static let limit = ErrorFlags(rawValue: 1 << 8)
  /// A plugin violated the contract of `carabiner.h`.
  public static let pluginFault = ErrorFlags(rawValue: 1 << 9)
}

/// An error that a plugin throws, with a message for users and operators.
public struct PluginFailure: LocalizedError, CustomStringConvertible {
  public let description: String
  /// A code that the plugin defines. If the host refused a function, its status.
  public let code: Int32
  /// The kind of the error.
  public let flags: ErrorFlags
  /// Machine-readable details as JSON; nil if there are none.
  public let detail: String?
  /// The status, 400 to 599, that a gateway returns to its client; 0 if the gateway chooses it.
  public let httpStatus: Int
  /// How long a gateway's client should wait before a retry; zero if unknown.
  public let retryAfter: Duration

  /// Creates a failure with this description.
  public init(
    _ description: String, code: Int32 = 0, flags: ErrorFlags = [], httpStatus: Int = 0, retryAfter: Duration = .zero,
    detail: String? = nil
  ) {
    self.description = description
    self.code = code
    self.flags = flags
    self.detail = detail
    self.httpStatus = httpStatus
    self.retryAfter = retryAfter
  }
}
