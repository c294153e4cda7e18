internal import CCarabiner
internal import CarabinerABI

/// The way through the hooks of a row for as long as they only look.
///
/// Plain loops over plain memory, outside of any `async` function, whose variables would live in memory too: a stage that lets
/// everything pass costs little more than the calls of its hooks.
extension PluginCallState {
  /// Opens the stages from number `first` inward by their `on_request`.
  ///
  /// - Returns: The first call that has more to say, for ``outcome(of:_:)``; nil if every stage let the request pass.
  func descend(from first: Int) -> HookInvocation? {
    // What a loop reads lies in locals: after each call of a hook the compiler must take it that an object has changed.
    let (hooks, instances, states, handle) = unsafe (row.onRequest, self.instances, self.states, record.handle)
    var index = first
    defer { noteOpen(before: index) }
    while index < row.count {
      if let onRequest = unsafe hooks[index] {
        if let made = pass(.onRequest, at: index, { unsafe onRequest(instances[index], handle, states + index) }) { return made }
        unsafe isStageOpen[index] = true
      }
      index += 1
    }
    return nil
  }

  /// Takes a result through the stages from number `last` outward.
  ///
  /// - Parameter whole: What all stages together asked to see; each is shown what it asked for itself (rule R11).
  func ascend(_ whole: UnsafePointer<crb_result>, from last: Int) -> HookInvocation? {
    let (hooks, instances, states, handle) = unsafe (row.onResult, self.instances, self.states, record.handle)
    let (shown, shownTo) = unsafe (row.shown, row.shownTo)
    for index in stride(from: last, through: 0, by: -1) {
      guard let onResult = unsafe hooks[index] else { continue }
      let needs = unsafe shownTo[index]
      let event = unsafe needs == shown ? whole : UnsafePointer(record.keep(whole.pointee.restricted(to: needs)))
      let made = pass(.onResult, at: index) { unsafe onResult(instances[index], handle, states[index], event) }
      guard made == nil else { return made }
    }
    return nil
  }

  /// Takes a head through the stages from number `last` outward.
  ///
  /// - Parameter whole: What all stages together asked to see; each is shown what it asked for itself (rule R11).
  func ascend(_ whole: UnsafePointer<crb_head>, from last: Int) -> HookInvocation? {
    for index in stride(from: last, through: 0, by: -1) {
      guard let onHead = unsafe row.onHead[index] else { continue }
      let needs = unsafe row.shownTo[index]
      let event = unsafe needs == row.shown ? whole : UnsafePointer(record.keep(whole.pointee.restricted(to: needs)))
      let made = pass(.onHead, at: index) { unsafe onHead(instances[index], record.handle, states[index], event) }
      guard made == nil else { return made }
    }
    return nil
  }

  /// Takes a piece of a body through the stages from number `last` outward.
  func ascend(_ chunk: UnsafePointer<crb_chunk>, from last: Int) -> HookInvocation? {
    let (hooks, instances, states, handle) = unsafe (row.onChunk, self.instances, self.states, record.handle)
    for index in stride(from: last, through: 0, by: -1) {
      guard let onChunk = unsafe hooks[index] else { continue }
      let made = pass(.onChunk, at: index) { unsafe onChunk(instances[index], handle, states[index], chunk) }
      guard made == nil else { return made }
    }
    return nil
  }
}
