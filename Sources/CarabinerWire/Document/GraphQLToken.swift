/// A lexical token of a document.
package struct GraphQLToken {
  package enum Kind {
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

  package let kind: Kind
  /// Its range in the text.
  package let range: Range<Int>

  /// Its description in messages; `text` is its text.
  func summary(_ text: String) -> String {
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
