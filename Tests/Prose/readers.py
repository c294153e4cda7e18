"""Reads the prose and the names of a text in one of several languages. Scripts/check prose applies the rules to them."""

import functools
import io
import re
import tokenize

FENCES = {
    "swift": "swift", "c": "c", "cpp": "c", "rust": "c", "python": "python", "sh": "shell", "bash": "shell", "yaml": "hash",
    "cmake": "hash",
}

# Prose is a list of blocks; a block is a list of (line number, text). A sentence does not cross the border of a block.


def split_blocks(lines):
    """Divides lines at blank lines, list items, headings and table rows."""
    blocks, current = [], []
    for number, text in lines:
        text = text.strip()
        if not text or re.fullmatch(r"[-=|: ]+", text):
            current = []
            continue
        if text.startswith("|"):
            blocks.extend([(number, cell.strip())] for cell in text.strip("|").split("|") if cell.strip())
            current = []
            continue
        item = re.match(r"(?:[-*+]|\d+\.|#+|>)\s+", text)
        if item or not current:
            current = []
            blocks.append(current)
        current.append((number, text[item.end():] if item else text))
        if text.startswith("#"):
            current = []
    return blocks


def markdown(text):
    lines, fence, language, body, blocks = [], None, "", [], []
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)\s*(\w*)", line)
        if fence is None and mark:
            fence, language, body = mark[1], mark[2], []
            lines.append((number, ""))
        elif fence is not None and mark and mark[1].startswith(fence):
            if language in FENCES:
                blocks.extend(shift(prose(FENCES[language], "\n".join(body)), number - len(body) - 1))
            fence = None
        elif fence is not None:
            body.append(line)
        elif line.startswith("    ") and (not lines or not lines[-1][1].strip() or lines[-1][1] == INDENTED):
            lines.append((number, INDENTED))
        else:
            lines.append((number, line))
    return split_blocks([(number, "" if text == INDENTED else text) for number, text in lines]) + blocks


INDENTED = " \N{SYMBOL FOR NULL}"


def shift(blocks, by):
    return [[(number + by, text) for number, text in block] for block in blocks]


CURLY_TOKEN = re.compile(
    r'(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<raw>(#+)"{3}.*?"{3}\4|(#+)".*?"\5|\br(#*)".*?"\6(?!\w))|(?P<multi>""".*?""")'
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\")|(?P<char>'(?:\\.|[^'\\\n])')",
    re.DOTALL,
)


def curly(text):
    """Comments and string literals of Swift, C, C++ and Rust."""
    lines, blocks, last = [], [], -1
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    number, position = 1, 0
    for token in CURLY_TOKEN.finditer(text):
        number += text.count("\n", position, token.start())
        position = token.start()
        kind, words = token.lastgroup, token[0]
        if kind == "line":
            alone = not text[starts[number - 1]:token.start()].strip()
            if last != number - 1 or not alone:
                lines.append((number, ""))
            lines.append((number, re.sub(r"^//[/!]?\s?", "", words)))
            last = number if alone else -1
            continue
        if kind == "block":
            body = [re.sub(r"^\s*(?:/\*+<?|\*(?!/))?", "", line).replace("*/", "") for line in words.split("\n")]
            body = ["" if re.match(r"\s{5,}", line) else line for line in body]
            blocks.extend(split_blocks([(number + index, line) for index, line in enumerate(body)]))
        elif kind in ("text", "multi", "raw"):
            blocks.extend(literal(number, words))
        last = -1
    return split_blocks(lines) + blocks


def literal(number, words):
    """The prose of a string literal: one without two words is a name or data."""
    words = re.sub(r"\\\([^()]*(?:\([^()]*\)[^()]*)*\)", "\N{WHITE SQUARE}", words)
    words = re.sub(r"\\[nt]", " ", words).replace("\\\n", "\n").strip('#"r\'')
    if not re.search(r"[A-Za-z]{2,}\s+[\w\N{WHITE SQUARE}]", words):
        return []
    return split_blocks([(number + index, line) for index, line in enumerate(words.split("\n"))])


def python(text):
    lines, blocks, last = [], [], -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                number = token.start[0]
                if last != number - 1:
                    lines.append((number, ""))
                lines.append((number, token.string.lstrip("#! ")))
                last = number
            elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
                blocks.extend(literal(token.start[0], re.sub(r"\{[^{}]*\}", "\N{WHITE SQUARE}", token.string.lstrip("rbfuRBFU"))))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return hash_comments(text)
    return split_blocks(lines) + blocks


def shell(text):
    lines, blocks, end = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        if end is not None:
            if line.strip() == end:
                end = None
                line = ""
            lines.append((number, line))
            continue
        comment = re.match(r"\s*#(?!!)\s?(.*)", line)
        lines.append((number, comment[1] if comment else ""))
        if comment:
            continue
        here = re.search(r"<<-?\s*['\"]?([A-Za-z_]+)['\"]?", line)
        if here:
            end = here[1]
        trailing = re.search(r"\s#\s(.*)$", line)
        if trailing and trailing[1].count('"') % 2 == 0:
            blocks.append([(number, trailing[1])])
            line = line[:trailing.start()]
        for words in re.findall(r"\"(?:\\.|[^\"\\])*\"|'[^']*'", line):
            blocks.extend(literal(number, words))
    return split_blocks(lines) + blocks


def hash_comments(text):
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"(^|\s)#\s?(.*)$", line)
        if not comment or line[:comment.start()].strip():
            lines.append((number, ""))
        if comment:
            lines.append((number, comment[2]))
    return split_blocks(lines)


def mdoc(text):
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        # References and flags are part of the sentence around them.
        inline = re.match(r"\.(?:Fl|Xr|Pa|Ev|Ar|Cm)\s+(.*)", line)
        lines.append((number, "\N{WHITE SQUARE}" if inline else "" if line.startswith(".") else line))
    return split_blocks(lines)


READERS = {
    "markdown": markdown, "swift": curly, "c": curly, "python": python, "shell": shell, "hash": hash_comments, "mdoc": mdoc,
}


def prose(language, text):
    return READERS[language](text)


# Names. A name is found once a line.


def names(language, text):
    """The identifiers of a text as (line number, name)."""
    if language == "python":
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, IndentationError, SyntaxError):
            return
        yield from sorted({(token.start[0], token.string) for token in tokens if token.type == tokenize.NAME})
    elif READERS.get(language) is curly:
        code = CURLY_TOKEN.sub(lambda match: " " + "\n" * match[0].count("\n"), text)
        for number, line in enumerate(code.split("\n"), 1):
            yield from ((number, name) for name in sorted(set(re.findall(r"[A-Za-z_]\w*", line))))


@functools.cache
def name_parts(name):
    """The words of an identifier, in lower case: `bringUp` and `bring_up` have two."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
