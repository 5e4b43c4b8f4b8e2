package local

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A vector file is a snapshot without what is gone, to be mapped into memory:
//
//	header    headerSize bytes, see vectorHeader
//	centre    float32 for each dimension
//	listing   the number of keys in the metadata; of each, the key and in how many
//	          entries it is; then of each entry the ord less the one before, the
//	          number of chunks, the ID and the metadata as JSON. Numbers are
//	          uvarints and stand before texts as their lengths
//	scales    of the documents, then of the chunks: two float32 a row
//	values    of the documents, then of the chunks: int8
//	sums      CRC-32C of each pieceSize bytes between header and sums
//
// All numbers are little endian and all parts begin at multiples of partAlign.
const (
	vectorMagic = "WMKVEC\x00\x01" // with the version
	headerSize  = 128
	partAlign   = 64
	pieceSize   = 4 << 20
)

// vectorHeader is the start of the file, in this order behind the magic and
// before its own CRC-32C.
type vectorHeader struct {
	Token   token
	Change  int64 // of the snapshot
	LastOrd int64
	Dim     uint32
	Sampled uint32
	Entries uint64
	Chunks  uint64
	Listing uint64 // bytes
	Sums    uint32 // CRC-32C of the sums
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var errVectorFile = errors.New("it is no whole vector file")

// layout is where the parts of a file are.
type layout struct {
	centre, listing, documentScales, chunkScales, documents, chunks, sums, end uint64
}

// layout refuses numbers that no file of a size can have, before they are
// multiplied.
func (h *vectorHeader) layout(size uint64) (layout, error) {
	if uint64(h.Dim) > size || h.Entries > size || h.Chunks > size || h.Chunks > 1<<31-1 || h.Listing > size || size > 1<<48 {
		return layout{}, errVectorFile
	}
	m := matrix{centre: make([]float32, h.Dim)}
	stride := uint64(m.stride())
	at := uint64(headerSize)
	part := func(count, each uint64) uint64 {
		begin := at
		at = (at + count*each + partAlign - 1) / partAlign * partAlign
		return begin
	}
	if stride > 0 && (h.Entries > size/stride || h.Chunks > size/stride) {
		return layout{}, errVectorFile
	}
	l := layout{
		centre: part(uint64(h.Dim), 4), listing: part(h.Listing, 1),
		documentScales: part(h.Entries, 8), chunkScales: part(h.Chunks, 8),
		documents: part(h.Entries, stride), chunks: part(h.Chunks, stride),
	}
	l.sums = at
	l.end = at + 4*((at-headerSize+pieceSize-1)/pieceSize)
	return l, nil
}

// writeVectors writes a snapshot under a name of its own.
func writeVectors(to io.WriteSeeker, s *snapshot, name token) error {
	h := vectorHeader{Token: name, Change: s.change, Dim: uint32(s.chunks.dim()), Sampled: uint32(s.sampled),
		Entries: uint64(s.liveEntries), Chunks: uint64(s.liveChunks)}
	if n := len(s.entries); n > 0 {
		h.LastOrd = s.entries[n-1].ord
	}
	listing, err := s.listing()
	if err != nil {
		return err
	}
	h.Listing = uint64(len(listing))
	if _, err := to.Seek(headerSize, io.SeekStart); err != nil {
		return err
	}
	w := &pieces{to: bufio.NewWriterSize(to, 1<<20)}
	w.part(bytesOf(s.chunks.centre))
	w.part(listing)
	for _, of := range []func(b block, from, to, stride int) []byte{
		func(b block, from, to, _ int) []byte { return bytesOf(b.rows[from:to]) },
		func(b block, from, to, stride int) []byte { return bytesOf(b.values[from*stride : to*stride]) },
	} {
		for i := range s.entries {
			if !s.gone[i] {
				s.documents.each(i, i+1, func(b block, from, to int) { w.write(of(b, from, to, s.documents.stride())) })
			}
		}
		w.align()
		for i := range s.entries {
			if !s.gone[i] {
				s.chunks.each(int(s.firsts[i]), int(s.firsts[i+1]), func(b block, from, to int) { w.write(of(b, from, to, s.chunks.stride())) })
			}
		}
		w.align()
	}
	sums := w.finish()
	h.Sums = checksum(sums)
	if w.err != nil {
		return w.err
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = to.Write(h.encode())
	return err
}

func (h *vectorHeader) encode() []byte {
	var b bytes.Buffer
	b.WriteString(vectorMagic)
	binary.Write(&b, binary.LittleEndian, h)
	binary.Write(&b, binary.LittleEndian, checksum(b.Bytes()))
	return append(b.Bytes(), make([]byte, headerSize-b.Len())...)
}

// readHeader reads the start of a file.
func readHeader(data []byte) (vectorHeader, error) {
	var h vectorHeader
	if len(data) < headerSize || string(data[:len(vectorMagic)]) != vectorMagic {
		return h, errVectorFile
	}
	n, err := binary.Decode(data[len(vectorMagic):], binary.LittleEndian, &h)
	if err != nil {
		return h, err
	}
	n += len(vectorMagic)
	if binary.LittleEndian.Uint32(data[n:]) != checksum(data[:n]) {
		return h, errVectorFile
	}
	return h, nil
}

// readVectors returns the snapshot in a file, whose rows lie in data.
func readVectors(data []byte, h vectorHeader) (*snapshot, error) {
	l, err := h.layout(uint64(len(data)))
	if err != nil {
		return nil, err
	}
	if l.end != uint64(len(data)) {
		return nil, errVectorFile
	}
	if err := checkSums(data[headerSize:l.sums], data[l.sums:], h.Sums); err != nil {
		return nil, err
	}
	centre := slices.Clone(floats[float32](data[l.centre:], int(h.Dim)))
	s := newSnapshot(centre, int(h.Sampled))
	s.change = h.Change
	if err := s.readListing(data[l.listing:l.listing+h.Listing], int(h.Entries)); err != nil {
		return nil, err
	}
	if int(s.firsts[len(s.entries)]) != int(h.Chunks) {
		return nil, errVectorFile
	}
	s.documents.blocks = mapped(data[l.documents:l.chunks], data[l.documentScales:l.chunkScales], int(h.Entries), s.documents.stride())
	s.chunks.blocks = mapped(data[l.chunks:l.sums], data[l.chunkScales:l.documents], int(h.Chunks), s.chunks.stride())
	return s, nil
}

// mapped returns rows that lie in memory as blocks; none has room for more.
func mapped(values, scales []byte, rows, stride int) []block {
	var out []block
	numbers, all := floats[int8](values, rows*stride), floats[rowScale](scales, rows)
	for from := 0; from < rows; from += blockRows {
		to := min(rows, from+blockRows)
		out = append(out, block{values: numbers[from*stride : to*stride : to*stride], rows: all[from:to:to]})
	}
	return out
}

// checkSums compares data with the sums of its pieces.
func checkSums(data, sums []byte, ofSums uint32) error {
	if checksum(sums) != ofSums {
		return errVectorFile
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	var wrong atomic.Bool
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i*pieceSize >= len(data) {
					return
				}
				piece := data[i*pieceSize : min((i+1)*pieceSize, len(data))]
				if checksum(piece) != binary.LittleEndian.Uint32(sums[4*i:]) {
					wrong.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if wrong.Load() {
		return errVectorFile
	}
	return nil
}

// listing encodes the entries that are not gone.
func (s *snapshot) listing() ([]byte, error) {
	text := func(dst []byte, s string) []byte { return append(binary.AppendUvarint(dst, uint64(len(s))), s...) }
	out := binary.AppendUvarint(nil, uint64(len(s.keys)))
	for key, count := range s.keys {
		out = binary.AppendUvarint(text(out, key), uint64(count))
	}
	var last int64
	for i, e := range s.entries {
		if s.gone[i] {
			continue
		}
		metadata, err := encodeMetadata(e.metadata.get())
		if err != nil {
			return nil, err
		}
		out = binary.AppendUvarint(out, uint64(e.ord-last))
		out = binary.AppendUvarint(out, uint64(s.count(i)))
		out = text(text(out, e.id), string(metadata))
		last = e.ord
	}
	return out, nil
}

// readListing adds the entries of a listing.
func (s *snapshot) readListing(listing []byte, entries int) error {
	rest := string(listing) // IDs and metadata are parts of it
	number := func() uint64 {
		n, size := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
		rest = rest[max(0, size):]
		return n
	}
	text := func() string {
		n := min(number(), uint64(len(rest)))
		out := rest[:n]
		rest = rest[n:]
		return out
	}
	for keys := number(); keys > 0 && rest != ""; keys-- {
		key := text()
		s.keys[key] = int(min(number(), uint64(entries)))
	}
	s.entries, s.gone, s.firsts = make([]entry, entries), make([]bool, entries), append(make([]int32, 0, entries+1), 0)
	all := make([]metadata, entries)
	var ord, first uint64
	for i := range s.entries {
		if rest == "" {
			return errVectorFile
		}
		ord += number()
		first += min(number(), maxChunks)
		if first > 1<<31-1 || ord > 1<<62 {
			return errVectorFile
		}
		s.entries[i] = entry{ord: int64(ord), id: text(), metadata: &all[i]}
		all[i].packed = text()
		s.firsts = append(s.firsts, int32(first))
	}
	s.liveEntries, s.liveChunks = entries, int(first)
	return nil
}

// pieces writes parts and sums of their pieces, until the first error.
type pieces struct {
	to   *bufio.Writer
	err  error
	size int // so far
	sum  uint32
	sums []byte
}

func (p *pieces) write(b []byte) {
	for len(b) > 0 && p.err == nil {
		n := min(len(b), pieceSize-p.size%pieceSize)
		_, p.err = p.to.Write(b[:n])
		p.sum = crc32.Update(p.sum, castagnoli, b[:n])
		if p.size += n; p.size%pieceSize == 0 {
			p.sums = binary.LittleEndian.AppendUint32(p.sums, p.sum)
			p.sum = 0
		}
		b = b[n:]
	}
}

func (p *pieces) align() { p.write(make([]byte, (partAlign-p.size%partAlign)%partAlign)) }

func (p *pieces) part(b []byte) {
	p.write(b)
	p.align()
}

// finish writes the sums and returns them.
func (p *pieces) finish() []byte {
	if p.size%pieceSize > 0 {
		p.sums = binary.LittleEndian.AppendUint32(p.sums, p.sum)
	}
	if p.err == nil {
		_, p.err = p.to.Write(p.sums)
	}
	if p.err == nil {
		p.err = p.to.Flush()
	}
	return p.sums
}

// littleEndian reports whether numbers in memory are as they are in the file.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// bytesOf returns the memory of numbers.
func bytesOf[T any](list []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(one)))
}

// floats is the inverse of bytesOf.
func floats[T any](b []byte, n int) []T {
	var one T
	b = b[:n*int(unsafe.Sizeof(one))]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
