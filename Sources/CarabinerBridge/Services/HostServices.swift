internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import CarabinerManifest
internal import FoundationEssentials
internal import Synchronization

/// The services that plugins can query by name.
enum HostServices {
  static func query(_ who: crb_self, _ id: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    guard let id = unsafe id, let member = PluginRegistry.shared.caller(who) else { return nil }
    let service = unsafe String(cString: id)
    for grant in Manifest.Plugin.grantableServices where service == "crb.\(grant)/1" && !member.grants.contains(grant) {
      MissingGrants.note(grant, entry: member.name)
    }
    switch service {
    case "crb.timer/1": return unsafe tables.timer
    case "crb.fetch/1": return unsafe member.grants.contains("fetch") ? tables.fetch : nil
    case "crb.store/1": return unsafe member.grants.contains("store") ? tables.store : nil
    default: return nil
    }
  }

  /// The tables, allocated once and never freed.
  @safe private struct Tables: @unchecked Sendable {
    // Written once, before a plugin has a pointer to them.

    let timer: UnsafeRawPointer
    let fetch: UnsafeRawPointer
    let store: UnsafeRawPointer
  }

  private static let tables: Tables = {
    let timer = UnsafeMutablePointer<crb_timer_service>.allocate(capacity: 1)
    unsafe timer.initialize(to: crb_timer_service())
    unsafe timer.pointee.size = UInt32(MemoryLayout<crb_timer_service>.size)
    unsafe timer.pointee.now_ns = { MonotonicClock.nanoseconds }
    unsafe timer.pointee.arm = { who, delay, fire, user in unsafe PluginTimers.shared.arm(who, delay, fire, user) }
    unsafe timer.pointee.cancel = { PluginTimers.shared.cancel($0) ? Status.ok : Status.stale }
    let fetch = UnsafeMutablePointer<crb_fetch_service>.allocate(capacity: 1)
    unsafe fetch.initialize(to: crb_fetch_service())
    unsafe fetch.pointee.size = UInt32(MemoryLayout<crb_fetch_service>.size)
    unsafe fetch.pointee.start = { unsafe PluginFetch.start($0, $1, $2, $3) }
    let store = UnsafeMutablePointer<crb_store_service>.allocate(capacity: 1)
    unsafe store.initialize(to: crb_store_service())
    unsafe store.pointee.size = UInt32(MemoryLayout<crb_store_service>.size)
    unsafe store.pointee.load = { unsafe PluginStore.load($0, $1, $2, $3, $4) }
    unsafe store.pointee.publish = { unsafe PluginStore.publish($0, $1, $2, $3) }
    unsafe store.pointee.remove = { unsafe PluginStore.remove($0, $1, $2, $3, $4) }
    unsafe store.pointee.remove_matching = { unsafe PluginStore.removeMatching($0, $1, $2, $3) }
    return unsafe Tables(
      timer: UnsafeRawPointer(timer), fetch: UnsafeRawPointer(fetch), store: UnsafeRawPointer(store))
  }()
}
