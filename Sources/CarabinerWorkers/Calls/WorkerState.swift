internal import CCarabiner
internal import CCrossing
internal import CarabinerABI
package import CarabinerBridge
internal import CarabinerManifest

/// `crb.state/1` of plugins in workers: the host asks the worker, which calls the plugin.
enum WorkerState {
  /// The table for an id; nil for another id.
  static func table(_ id: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    guard let id = unsafe id, unsafe String(cString: id) == "crb.state/1" else { return nil }
    return unsafe shared.table
  }

  /// Allocated once and never freed.
  @safe private struct Shared: @unchecked Sendable {
    // Written once, before anything has a pointer to it.

    let table: UnsafeRawPointer
  }

  private static let shared: Shared = {
    let table = UnsafeMutablePointer<crb_state>.allocate(capacity: 1)
    unsafe table.initialize(to: crb_state())
    unsafe table.pointee.size = UInt32(MemoryLayout<crb_state>.size)
    return unsafe Shared(table: UnsafeRawPointer(table))
  }()
}

extension WorkerInstance {
  /// The state of the plugin; nil if it has none.
  ///
  /// - Throws: ``PluginError`` if the plugin refuses, or if its worker does not answer.
  package func state() throws(PluginError) -> PluginState? {
    let process = firstWorker.process
    let answer = try ask("save", CCROSSING_SAVE, WorkerMessage())
    var (found, problem): (PluginState?, String?)
    unsafe answer.message.withUnsafeBytes { bytes in
      var records = unsafe WorkerRecords(bytes)
      while let record = unsafe records.next() {
        let count = unsafe record.value.bytes.count
        if unsafe record.kind != CCROSSING_STATE.rawValue {
          problem = unsafe "the answer to SAVE has a record \(record.kind)"
        } else if count > PluginState.maximumBytes {
          problem = "a state has \(count) bytes, and \(PluginState.maximumBytes) are possible"
        } else {
          found = unsafe PluginState(version: UInt32(truncatingIfNeeded: record.number), bytes: Array(record.value.bytes))
        }
      }
    }
    guard let problem else { return found }
    process?.stop(.brokeProtocol(problem))
    throw failure("save", "the worker broke the protocol: \(problem)")
  }

  /// Gives the plugin what its predecessor handed over.
  ///
  /// - Throws: ``PluginError`` if the plugin refuses, or if its worker does not answer.
  package func adopt(_ state: PluginState) throws(PluginError) {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_STATE.rawValue), number: UInt64(state.version), value: state.bytes)
    _ = try ask("adopt", CCROSSING_ADOPT, message)
  }

  private func ask(
    _ function: String, _ operation: CCrossing_operation, _ message: WorkerMessage
  ) throws(PluginError) -> WorkerLane.Answer {
    guard let process = firstWorker.process else { throw failure(function, "its worker does not run") }
    let answer: WorkerLane.Answer
    do throws(HostError) {
      answer = try process.ask(operation, instance: number, message)
    } catch {
      throw failure(function, error.message)
    }
    guard let refusal = WorkerRefusal.found(in: answer) else { return answer }
    let isFault = refusal.flags & UInt32(CRB_ERROR_PLUGIN_FAULT) != 0
    throw PluginError(
      code: isFault ? .fault : .failed, entry: name, hook: function,
      message: "its state is not handed over: \(options.redaction(refusal.text)); the new instance begins without",
      pluginCode: refusal.code == 0 ? refusal.status : refusal.code, domain: id, flags: refusal.flags)
  }

  private func failure(_ function: String, _ reason: String) -> PluginError {
    PluginError(
      code: .failed, entry: name, hook: function,
      message: "its state is not handed over: \(options.redaction(reason)); the new instance begins without")
  }
}
