internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// Reading and changing the message, exactly as in section 4 of the header.
extension TestHost {
  static let maximumHeaderBytes = 64 << 10

  func headers(
    _ handle: crb_call, _ out: UnsafeMutablePointer<UnsafePointer<crb_header>?>?, _ count: UnsafeMutablePointer<Int>?
  ) -> crb_status {
    enter(handle, .headers) { state, call in
      guard let out = unsafe out, let count = unsafe count else { return Status.invalid }
      guard call.needs.contains(.headers) else {
        return state.refuse(call, .headers, Status.state, "reads headers, which are not declared in needs")
      }
      guard let headers = call.visibleHeaders else {
        return state.refuse(call, .headers, Status.state, "reads headers before there are any")
      }
      let size = unsafe MemoryLayout<crb_header>.stride * headers.count
      let (memory, region) = unsafe call.memory.room(size, alignment: 8, named: "the list of headers()")
      let array = unsafe memory.bindMemory(to: crb_header.self, capacity: max(headers.count, 1))
      for (index, field) in headers.enumerated() {
        unsafe (array + index).initialize(
          to: crb_header(
            name: call.memory.view(field.name, named: "the name of a header"),
            value: call.memory.view(field.value, named: "the value of a header"),
            flags: field.isSensitive ? UInt32(CRB_HEADER_SENSITIVE) : 0, reserved: 0))
      }
      call.memory.protect(region)
      unsafe out.pointee = unsafe UnsafePointer(array)
      unsafe count.pointee = headers.count
      return Status.ok
    }
  }

  func headerGet(_ handle: crb_call, _ name: crb_view, _ out: UnsafeMutablePointer<crb_view>?) -> crb_status {
    enter(handle, .headerGet) { state, call in
      guard let out = unsafe out, unsafe name.isHeaderName else { return Status.invalid }
      guard call.needs.contains(.headers) else {
        return state.refuse(call, .headerGet, Status.state, "reads headers, which are not declared in needs")
      }
      guard let headers = call.visibleHeaders else {
        return state.refuse(call, .headerGet, Status.state, "reads headers before there are any")
      }
      let wanted = unsafe name.text.lowercased()
      guard let field = headers.first(where: { $0.name.lowercased() == wanted }) else { return Status.notFound }
      unsafe out.pointee = unsafe call.memory.view(field.value, named: "the value of the header \(field.name)")
      return Status.ok
    }
  }

  func headerSet(_ handle: crb_call, _ name: crb_view, _ value: crb_view, _ flags: UInt32) -> crb_status {
    enter(handle, .headerSet) { state, call in
      guard unsafe name.len <= Self.maximumHeaderBytes, unsafe value.len <= Self.maximumHeaderBytes - max(name.len, 0),
        unsafe name.isHeaderName, unsafe value.isHeaderValue
      else {
        return state.complain(
          call, "SE06", .warning, "header_set() was given a name or value that is not legal in a header; check it first",
          Status.invalid)
      }
      guard call.mayWriteHeaders, var headers = call.visibleHeaders else {
        return state.refuse(call, .headerSet, Status.state, "changes headers in a hook that may only read them")
      }
      guard call.mutates.contains(.headers) else { return state.refuse(call, .headerSet, Status.readOnly, "headers") }
      let (name, text, isRemoval) = unsafe (name.text, value.text, value.isAbsent)
      if isRemoval || flags & UInt32(CRB_HEADER_APPEND) == 0 {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
      }
      if !isRemoval {
        headers.append(HeaderSample(name: name, value: text, isSensitive: flags & UInt32(CRB_HEADER_SENSITIVE) != 0))
      }
      call.setVisibleHeaders(headers)
      return Status.ok
    }
  }

