/// A lexical token of a document.
struct GraphQLToken {
  enum Kind {
    case end
    case exclamationMark
    case dollar
    case ampersand
    case leftParenthesis
    case rightParenthesis
    case spread
    case colon
    case equals
    case at
    case leftBracket
    case rightBracket
    case leftBrace
    case verticalBar
    case rightBrace
    case name
    case int
    case float
    case string
  }

  var kind: Kind
  /// Where it stands in the text.
  var range: Range<Int>
  /// What a name is, a number's digits, or what a string means.
  var text = ""

  /// What messages call it.
  var summary: String {
    switch kind {
    case .end: "the end of the document"
    case .exclamationMark: "\"!\""
    case .dollar: "\"$\""
    case .ampersand: "\"&\""
    case .leftParenthesis: "\"(\""
    case .rightParenthesis: "\")\""
    case .spread: "\"...\""
    case .colon: "\":\""
    case .equals: "\"=\""
    case .at: "\"@\""
    case .leftBracket: "\"[\""
    case .rightBracket: "\"]\""
    case .leftBrace: "\"{\""
    case .verticalBar: "\"|\""
    case .rightBrace: "\"}\""
    case .name: "the name \"\(text)\""
    case .int, .float: "the number \(text)"
    case .string: "a string"
    }
  }
}
