internal import CarabinerWire

extension Normalizer {
  /// The key of an object from its key fields; nil if they are missing.
  mutating func key(_ variant: SelectionVariant, _ base: Int) -> String? {
    guard let typeField = variant.typeField, values[base + typeField] >= 0 else { return nil }
    let type = tape[values[base + typeField]]
    guard case .string = type.kind else { return nil }
    if idKeys, let idField = variant.idField, let key = plainKey(type, values[base + idField]) { return key }
    var key: [UInt8] = []
    swap(&key, &keyText)
    defer { swap(&key, &keyText) }
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: buffer[Int(type.start)..<Int(type.end)])
    key.append(UInt8(ascii: ":"))
    if idKeys {
      guard let idField = variant.idField, appendKeyPart(values[base + idField], isOnlyOne: true, to: &key) else { return nil }
    } else {
      let names = policy.keyFields(of: JSONTape.string(type, in: buffer.span))
      guard !names.isEmpty else { return nil }
      for (number, name) in names.enumerated() {
        if number > 0 { key.append(UInt8(ascii: "+")) }
        guard let field = variant.fields.firstIndex(where: { $0.name == name && $0.arguments.isEmpty }),
          appendKeyPart(values[base + field], isOnlyOne: names.count == 1, to: &key)
        else { return nil }
      }
    }
    return String(decoding: key, as: UTF8.self)
  }

  /// The key from a type and an `id` as they are in the text; nil if the id has escapes or is not a scalar.
  ///
  /// Most keys are of this kind. Creating one in place takes half the time that ``keyText`` needs.
  private func plainKey(_ type: JSONTape.Entry, _ id: Int) -> String? {
    guard id >= 0 else { return nil }
    let id = tape[id]
    switch id.kind {
    case .scalar, .string: break
    case .null, .escapedString, .object, .array: return nil
    }
    let (typeLength, idLength) = (Int(type.end - type.start), Int(id.end - id.start))
    return unsafe String(unsafeUninitializedCapacity: typeLength + 1 + idLength) { room in
      unsafe buffer.withUnsafeBufferPointer { text in
        _ = unsafe room.update(fromContentsOf: text[Int(type.start)..<Int(type.end)])
        unsafe room[typeLength] = UInt8(ascii: ":")
        _ = unsafe room[(typeLength + 1)...].update(fromContentsOf: text[Int(id.start)..<Int(id.end)])
      }
      return typeLength + 1 + idLength
    }
  }

  /// The key that the function of the policy gives an object; nil if it gives none.
  mutating func keyByFunction(_ entry: Int) -> String? {
    guard let function = policy.objectKey else { return nil }
    let known = tree ?? ResponseTree(tape, root: root, in: buffer.span)
    tree = known
    return known.object(at: entry).flatMap(function.key)
  }

  private func appendKeyPart(_ value: Int, isOnlyOne: Bool, to key: inout [UInt8]) -> Bool {
    guard value >= 0 else { return false }
    let entry = tape[value]
    switch entry.kind {
    case .scalar, .string:
      CacheKeyPolicy.appendKeyPart(
        buffer.span.extracting(Int(entry.start)..<Int(entry.end)), isOnlyOne: isOnlyOne, to: &key)
    case .escapedString:
      let string = JSONTape.string(entry, in: buffer.span)
      CacheKeyPolicy.appendKeyPart(string.utf8Span.span, isOnlyOne: isOnlyOne, to: &key)
    case .null, .object, .array: return false
    }
    return true
  }
}
