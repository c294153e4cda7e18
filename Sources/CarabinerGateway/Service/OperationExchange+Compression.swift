internal import Carabiner
internal import NIOCore

extension OperationExchange {
  /// Whether a body is so large that ``compressedApart(_:)`` must compress it before the response is sent.
  func isCompressedApart(_ bytes: Int) -> Bool {
    guard let rule = policy?.compression, bytes > CompressionRule.maximumInlineBytes, shape?.takesOnlyEvents != true else {
      return false
    }
    return rule.coding(accepted: request.header("accept-encoding"), bytes: bytes) != nil
  }

  /// Compresses a body on another thread than those that serve connections.
  func compressedApart(_ body: ByteBuffer) async -> CompressedBody? {
    guard let rule = policy?.compression,
      let coding = rule.coding(accepted: request.header("accept-encoding"), bytes: body.readableBytes)
    else { return nil }
    return await Task(executorPreference: globalConcurrentExecutor) { rule.compressed(body, coding) }.value
  }

  /// Compresses a body if the rule and the client allow it.
  ///
  /// - Parameter compressed: The body in a content coding, if it was compressed already.
  func compress(
    _ body: inout ByteBuffer, _ fields: inout ReplyFields, by rule: CompressionRule, _ compressed: CompressedBody?
  ) {
    fields.add("Vary", "Accept-Encoding")
    let size = body.readableBytes
    guard let coding = rule.coding(accepted: request.header("accept-encoding"), bytes: size), fields.allowTransformation else {
      return
    }
    // A larger body was compressed before, unless compression did not make it smaller.
    guard let result = size > CompressionRule.maximumInlineBytes ? compressed : rule.compressed(body, coding) else { return }
    body = result.bytes
    fields.set("Content-Encoding", coding.rawValue)
    fields.weakenEntityTag()
    metrics.compression.compressed(coding, from: size, to: result.bytes.readableBytes)
  }
}

extension ReplyFields {
  /// Whether the upstream allows another form of the body (RFC 9111, 5.2.2.6).
  fileprivate var allowTransformation: Bool {
    !list.elements(of: "cache-control").contains { $0.lowercased() == "no-transform" }
  }

  /// Makes a strong entity tag weak, because it is valid only for the body that the upstream sent (RFC 9110, 8.8.3.3).
  fileprivate mutating func weakenEntityTag() {
    guard let tag = list["etag"], tag.hasPrefix("\"") else { return }
    set("ETag", "W/\(tag)")
  }
}
