internal import CCarabiner
internal import CarabinerABI

/// The way through the hooks of a group for as long as they let the message pass.
///
/// These are plain loops over plain memory. They are outside of `async` functions, whose variables would be in memory. A stage that
/// lets everything pass costs little more than the calls of its hooks.
extension GroupCall {
  /// Opens the stages from number `first` inward by their `on_request`.
  ///
  /// - Returns: The first hook with an outcome, for ``outcome(of:_:)``; nil if every stage let the request pass.
  func descend(from first: Int) -> HookInvocation? {
    // The loops read locals. After each call of a hook the compiler must assume that an object has changed.
    let (hooks, count) = unsafe (stages.group.onRequest, stages.group.count)
    let (instances, states, areOpen, handle) = (stages.instances, stages.states, stages.areOpen, handle)
    var index = first
    defer { stages.noteOpen(before: index) }
    while index < count {
      if let onRequest = unsafe hooks[index] {
        let made = invokeReader(.onRequest, at: index) { unsafe onRequest(instances[index], handle, states + index) }
        if let made { return made }
        unsafe areOpen[index] = true
      }
      index += 1
    }
    return nil
  }

  /// Takes a result through the stages from number `last` outward.
  ///
  /// - Parameter whole: The parts that any stage asked for. Each stage sees only the parts that it asked for itself (rule R11).
  /// - Throws: ``PluginError`` if there is no memory for the part of a stage.
  func ascend(_ whole: UnsafePointer<crb_result>, from last: Int) throws(PluginError) -> HookInvocation? {
    let (hooks, instances, states, handle) = unsafe (stages.group.onResult, stages.instances, stages.states, handle)
    let (shown, shownTo) = unsafe (stages.group.shown, stages.group.shownTo)
    for index in stride(from: last, through: 0, by: -1) {
      guard let onResult = unsafe hooks[index] else { continue }
      let needs = unsafe shownTo[index]
      let event = unsafe try needs == shown ? whole : UnsafePointer(keep(whole.pointee.restricted(to: needs)))
      let made = invokeReader(.onResult, at: index) { unsafe onResult(instances[index], handle, states[index], event) }
      guard made == nil else { return made }
    }
    return nil
  }

  /// Takes a head through the stages from number `last` outward.
  ///
  /// - Parameter whole: The parts that any stage asked for. Each stage sees only the parts that it asked for itself (rule R11).
  /// - Throws: ``PluginError`` if there is no memory for the part of a stage.
  func ascend(_ whole: UnsafePointer<crb_head>, from last: Int) throws(PluginError) -> HookInvocation? {
    let (hooks, instances, states, handle) = unsafe (stages.group.onHead, stages.instances, stages.states, handle)
    let (shown, shownTo) = unsafe (stages.group.shown, stages.group.shownTo)
    for index in stride(from: last, through: 0, by: -1) {
      guard let onHead = unsafe hooks[index] else { continue }
      let needs = unsafe shownTo[index]
      let event = unsafe try needs == shown ? whole : UnsafePointer(keep(whole.pointee.restricted(to: needs)))
      let made = invokeReader(.onHead, at: index) { unsafe onHead(instances[index], handle, states[index], event) }
      guard made == nil else { return made }
    }
    return nil
  }

  /// Takes a piece of a body through the stages from number `last` outward.
  func ascend(_ chunk: UnsafePointer<crb_chunk>, from last: Int) -> HookInvocation? {
    let (hooks, instances, states, handle) = unsafe (stages.group.onChunk, stages.instances, stages.states, handle)
    for index in stride(from: last, through: 0, by: -1) {
      guard let onChunk = unsafe hooks[index] else { continue }
      let made = invokeReader(.onChunk, at: index) { unsafe onChunk(instances[index], handle, states[index], chunk) }
      guard made == nil else { return made }
    }
    return nil
  }
}
