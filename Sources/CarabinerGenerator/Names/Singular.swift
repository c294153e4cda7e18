/// The singular of English nouns, for the types of the elements of lists.
enum Singular {
  /// `friends` gives `friend`. Other words stay.
  static func of(_ name: String) -> String {
    // Only the last word of a name such as `closeFriends` is changed.
    let start = name.lastIndex { $0.isUppercase || $0 == "_" } ?? name.startIndex
    let (head, word) = (name[..<start], String(name[start...]))
    let (prefix, noun) = word.hasPrefix("_") ? ("_", String(word.dropFirst())) : ("", word)
    return head + prefix + singular(noun)
  }

  private static func singular(_ word: String) -> String {
    let lower = word.lowercased()
    if unchanged.contains(lower) { return word }
    for (plural, singular) in irregular where lower == plural { return String(word.prefix(1) + singular.dropFirst()) }
    for (ending, replacement) in endings where lower.hasSuffix(ending) && lower.count > ending.count {
      return word.dropLast(ending.count) + replacement
    }
    return word
  }

  private static let unchanged: Set<String> = [
    "series", "species", "news", "sheep", "fish", "deer", "information", "equipment", "status", "bus", "gas", "bonus", "address",
    "analysis", "basis", "axis", "alias", "canvas", "atlas", "lens", "physics", "mathematics", "economics",
  ]

  private static let irregular = [
    ("people", "person"), ("men", "man"), ("women", "woman"), ("children", "child"), ("feet", "foot"), ("teeth", "tooth"),
    ("mice", "mouse"), ("geese", "goose"), ("movies", "movie"), ("lives", "life"), ("wives", "wife"), ("knives", "knife"),
    ("leaves", "leaf"), ("halves", "half"), ("wolves", "wolf"), ("shelves", "shelf"), ("selves", "self"), ("thieves", "thief"),
    ("indices", "index"), ("vertices", "vertex"), ("matrices", "matrix"), ("criteria", "criterion"), ("media", "medium"),
    ("cookies", "cookie"), ("heroes", "hero"), ("potatoes", "potato"), ("tomatoes", "tomato"), ("echoes", "echo"),
    ("quizzes", "quiz"), ("oxen", "ox"), ("lenses", "lens"), ("buses", "bus"), ("aliases", "alias"), ("statuses", "status"),
    ("ties", "tie"), ("pies", "pie"), ("caches", "cache"), ("axes", "axis"),
    ("analyses", "analysis"),
  ]

  /// The first that fits is used.
  private static let endings = [
    ("ss", "ss"), ("us", "us"), ("is", "is"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"),
    ("xes", "x"), ("zzes", "zz"), ("ies", "y"), ("s", ""),
  ]
}
