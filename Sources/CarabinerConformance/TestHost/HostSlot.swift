/// The functions of the host's table and of its services, by their names in carabiner.h.
enum HostSlot: String, CaseIterable, Sendable {
  case query
  case bufAlloc = "buf_alloc"
  case bufAdopt = "buf_adopt"
  case bufSlice = "buf_slice"
  case bufRetain = "buf_retain"
  case bufRelease = "buf_release"
  case bufView = "buf_view"
  case scratch
  case suspend
  case resume
  case cancelled
  case deadline = "deadline_ns"
  case attempt
  case emit
  case setError = "set_error"
  case setRetry = "set_retry"
  case setHead = "set_head"
  case operationType = "operation_type"
  case requestID = "request_id"
  case headers
  case headerGet = "header_get"
  case headerSet = "header_set"
  case fieldGet = "field_get"
  case fieldSet = "field_set"
  case key
  case bagGet = "bag_get"
  case bagSet = "bag_set"
  case logEnabled = "log_enabled"
  case log
  case timerArm = "crb.timer/1 arm"
  case timerCancel = "crb.timer/1 cancel"
  case fetchStart = "crb.fetch/1 start"
  case storeLoad = "crb.store/1 load"
  case storePublish = "crb.store/1 publish"
  case storeRemove = "crb.store/1 remove"
  case storeRemoveMatching = "crb.store/1 remove_matching"

  /// Whether the function returns a status, and not a handle or a value.
  var answersStatus: Bool {
    switch self {
    case .query, .bufAlloc, .bufAdopt, .bufSlice, .bufView, .scratch, .suspend, .deadline, .attempt, .operationType, .requestID,
      .key, .logEnabled, .log, .timerArm:
      false
    default: true
    }
  }
}
