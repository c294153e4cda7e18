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
