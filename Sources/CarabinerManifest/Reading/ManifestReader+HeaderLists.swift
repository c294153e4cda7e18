internal import Carabiner
internal import CarabinerWire

/// Warnings about names in lists of headers that have no effect.
extension ManifestReader {
  /// The fields that the gateway sets in each response.
  private static let fieldsOfGateway: Set<String> = ["x-request-id", "x-content-type-options"]

  mutating func warnAboutHeaderLists(_ pointer: JSONPointer) {
    let serve = manifest.serve
    for (key, names) in [
      ("forward-headers", serve.forwardedHeaders), ("return-headers", serve.returnedHeaders),
      ("connection-init-headers", serve.connectionInitHeaders),
    ] {
      for (index, name) in names.enumerated() {
        let place = pointer.appending(key).appending(index)
        if HeaderSelection.neverPassed.contains(name.lowercased()) {
          warn(.unusedSetting, place, "\(name) belongs to one connection or one body, and is never passed on; remove it")
        } else if key == "return-headers", Self.fieldsOfGateway.contains(name.lowercased()) {
          warn(
            .unusedSetting, place, "the gateway sets \(name) in each response, so that of the upstream is not returned; remove it"
          )
        }
      }
    }
    warnAboutFixedHeaders(pointer.appending("forward-headers"))
  }

  /// Warns about headers of clients that the manifest replaces.
  private mutating func warnAboutFixedHeaders(_ pointer: JSONPointer) {
    let lists = [("headers", manifest.headers), ("settings: {client-awareness: …}", manifest.settings.clientHeaders)]
    for (index, pattern) in manifest.serve.forwardedHeaders.enumerated() {
      let selection = HeaderSelection([pattern])
      for (key, headers) in lists {
        let fixed = headers.map(\.name).filter { selection.passes($0) }
        guard !fixed.isEmpty else { continue }
        let names = fixed.joined(separator: ", ")
        warn(
          .unusedSetting, pointer.appending(index),
          "\(names) is also in \(key); the upstream gets that value, and not the client's; remove one of them")
      }
    }
  }
}
