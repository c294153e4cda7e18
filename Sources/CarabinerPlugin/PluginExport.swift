public import CCarabiner
internal import Synchronization

/// Makes the registration table of a plugin written in Swift.
public enum PluginExport {
  @safe private struct Table: @unchecked Sendable {
    // Static data from here on: made once, never freed, never changed.

    let pointer: UnsafePointer<crb_plugin>
  }

  private static let tables = Mutex<[ObjectIdentifier: Table]>([:])

  /// The table for a plugin type; the same at every call.
  public static func table<Plugin: GraphQLPlugin>(
    for type: Plugin.Type, host: UnsafePointer<crb_host>?
  ) -> UnsafePointer<crb_plugin>? {
    guard let host = unsafe host else { return nil }
    return unsafe tables.withLock { tables in
      if let known = tables[ObjectIdentifier(type)] { return known }
      let made = unsafe Table(pointer: make(type, host))
      tables[ObjectIdentifier(type)] = made
      return made
    }.pointer
  }

  private static func make<Plugin: GraphQLPlugin>(
    _ type: Plugin.Type, _ host: UnsafePointer<crb_host>
  ) -> UnsafePointer<crb_plugin> {
    let identity = Plugin.identity
    let factory = unsafe PluginFactory(Plugin.self, host)
    PluginFactory.register(factory, id: "\(identity.id)")

    var stage = crb_graphql_stage()
    stage.size = UInt32(MemoryLayout<crb_graphql_stage>.size)
    stage.needs = identity.needs.rawValue
    stage.mutates = identity.mutates.rawValue
    unsafe stage.on_request = { instance, call, _ in
      unsafe Hooks.run(instance, call, replacing: Int(CRB_RESPOND)) { try $0.onRequest($1) }
    }
    unsafe stage.on_result = { instance, call, _, result in
      guard let result = unsafe result else { return crb_verdict(CRB_CONTINUE) }
      return unsafe Hooks.run(instance, call) { unsafe try $0.onResult(PluginResult(result.pointee), $1) }
    }
    unsafe stage.on_error = { instance, call, _, error in
      guard let error = unsafe error else { return crb_verdict(CRB_CONTINUE) }
      return unsafe Hooks.run(instance, call, replacing: Int(CRB_RECOVER)) {
        unsafe try $0.onError(PluginCallError(error.pointee), $1)
      }
    }

    var interceptor = unsafe crb_interceptor()
    unsafe interceptor.size = unsafe UInt32(MemoryLayout<crb_interceptor>.size)
    unsafe interceptor.thread_class = UInt32(CRB_THREADS_CONCURRENT)
    unsafe interceptor.id = unsafe cString(identity.id)
    unsafe interceptor.version = unsafe cString(identity.version)
    unsafe interceptor.config_schema = unsafe identity.configurationSchema.map { unsafe cString($0) }
    unsafe interceptor.graphql = unsafe UnsafePointer(immortal(stage))
    unsafe interceptor.create = { _, info, instance, why in
      guard let info = unsafe info, let instance = unsafe instance else { return crb_status(CRB_E_INVAL) }
      return unsafe PluginFactory.create(info.pointee, instance, why)
    }
    unsafe interceptor.destroy = { instance in
      if let instance = unsafe instance { unsafe Unmanaged<PluginBox>.fromOpaque(instance).release() }
    }

    var plugin = unsafe crb_plugin()
    unsafe plugin.size = unsafe UInt32(MemoryLayout<crb_plugin>.size)
    unsafe plugin.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe plugin.abi_minor_built = UInt16(CRB_ABI_MINOR)
    unsafe plugin.count = 1
    unsafe plugin.items = unsafe UnsafePointer(immortal(Optional(UnsafePointer(immortal(interceptor)))))
    return unsafe UnsafePointer(immortal(plugin))
  }

  private static func immortal<Value>(_ value: Value) -> UnsafeMutablePointer<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
    return unsafe pointer
  }

  /// A static string ends with NUL already.
  private static func cString(_ string: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// Makes the instances of a library's one plugin type.
@safe final class PluginFactory: @unchecked Sendable {
  // Immutable; the table of host functions is the host's static data.

  private let make: @Sendable (PluginConfiguration, PluginHost) throws -> any GraphQLPlugin
  private let host: UnsafePointer<crb_host>

  private static let registered = Mutex<PluginFactory?>(nil)

  init<Plugin: GraphQLPlugin>(_ type: Plugin.Type, _ host: UnsafePointer<crb_host>) {
    make = { try type.init(configuration: $0, host: $1) }
    unsafe self.host = unsafe host
  }

  static func register(_ factory: PluginFactory, id: String) { registered.withLock { $0 = factory } }

  static func create(
    _ info: crb_create_info, _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ why: UnsafeMutablePointer<crb_error>?
  ) -> crb_status {
    guard let factory = registered.withLock({ $0 }) else { return crb_status(CRB_E_INTERNAL) }
    let host = unsafe PluginHost(table: factory.host, identity: info.`self`)
    do {
      let plugin = unsafe try factory.make(
        PluginConfiguration(entryName: info.entry_name.text, json: info.config_json.text), host)
      unsafe instance.pointee = unsafe Unmanaged.passRetained(PluginBox(plugin, host)).toOpaque()
      return crb_status(CRB_OK)
    } catch {
      unsafe why?.pointee.message = unsafe immortalText("\(error)")
      return crb_status(CRB_E_INVAL)
    }
  }

  /// The host reads it after `create` returned; a refused plugin is rare enough to leave the text where it is.
  private static func immortalText(_ text: String) -> crb_view {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(text.utf8.count, 1))
    _ = unsafe memory.update(fromContentsOf: text.utf8)
    return unsafe crb_view(ptr: memory.baseAddress.map { unsafe UnsafePointer($0) }, len: text.utf8.count)
  }
}

/// What an instance pointer points to.
final class PluginBox: Sendable {
  let plugin: any GraphQLPlugin
  let host: PluginHost

  init(_ plugin: any GraphQLPlugin, _ host: PluginHost) {
    self.plugin = plugin
    self.host = host
  }
}
