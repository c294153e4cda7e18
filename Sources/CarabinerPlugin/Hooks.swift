internal import CCarabiner

/// Turns the answers and errors of hooks into verdicts.
enum Hooks {
  /// - Parameter replacing: The verdict that puts a staged result in place: of the request and the result, or of an error.
  static func run(
    _ instance: UnsafeMutableRawPointer?, _ call: crb_call, replacing: Int = Int(CRB_CONTINUE),
    _ hook: (any GraphQLPlugin, PluginCall) throws -> HookAnswer
  ) -> crb_verdict {
    guard let instance = unsafe instance else { return crb_verdict(CRB_FAIL) }
    let box = unsafe Unmanaged<PluginBox>.fromOpaque(instance).takeUnretainedValue()
    let call = unsafe PluginCall(handle: call, host: box.host.table)
    do {
      return verdict(try hook(box.plugin, call), call, box, replacing)
    } catch {
      call.setError("\(error)")
      return crb_verdict(CRB_FAIL)
    }
  }

  private static func verdict(
    _ answer: HookAnswer, _ call: PluginCall, _ box: PluginBox, _ replacing: Int
  ) -> crb_verdict {
    switch answer {
    case .continue: return crb_verdict(CRB_CONTINUE)
    case .drop: return crb_verdict(CRB_DROP)
    case .finish: return crb_verdict(CRB_FINISH)
    case .retry(let delay):
      _ = unsafe call.host.pointee.set_retry(call.handle, UInt32(CRB_RETRY_CHAIN), delay)
      return crb_verdict(CRB_RETRY)
    case .replace(let json):
      guard call.emit(json, as: box.host.identity) else {
        call.setError("the host takes no result here")
        return crb_verdict(CRB_FAIL)
      }
      return crb_verdict(replacing)
    case .later(let work):
      let token = unsafe call.host.pointee.suspend(call.handle)
      guard token != 0 else {
        call.setError("the host cannot suspend this hook")
        return crb_verdict(CRB_FAIL)
      }
      let replacing = crb_verdict(replacing)
      Task {
        let verdict: crb_verdict
        do {
          verdict = Hooks.verdict(try await work(), call, box, Int(replacing))
        } catch {
          call.setError("\(error)")
          verdict = crb_verdict(CRB_FAIL)
        }
        _ = unsafe call.host.pointee.resume(token, verdict)
      }
      return crb_verdict(CRB_PENDING)
    }
  }
}
