public import CCarabiner
internal import Synchronization

/// Creates the registration table of plugins written in Swift.
public enum PluginExport {
  @safe private struct Table: @unchecked Sendable {
    // Safe: static data, created once and then never changed or freed.

    let pointer: UnsafePointer<crb_plugin>
  }

  private static let tables = Mutex<[ObjectIdentifier: Table]>([:])

  /// How many plugin types a library may export.
  public static var maximumPlugins: Int { PluginSlot.all.count }

  /// The table of the plugin types of a library, at least one. Every call returns the same table.
  ///
  /// The first type is the one in the note. If there are several, the manifest selects one with `interceptor: ID`.
  ///
  /// - Returns: Nil without a host, without a type, or with more than ``maximumPlugins`` types.
  public static func table(
    for types: any Plugin.Type..., host: UnsafePointer<crb_host>?
  ) -> UnsafePointer<crb_plugin>? {
    guard let host = unsafe host, let first = types.first, types.count <= maximumPlugins else { return nil }
    return unsafe tables.withLock { tables in
      if let known = tables[ObjectIdentifier(first)] { return known }
      let made = unsafe Table(pointer: make(types, host))
      tables[ObjectIdentifier(first)] = made
      return made
    }.pointer
  }

  private static func make(_ types: [any Plugin.Type], _ host: UnsafePointer<crb_host>) -> UnsafePointer<crb_plugin> {
    PluginFactory.register(types.map { unsafe PluginFactory($0, host) })
    PluginExtensions.register(zip(types, PluginSlot.all).map { PluginExtensions($0, $1) })
    let items = UnsafeMutablePointer<UnsafePointer<crb_interceptor>?>.allocate(capacity: types.count)
    for (index, type) in types.enumerated() {
      let made = unsafe UnsafePointer(immortal(interceptor(type, PluginSlot.all[index])))
      unsafe (items + index).initialize(to: made)
    }
    var plugin = unsafe crb_plugin()
    unsafe plugin.size = unsafe UInt32(MemoryLayout<crb_plugin>.size)
    unsafe plugin.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe plugin.abi_minor_built = UInt16(CRB_ABI_MINOR)
    unsafe plugin.count = UInt32(types.count)
    unsafe plugin.items = unsafe UnsafePointer(items)
    return unsafe UnsafePointer(immortal(plugin))
  }

  private static func interceptor(_ type: any Plugin.Type, _ slot: PluginSlot) -> crb_interceptor {
    let identity = type.identity
    var interceptor = unsafe crb_interceptor()
    unsafe interceptor.size = unsafe UInt32(MemoryLayout<crb_interceptor>.size)
    unsafe interceptor.thread_class = identity.threads.rawValue
    unsafe interceptor.id = unsafe cString(identity.id)
    unsafe interceptor.version = unsafe cString(identity.version)
    unsafe interceptor.name = unsafe identity.name.map { unsafe cString($0) }
    unsafe interceptor.vendor = unsafe identity.vendor.map { unsafe cString($0) }
    unsafe interceptor.url = unsafe identity.url.map { unsafe cString($0) }
    unsafe interceptor.config_schema = unsafe identity.configurationSchema.map { unsafe cString($0) }
    unsafe interceptor.graphql = unsafe crb_graphql_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.http = unsafe crb_http_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.cache = unsafe crb_cache_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    unsafe interceptor.parser = unsafe crb_parser_stage(type).map { unsafe UnsafePointer(immortal($0)) }
    if type is any Validating.Type { unsafe interceptor.validate = unsafe slot.validate }
    unsafe interceptor.create = unsafe slot.create
    if type is any Draining.Type {
      unsafe interceptor.drain = { instance in
        if let instance = unsafe instance { unsafe PluginFactory.drain(instance) }
      }
    }
    unsafe interceptor.destroy = { instance in
      if let instance = unsafe instance { unsafe PluginFactory.destroy(instance) }
    }
    if type is any Handover.Type || type is any SelfTesting.Type { unsafe interceptor.extension = unsafe slot.find }
    return unsafe interceptor
  }

  static func immortal<Value>(_ value: Value) -> UnsafeMutablePointer<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe pointer.initialize(to: value)
    return unsafe pointer
  }

  /// A static string already ends with NUL.
  static func cString(_ string: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
