internal import CarabinerWire

extension Executor {
  /// The selections for one object: fields by response key, and deferred fragments.
  struct Grouping {
    /// Fields in the order in which their response keys first occur. A group is answered once.
    var fields: [[PlannedField]] = []
    var deferred: [PlannedFragment] = []
    fileprivate var positions: [String: Int] = [:]
  }

  /// Collects the selections for an object of a type.
  static func grouped(
    _ selections: [PlannedSelection], for type: String, includingDeferred: Bool
  ) -> Grouping {
    var grouping = Grouping()
    group(selections, for: type, includingDeferred, into: &grouping)
    return grouping
  }

  private static func group(
    _ selections: [PlannedSelection], for type: String, _ includingDeferred: Bool, into grouping: inout Grouping
  ) {
    for selection in selections {
      switch selection {
      case .field(let field):
        if let position = grouping.positions[field.responseKey] {
          grouping.fields[position].append(field)
        } else {
          grouping.positions[field.responseKey] = grouping.fields.count
          grouping.fields.append([field])
        }
      case .fragment(let fragment) where fragment.types.contains(type):
        if fragment.deferral != nil, !includingDeferred {
          grouping.deferred.append(fragment)
        } else {
          group(fragment.selections, for: type, includingDeferred, into: &grouping)
        }
      case .fragment: break
      }
    }
  }
}
