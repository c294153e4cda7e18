internal import CCarabiner
internal import Carabiner

extension CallRecord {
  /// The parts of a response that are asked for, as a plugin sees them.
  func view(of body: ResponseBody, _ needs: Parts) -> crb_result {
    var event = unsafe crb_result()
    unsafe event.size = unsafe UInt32(MemoryLayout<crb_result>.size)
    if needs.contains(.json) {
      unsafe event.json = unsafe view(of: body.bytes)
      unsafe event.extensions = unsafe body.extensions.map { unsafe view(of: $0) } ?? (unsafe .absent)
    }
    if needs.contains(.data) { unsafe event.data = unsafe body.data.map { unsafe view(of: $0) } ?? (unsafe .absent) }
    if needs.contains(.errors) { unsafe event.errors = unsafe body.errors.map { unsafe view(of: $0) } ?? (unsafe .absent) }
    return unsafe event
  }
}

extension crb_result {
  /// The same result without the parts a stage did not ask for (rule R11).
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
