internal import CarabinerSchema

extension ShapeBuilder {
  /// Reports names that two members of a type would have, and names that cannot be used.
  mutating func checkNames(of shape: ObjectShape, _ place: SourcePlace) {
    var known: [String: String] = [:]
    for field in shape.fields {
      check(field.property, "the field \(field.responseKey)", field.renameKey, &known, field.place)
      let isReserved =
        SwiftNames.reservedProperties.contains(field.property) && (field.property != "fragments" || shape.hasFragments)
      if isReserved {
        problems.append(
          field.place.problem(
            "\(field.property) has a meaning in generated code; rename it with the key renames: {\(field.renameKey): NAME}, or use an alias"
          ))
      }
    }
    for view in shape.views { check(view.property, "a fragment", "", &known, place) }
    var fragments: [String: String] = [:]
    for fragment in shape.fragments {
      check(fragment.property, "the fragment \(fragment.name)", fragment.renameKey, &fragments, place, orAlias: false)
    }
    for deferred in shape.deferred { check(deferred.property, "the label of @defer", "", &fragments, place) }
    var types = Set(shape.aliases.map(\.name))
    for name in (shape.children + shape.views.map(\.shape) + shape.deferred.map(\.shape)).map(\.name)
    where !types.insert(name).inserted || known[name] != nil {
      problems.append(
        place.problem("two members of \(shape.name) would be named \(name); use an alias or another label for one of them"))
    }
  }

  private mutating func check(
    _ property: String, _ what: String, _ key: String, _ known: inout [String: String], _ place: SourcePlace, orAlias: Bool = true
  ) {
    let remedy =
      key.isEmpty ? "use an alias" : "rename it with the key renames: {\(key): NAME}\(orAlias ? ", or use an alias" : "")"
    if !SwiftNames.isIdentifier(property) {
      problems.append(place.problem("\(what) cannot be a property named \(property); \(remedy)"))
    } else if let other = known.updateValue(what, forKey: property) {
      problems.append(place.problem("\(what) and \(other) would both be the property \(property); \(remedy)"))
    }
  }
}
