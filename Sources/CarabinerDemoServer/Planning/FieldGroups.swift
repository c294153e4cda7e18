/// The selections for an object of one type: fields by response key, and deferred fragments.
struct FieldGroups {
  /// Fields in the order in which their response keys first occur. A group is answered once.
  private(set) var fields: [[PlannedField]] = []
  private(set) var deferred: [PlannedFragment] = []
  private var positions: [String: Int] = [:]

  /// - Parameter includingDeferred: Whether the fields of deferred fragments are added to the others.
  init(_ selections: [PlannedSelection], for type: String, includingDeferred: Bool) {
    add(selections, for: type, includingDeferred)
  }

  private mutating func add(_ selections: [PlannedSelection], for type: String, _ includingDeferred: Bool) {
    for selection in selections {
      switch selection {
      case .field(let field):
        if let position = positions[field.responseKey] {
          fields[position].append(field)
        } else {
          positions[field.responseKey] = fields.count
          fields.append([field])
        }
      case .fragment(let fragment) where fragment.types.contains(type):
        if fragment.deferral != nil, !includingDeferred {
          deferred.append(fragment)
        } else {
          add(fragment.selections, for: type, includingDeferred)
        }
      case .fragment: break
      }
    }
  }
}
