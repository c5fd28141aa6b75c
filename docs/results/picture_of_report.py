#!/usr/bin/env python3
"""Takes pictures out of a report.html into one SVG file that stands alone, as for a README.

    docs/results/picture_of_report.py report.html out.svg "step-time-lenet-eigen=lenet on eigen" ...

Each is named as its anchor is, with a title of its own behind a sign of equality. They stand side by side, with the legend of the first one's group above. Colours follow
the reader's light or dark scheme, as in the report.
"""
# SPDX-License-Identifier: Apache-2.0
import re
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT, TOP = 360, 270, 58  # of a picture; room for legend and title


def scheme(style, start):
    """The colours that the page's style sets from there on, as CSS."""
    found = {}
    for name, value in re.findall(r"--([a-z0-9-]+):\s*([^;}]+)", style[start:]):
        found.setdefault(name, value.strip())
    return found


def colours_of(page):
    style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    dark = style.index("prefers-color-scheme: dark")
    light = scheme(style, 0)
    css = lambda values: "".join(f"--{name}:{value};" for name, value in values.items())
    return (f"svg{{color:{light['text']};{css(light)}}}"
            f"@media(prefers-color-scheme:dark){{svg{{color:{scheme(style, dark)['text']};"
            f"{css(scheme(style, dark))}}}}}")


def picture(page, name, title, x):
    """The picture as a nested <svg>, its title above it."""
    inner = re.search(rf'<svg class="picture"[^>]*aria-labelledby="{re.escape(name)}-title.*?</svg>',
                      page, re.S)
    if inner is None:
        sys.exit(f"no picture '{name}' in the report")
    text = re.sub(r"<title.*?</title>|<desc.*?</desc>", "", inner.group(0), flags=re.S)
    text = re.sub(r'^<svg class="picture"[^>]*>',
                  f'<svg x="{x}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" '
                  f'viewBox="0 0 {WIDTH} {HEIGHT}">', text)
    return f'<text x="{x + 8}" y="{TOP - 8}" font-weight="600">{escape(title)}</text>{text}'


def legend(page, name):
    """Samples of line and mark with their names, of the group that holds the picture."""
    before = page[:page.index(f'aria-labelledby="{name}-title')]
    items = re.findall(r"<li><svg[^>]*>(.*?)</svg>([^<]*)</li>",
                       before[before.rindex('<ul class="legend">'):])
    parts, x = [], 26
    for mark, label in items:
        parts.append(f'<g transform="translate({x} 18)">{mark}'
                     f'<text x="24" y="4">{label}</text></g>')
        x += 60 + 7 * len(label)
    return "".join(parts)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    names, titles = zip(*((name, title or name) for name, _, title in
                          (word.partition("=") for word in sys.argv[3:])))
    width, height = WIDTH * len(names), TOP + HEIGHT
    body = legend(page, names[0]) + "".join(
        picture(page, name, title, WIDTH * at) for at, (name, title) in enumerate(zip(names, titles)))
    Path(sys.argv[2]).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12" '
        f'fill="currentColor"><style>{colours_of(page)}</style>'
        f'<rect width="100%" height="100%" fill="var(--page)"/>{body}</svg>\n', encoding="utf-8")


if __name__ == "__main__":
    main()
