package import CCarabiner
internal import CCrossing
internal import CarabinerABI
internal import CarabinerBridge

/// The registration table of a plugin in a worker. Its hooks are functions of the host, which cross to the worker.
///
/// The host reads it like the table of any plugin, with the same checks.
@safe package final class WorkerTable: @unchecked Sendable {
  // Written only in `init`; the memory lives as long as the object.

  package let plugin: UnsafeMutablePointer<crb_plugin>
  private var memory = Arena()

  package init(_ description: WorkerDescription) {
    unsafe plugin = .allocate(capacity: 1)
    unsafe plugin.initialize(to: crb_plugin())
    unsafe plugin.pointee.size = UInt32(MemoryLayout<crb_plugin>.size)
    unsafe plugin.pointee.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe plugin.pointee.abi_minor_built = UInt16(CRB_ABI_MINOR)
    unsafe plugin.pointee.count = UInt32(description.interceptors.count)
    let items = unsafe array(of: UnsafePointer<crb_interceptor>?.self, max(description.interceptors.count, 1))
    for (index, interceptor) in description.interceptors.enumerated() { unsafe items?[index] = unsafe table(of: interceptor) }
    unsafe plugin.pointee.items = unsafe UnsafePointer(items)
  }

  deinit {
    memory.deallocate()
    unsafe plugin.deallocate()
  }

  private func array<Element: BitwiseCopyable>(of type: Element.Type, _ count: Int) -> UnsafeMutablePointer<Element>? {
    unsafe memory.allocate(MemoryLayout<Element>.stride * count)?.bindMemory(to: Element.self, capacity: count)
  }

  private func text(_ text: String?) -> UnsafePointer<CChar>? {
    guard let text, let copy = unsafe memory.allocate(text.utf8.count + 1, alignment: 1) else { return nil }
    let bytes = unsafe copy.bindMemory(to: CChar.self, capacity: text.utf8.count + 1)
    for (index, byte) in text.utf8.enumerated() { unsafe bytes[index] = CChar(bitPattern: byte) }
    return unsafe UnsafePointer(bytes)
  }

  private func table(of interceptor: WorkerDescription.Interceptor) -> UnsafePointer<crb_interceptor>? {
    guard let table = unsafe array(of: crb_interceptor.self, 1) else { return nil }
    unsafe table.pointee.size = UInt32(MemoryLayout<crb_interceptor>.size)
    // An unknown class is refused when the table is read. Otherwise, lanes keep the promise of the class, so hooks cross at any time.
    let isKnown = (UInt32(CRB_THREADS_PER_CALL)...UInt32(CRB_THREADS_CONCURRENT)).contains(interceptor.threadClass)
    unsafe table.pointee.thread_class = isKnown ? UInt32(CRB_THREADS_CONCURRENT) : interceptor.threadClass
    unsafe table.pointee.id = unsafe text(interceptor.id)
    unsafe table.pointee.version = unsafe text(interceptor.version)
    unsafe table.pointee.name = unsafe text(interceptor.texts[UInt32(CCROSSING_TEXT_NAME)])
    unsafe table.pointee.vendor = unsafe text(interceptor.texts[UInt32(CCROSSING_TEXT_VENDOR)])
    unsafe table.pointee.url = unsafe text(interceptor.texts[UInt32(CCROSSING_TEXT_URL)])
    unsafe table.pointee.config_schema = unsafe text(interceptor.texts[UInt32(CCROSSING_TEXT_SCHEMA)])
    for stage in interceptor.stages { unsafe add(stage, to: table, interceptor) }
    unsafe table.pointee.create = { _, _, _, _ in Status.unsupported }
    unsafe table.pointee.drain = { instance in unsafe WorkerInstance.of(instance)?.drain() }
    unsafe table.pointee.destroy = { instance in unsafe WorkerInstance.release(instance) }
    if interceptor.features & UInt32(CCROSSING_HAS_STATE) != 0 {
      unsafe table.pointee.extension = { _, id in unsafe WorkerState.table(id) }
    }
    return unsafe UnsafePointer(table)
  }

  private func add(
    _ stage: WorkerDescription.Stage, to table: UnsafeMutablePointer<crb_interceptor>,
    _ interceptor: WorkerDescription.Interceptor
  ) {
    switch stage.kind {
    case .graphQL:
      let made = unsafe array(of: crb_graphql_stage.self, 1)
      unsafe made?.pointee = WorkerHooks.graphQL(stage)
      unsafe table.pointee.graphql = unsafe UnsafePointer(made)
    case .http:
      let made = unsafe array(of: crb_http_stage.self, 1)
      unsafe made?.pointee = WorkerHooks.http(stage)
      unsafe table.pointee.http = unsafe UnsafePointer(made)
    case .cache:
      let made = unsafe array(of: crb_cache_stage.self, 1)
      unsafe made?.pointee = WorkerHooks.cache(stage)
      unsafe table.pointee.cache = unsafe UnsafePointer(made)
    case .parsing:
      let made = unsafe array(of: crb_parser_stage.self, 1)
      unsafe made?.pointee = unsafe WorkerHooks.parser(stage)
      unsafe made?.pointee.accept = unsafe text(interceptor.texts[UInt32(CCROSSING_TEXT_ACCEPT)])
      unsafe table.pointee.parser = unsafe UnsafePointer(made)
    }
  }
}