  func fieldGet(_ handle: crb_call, _ part: UInt32, _ out: UnsafeMutablePointer<crb_view>?) -> crb_status {
    enter(handle, .fieldGet) { state, call in
      guard let out = unsafe out, part.nonzeroBitCount == 1 else { return Status.invalid }
      let part = Parts(rawValue: part)
      guard call.mayRead(part) else {
        return state.refuse(call, .fieldGet, Status.state, "reads part \(part.rawValue), which this hook does not have")
      }
      guard call.needs.contains(part) else {
        return state.refuse(call, .fieldGet, Status.state, "reads part \(part.rawValue), which is not declared in needs")
      }
      if part == .body, call.request.isUpload { return Status.unsupported }
      guard let bytes = call.part(part) else { return Status.notFound }
      unsafe out.pointee = unsafe call.memory.view(bytes, named: "part \(part.rawValue) of the message")
      return Status.ok
    }
  }

  func fieldSet(_ handle: crb_call, _ part: UInt32, _ buffer: crb_buf) -> crb_status {
    let bytes = buffer == 0 ? nil : consume(buffer, .fieldSet)
    return enter(handle, .fieldSet) { state, call in
      guard part.nonzeroBitCount == 1, buffer == 0 || bytes != nil else { return Status.invalid }
      let part = Parts(rawValue: part)
      guard call.mayWrite(part) else {
        return state.refuse(call, .fieldSet, Status.state, "changes part \(part.rawValue), which this hook may not")
      }
      guard call.mutates.contains(part) else { return state.refuse(call, .fieldSet, Status.readOnly, "part \(part.rawValue)") }
      if part == .variables || part == .extensions, let bytes, StagedJSON.object(bytes) == nil {
        return state.complain(
          call, "SE05", .failure, "field_set() was given variables or extensions that are not a JSON object", Status.invalid)
      }
      if part == .document || part == .url || part == .method, bytes?.isEmpty ?? true {
        if call.isMalformed { return Status.invalid }
        return state.complain(call, "SE05", .failure, "field_set() removes a mandatory part", Status.invalid)
      }
      call.replace(part, by: bytes)
      return Status.ok
    }
  }

  // MARK: Baggage and log

  /// How many different keys a host keeps.
  private static let maximumKeys = 1024

  func key(_ name: crb_view) -> crb_key {
    if use(.key) != nil { return 0 }
    let text = unsafe name.text
    guard BaggageKeys.isWellFormed(text) else { return 0 }
    return state.withLock { state in
      if let known = state.keys[text] { return known }
      guard state.keys.count < Self.maximumKeys else { return 0 }
      let key = crb_key(state.keys.count + 1)
      state.keys[text] = key
      return key
    }
  }

  func bagGet(_ handle: crb_call, _ key: crb_key, _ out: UnsafeMutablePointer<crb_value>?) -> crb_status {
    enter(handle, .bagGet) { state, call in
      guard let out = unsafe out, key != 0 else { return Status.invalid }
      guard let value = call.baggage[key] else { return Status.notFound }
      var encoded = unsafe crb_value()
      unsafe encoded.type = value.type
      unsafe encoded.n.i = value.number
      if value.type >= UInt32(CRB_VALUE_TEXT) {
        unsafe encoded.v = unsafe call.memory.view(value.bytes, named: "a baggage value")
      }
      unsafe out.pointee = unsafe encoded
      return Status.ok
    }
  }

  func bagSet(_ handle: crb_call, _ key: crb_key, _ scope: UInt32, _ value: UnsafePointer<crb_value>?) -> crb_status {
    enter(handle, .bagSet) { state, call in
      guard let value = unsafe value, key != 0, scope <= UInt32(CRB_SCOPE_CALL),
        unsafe value.pointee.type <= UInt32(CRB_VALUE_JSON)
      else { return Status.invalid }
      if unsafe value.pointee.type == UInt32(CRB_VALUE_NONE) {
        call.baggage[key] = nil
      } else {
        if state.carried.count < Self.maximumLogged { state.carried.append(unsafe Array(value.pointee.v.bytes)) }
        call.baggage[key] = unsafe TestHostCall.BaggageValue(
          type: value.pointee.type, number: value.pointee.n.i,
          bytes: value.pointee.type >= UInt32(CRB_VALUE_TEXT) ? Array(value.pointee.v.bytes) : [])
      }
      return Status.ok
    }
  }

  func log(_ message: crb_view) {
    _ = use(.log)
    let text = unsafe message.text
    state.withLock { state in
      if state.logged.count < Self.maximumLogged { state.logged.append(text) }
    }
  }
}
