"""Writes the archives among the files of this folder, which Python's standard library can."""

import gzip
import io
import lzma
import pathlib
import tarfile
import zipfile

here = pathlib.Path(__file__).parent
when = (2024, 2, 29, 12, 0, 0)


def add(z, name, text, encoding="utf-8"):
    info = zipfile.ZipInfo(name, when)
    info.compress_type = zipfile.ZIP_DEFLATED
    z.writestr(info, text.encode(encoding))


inner = io.BytesIO()
with tarfile.open(fileobj=inner, mode="w", format=tarfile.PAX_FORMAT) as t:
    for name, text in {"./plan.md": "# Plan\n\nIn a tar.\n", "../above.txt": "Outside.\n", ".hidden/x.txt": "Hidden.\n", "photo.jpg": "JPEG"}.items():
        info = tarfile.TarInfo(name)
        info.size = len(text)
        t.addfile(info, io.BytesIO(text.encode()))
    for name, kind, to in [("link.txt", tarfile.SYMTYPE, "/etc/passwd"), ("hard.txt", tarfile.LNKTYPE, "plan.md"), ("pipe", tarfile.FIFOTYPE, ""), ("folder", tarfile.DIRTYPE, "")]:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, to
        t.addfile(info)

with zipfile.ZipFile(here / "bundle.zip", "w") as z:
    add(z, "notes/a.txt", "First.\n")
    add(z, "notes\\b.txt", "With a backslash, as old programs write it.\n")
    add(z, "/absolute.txt", "From the root.\n")
    add(z, "../../up.txt", "Leads out.\n")
    add(z, "notes/a.txt", "The same name again.\n")
    add(z, "__MACOSX/notes/._a.txt", "resource fork")
    add(z, ".DS_Store", "finder")
    add(z, "empty.txt", "")
    add(z, "film.mp4", "frames")
    add(z, "old.tar.gz", "")
    info = zipfile.ZipInfo("work.tgz", when)
    z.writestr(info, gzip.compress(inner.getvalue(), mtime=0))
    add(z, "rows.csv", "name;age\nJos\u00e9;36\n", "latin-1")
    link = zipfile.ZipInfo("link", when)
    link.external_attr = 0o120777 << 16
    z.writestr(link, "notes/a.txt")
    secret = zipfile.ZipInfo("secret.txt", when)
    z.writestr(secret, "0123456789abcdef")
data = bytearray((here / "bundle.zip").read_bytes())
for mark, offset in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)]:  # the flag of an encrypted member
    at = data.rindex(b"secret.txt")
    at = data.rindex(mark, 0, at) if mark == b"PK\x01\x02" else data.rindex(mark)
    data[at + offset] |= 1
(here / "bundle.zip").write_bytes(data)

(here / "letter.md.xz").write_bytes(lzma.compress("# Letter\n\nPacked small.\n".encode()))
