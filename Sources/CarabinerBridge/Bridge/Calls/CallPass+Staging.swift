package import CCarabiner
package import Carabiner
package import CarabinerABI
internal import CarabinerManifest
package import FoundationEssentials

/// An effect that a hook stages. The views in it are borrowed.
@unsafe package enum StagedEffect {
  /// An element: its kind, bytes and flags.
  case element(UInt32, Data, UInt32)
  case error(crb_error)
  /// The scope and the delay in nanoseconds.
  case retry(UInt32, UInt64)
  case head(crb_head)
  /// A part of the message; nil removes it.
  case field(UInt32, Data?)
  /// The name, the scope, and the value; nil hides it.
  case baggage(String, UInt32, Baggage.Value?)
}

/// The checks of staged effects, for host functions and for answers of workers.
extension CallPass {
  /// Stages an effect of a hook, if the contract permits it.
  package mutating func stage(_ effect: StagedEffect, in hook: Hook, of stage: StageBinding) -> crb_status {
    switch unsafe effect {
    case .element(let kind, let bytes, let flags): self.stage(kind, bytes, flags, hook, stage)
    case .error(let error): unsafe self.stage(error, hook, stage)
    case .retry(let scope, let delay): stageRetry(scope, delay, stage)
    case .head(let head): unsafe self.stage(head, hook, stage)
    case .field(let part, let bytes): stageField(part, bytes, hook, stage)
    case .baggage(let name, let scope, let value): stageBaggage(name, scope, value, hook)
    }
  }

  private mutating func stage(_ kind: UInt32, _ bytes: Data, _ flags: UInt32, _ hook: Hook, _ stage: StageBinding) -> crb_status {
    guard kind == UInt32(CRB_EMIT_RESULT) || kind == UInt32(CRB_EMIT_CHUNK),
      Contract.emits(results: kind == UInt32(CRB_EMIT_RESULT), in: hook, of: stage.kind)
    else { return Status.state }
    if let part = Contract.replaced(in: hook, of: stage.kind), !stage.mutates.contains(part) { return Status.readOnly }
    guard staged.elements.count < HostFunctions.maximumStagedElements,
      bytes.count <= HostFunctions.maximumStagedBytes - staged.elementBytes
    else { return Status.limit }
    staged.add(StagedEffects.Element(kind: Int32(bitPattern: kind), bytes: bytes, flags: flags))
    return Status.ok
  }

  private mutating func stage(_ error: crb_error, _ hook: Hook, _ stage: StageBinding) -> crb_status {
    let message = unsafe stage.plugin.options.redaction(error.message.text(atMost: PluginError.maximumMessageBytes))
    var copy = unsafe PluginError(
      code: .failed, entry: stage.plugin.name, hook: hook.name, message: message.isEmpty ? "failed" : message,
      pluginCode: error.code,
      domain: error.domain.isAbsent ? stage.plugin.id : error.domain.text(atMost: PluginError.maximumDomainBytes),
      flags: error.flags, httpStatus: error.http_status, retryAfter: error.retry_after_ns)
    let detail = unsafe error.detail_json.bytes
    if stage.plugin.options.sendsMessagesToClients {
      copy.isForClients = unsafe !error.message.isAbsent
      if (1...PluginError.maximumDetailBytes).contains(detail.count) {
        copy.detail = unsafe String(decoding: detail, as: UTF8.self)
      }
    }
    staged.set(copy)
    return Status.ok
  }

  private mutating func stageRetry(_ scope: UInt32, _ delay: UInt64, _ stage: StageBinding) -> crb_status {
    let wanted = stage.kind == .http ? CRB_RETRY_STAGE : CRB_RETRY_CHAIN
    guard scope == UInt32(CRB_RETRY_STAGE) || scope == UInt32(CRB_RETRY_CHAIN) else { return Status.invalid }
    guard scope == UInt32(wanted), stage.kind == .http || stage.kind == .graphQL else { return Status.state }
    staged.setRetry(scope: scope, delay: delay)
    return Status.ok
  }

  private mutating func stage(_ head: crb_head, _ hook: Hook, _ stage: StageBinding) -> crb_status {
    guard let url = message?.responseURL, Contract.setsHead(in: hook, of: stage.kind) else { return Status.state }
    guard hook == .onRequest || stage.mutates.contains(.headers) else { return Status.readOnly }
    guard unsafe (100...599).contains(head.status), unsafe (0...HostFunctions.maximumHeaders).contains(head.header_count),
      unsafe head.headers != nil || head.header_count == 0
    else { return Status.invalid }
    var headers = HTTPHeaders()
    let fields = unsafe UnsafeBufferPointer(start: head.headers, count: head.header_count)
    for index in fields.indices {
      let header = unsafe fields[index]
      guard unsafe header.name.isHeaderName, unsafe header.value.isHeaderValue else { return Status.invalid }
      unsafe headers.add(name: header.name.text, value: header.value.text)
    }
    staged.set(
      unsafe HTTPURLResponse(url: url, statusCode: Int(head.status), headers: headers), isResponse: hook == .onHead)
    return Status.ok
  }

  private mutating func stageField(_ part: UInt32, _ bytes: Data?, _ hook: Hook, _ stage: StageBinding) -> crb_status {
    let part = Parts(rawValue: part)
    // Headers have a function of their own.
    guard part != .headers, Contract.rights(part, in: hook, of: stage.kind).contains(.write) else { return Status.state }
    guard stage.mutates.contains(part) else { return Status.readOnly }
    guard HostFunctions.isAcceptable(bytes, as: part) else { return Status.invalid }
    staged.set(bytes, of: part)
    return Status.ok
  }

  private mutating func stageBaggage(_ name: String, _ scope: UInt32, _ value: Baggage.Value?, _ hook: Hook) -> crb_status {
    switch scope {
    case UInt32(CRB_SCOPE_INNER):
      guard hook == .onRequest || hook == .onRead else { return Status.state }
      innerBaggage[name] = value
    case UInt32(CRB_SCOPE_CALL):
      shared?.setBaggage(name, value)
    default:
      return Status.invalid
    }
    return Status.ok
  }
}
