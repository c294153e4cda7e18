"""Draws the output of `perf script` as a flame graph.

usage: perf script | flame.py TITLE > graph.svg
"""

import collections
import html
import re
import subprocess
import sys

WIDTH, ROW, TOP, FONT = 1200, 17, 34, 11
# Narrower frames are not visible.
LEAST = 0.9
# Frames below the program's own code. All stacks have them.
BELOW = re.compile(r"^(start_thread|_dispatch|_pthread|clone|\[unknown\]|swift_job_run|swift::runJob|main|_start|__libc)")
# The parts of an async function are shown as one function.
PIECE = re.compile(r"^(\(\d+\) )?(await|suspend) resume partial function for ")
WRAPPERS = re.compile(
    r"(partial apply forwarder for |function signature specialization <.*?> of |generic specialization <.*?> of "
    r"|generic not re-abstracted specialization <.*?> of |merged |specialized |protocol witness for )"
)


def stacks(lines):
    """The stacks of all samples, outermost frame first."""
    frames = []
    for line in lines:
        frame = re.match(r"^\s+[0-9a-f]+ (.*?)(\+0x[0-9a-f]+)? \(.*\)$", line.rstrip("\n"))
        if frame:
            frames.append(frame[1])
        elif frames:
            yield tuple(reversed(frames))
            frames = []
    if frames:
        yield tuple(reversed(frames))


def named(counts):
    """The same stacks with readable names."""
    raw = sorted({frame for stack in counts for frame in stack})
    demangled = subprocess.run(
        ["swift", "demangle", "--simplified", "--compact"], input="\n".join(raw), capture_output=True, text=True, check=True
    ).stdout.split("\n")
    names = {mangled: WRAPPERS.sub("", PIECE.sub("", name)) for mangled, name in zip(raw, demangled)}
    result = collections.Counter()
    for stack, count in counts.items():
        frames = [names[frame] for frame in stack if not BELOW.match(names[frame])]
        merged = [frame for index, frame in enumerate(frames) if index == 0 or frame != frames[index - 1]]
        result[tuple(merged)] += count
    return result


class Node:
    def __init__(self):
        self.count = 0
        self.children = {}

    def add(self, stack, count):
        self.count += count
        if stack:
            self.children.setdefault(stack[0], Node()).add(stack[1:], count)

    def depth(self, scale):
        wide = [child for child in self.children.values() if child.count * scale >= LEAST]
        return 1 + max((child.depth(scale) for child in wide), default=0)


def color(name):
    """Warm colours for the program's code, cool ones for the runtime and the system."""
    shade = sum(name.encode()) % 40
    if name.startswith(("swift_", "swift::", "_swift", "__swift")):
        return f"rgb({110 + shade},{150 + shade},{215})"
    if re.match(r"^[a-z_]", name) and "." not in name and " " not in name:
        return f"rgb({150 + shade},{190},{150 + shade})"
    return f"rgb({225 + shade // 2},{130 + shade * 2},{70 + shade})"


def draw(node, name, x, level, rows, scale, total, out):
    width = node.count * scale
    if width < LEAST:
        return
    if level > 0:
        y = TOP + (rows - level) * ROW
        share = f"{name}: {node.count / total:.1%}"
        fits = int(width / (FONT * 0.58))
        label = name if len(name) <= fits else name[: fits - 1] + "…" if fits > 3 else ""
        out.append(
            f'<g><title>{html.escape(share)}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}" rx="1" '
            f'fill="{color(name)}"/><text x="{x + 3:.1f}" y="{y + 12}">{html.escape(label)}</text></g>'
        )
    for child_name, child in sorted(node.children.items()):
        draw(child, child_name, x, level + 1, rows, scale, total, out)
        x += child.count * scale


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    counts = named(collections.Counter(stacks(sys.stdin)))
    root = Node()
    for stack, count in counts.items():
        root.add(stack, count)
    if root.count == 0:
        sys.exit("no samples; was anything recorded?")
    scale = WIDTH / root.count
    rows = root.depth(scale) - 1
    out = []
    draw(root, "", 0, 0, rows, scale, root.count, out)
    height = TOP + (rows + 1) * ROW
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="{FONT}">'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/><text x="6" y="20" font-size="15">{html.escape(sys.argv[1])}, '
        f"{root.count} samples</text>"
    )
    print("\n".join(out))
    print("</svg>")


main()
