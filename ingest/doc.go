// Package ingest turns files into documents.
//
// In: folders and files on disk ([Walk], [Load]), or a name and bytes that come
// from elsewhere, such as an upload ([NewRaw], [Parse]).
//
// Out: a [chunker.Document] with the text, a title, metadata to filter by, and
// the map that leads from every byte of the text back to the file. A file that
// gives no text is a [Skip] with a [Reason], never a silent gap.
//
// Never: splits or embeds text, follows a link out of a page, changes a file.
//
// The three steps are apart so that a caller can stop early: Walk lists files,
// Load reads one and hashes it, and only when the hash is new is there a need
// for [Raw.Parse]. [Read] and [Parse] join the steps for those who need no stop.
//
// # Text
//
// Every format obeys one rule. The text is valid UTF-8 without NUL. A byte order
// mark is left out. Each byte that is not part of a UTF-8 character becomes
// U+FFFD, and so does each NUL. Line ends stay as they are. UTF-16, with or
// without its byte order mark, and older character sets are told from the content;
// the name of the set becomes metadata. A file that has too many bad bytes is skipped
// as [Binary], one of nothing but white space as [Blank].
//
// # Formats
//
// The format follows from the name's extension, else from the content:
//
//   - text: the file as it is.
//   - markdown: the file as it is, less the YAML front matter, whose scalars and
//     string lists become metadata.
//   - html: what a browser would show, less <nav>, <svg> and frames, with the alt
//     text of images. Blocks are separated by blank lines, table cells by " | ",
//     and white space is collapsed outside <pre>.
//     The character set is that of the byte order mark, the <meta> tag or the
//     XML declaration; without one it is UTF-8 where valid, else windows-1252.
//   - code: the file as it is; the language becomes metadata.
//   - docx, xlsx, pptx, odt, ods, odp, epub, pdf: text that is made, in paragraphs
//     apart by blank lines, with lists and table rows a line each; passages are known
//     by page, paragraph, slide or row. docs/formats.md says what is left out.
//   - csv: the file as it is, a table with its header, rows numbered.
//   - json: the text of each record, in a list, on a line or the file as a whole
//     ([JSONOptions]); JSON of other kinds is code.
//   - email: the text of a mail, or of each in a mailbox; attachments are documents
//     of their own.
//   - subtitles: what is said, with the times.
//   - notebook: Markdown and code of Jupyter notebooks, without outputs.
//   - zip, tar, gzip, bzip2, xz, zstd: the files in them, within the limits of
//     [ReadOptions].
//
// PDF is read by PDFium, which runs as WebAssembly in a sandbox. The first time on a
// machine it is made machine code, which takes seconds; the outcome stays in the
// user's cache folder, the one place that this package writes to.
package ingest

// Version changes whenever the same bytes would give another document. It is
// part of a collection's fingerprint.
const Version = 2
