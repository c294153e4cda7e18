internal import CCarabiner
internal import Carabiner
internal import CarabinerABI

extension CallMemory {
  /// The parts of a response that are asked for, as a plugin sees them.
  mutating func view(of body: ResponseBody, _ needs: Parts) -> crb_result {
    var event = unsafe crb_result.withoutParts
    if needs.contains(.json) {
      unsafe event.json = unsafe view(of: body.bytes)
      unsafe event.extensions = unsafe body.extensions.map { unsafe view(of: $0) } ?? (unsafe .absent)
    }
    if needs.contains(.data) { unsafe event.data = unsafe body.data.map { unsafe view(of: $0) } ?? (unsafe .absent) }
    if needs.contains(.errors) { unsafe event.errors = unsafe body.errors.map { unsafe view(of: $0) } ?? (unsafe .absent) }
    return unsafe event
  }

  /// Adds the position of a result in a response that comes in parts.
  mutating func show(_ delivery: ResultDelivery, in event: inout crb_result) {
    if delivery.hasNext { unsafe event.flags |= UInt32(CRB_RESULT_HAS_NEXT) }
    if delivery.isIncremental { unsafe event.flags |= UInt32(CRB_RESULT_INCREMENTAL) }
    if let path = delivery.path { unsafe event.path = unsafe view(of: path) }
    if let label = delivery.label { unsafe event.label = unsafe view(of: label) }
  }
}

extension ResultDelivery {
  /// The position that a plugin gives a result of its own; nil if it gives none.
  convenience init?(flags: UInt32) {
    let (hasNext, isIncremental) = (flags & UInt32(CRB_RESULT_HAS_NEXT) != 0, flags & UInt32(CRB_RESULT_INCREMENTAL) != 0)
    guard hasNext || isIncremental else { return nil }
    self.init(hasNext: hasNext, isIncremental: isIncremental)
  }
}

extension crb_result {
  /// A result without parts.
  static var withoutParts: crb_result {
    var event = unsafe crb_result()
    unsafe event.size = unsafe UInt32(MemoryLayout<crb_result>.size)
    return unsafe event
  }

  /// The same result without the parts that a stage did not ask for (rule R11).
  func restricted(to needs: Parts) -> crb_result {
    var event = unsafe self
    if !needs.contains(.json) {
      unsafe event.json = unsafe .absent
      unsafe event.extensions = unsafe .absent
    }
    if !needs.contains(.data) { unsafe event.data = unsafe .absent }
    if !needs.contains(.errors) { unsafe event.errors = unsafe .absent }
    return unsafe event
  }
}
