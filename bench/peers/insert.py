"""Puts what a part of the measurements printed in its place in a page.

    python insert.py PAGE PART <TEXT

The place is between the lines <!-- PART --> and <!-- end of PART -->.
"""
import sys
from pathlib import Path


def main():
    page, part = Path(sys.argv[1]), sys.argv[2]
    start, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->\n"
    before, found, rest = page.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{page} has no place for {part}: the lines {start}and {end}")
    page.write_text(before + start + sys.stdin.read() + end + after, encoding="utf-8")


if __name__ == "__main__":
    main()
