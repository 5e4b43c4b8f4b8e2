package ingest

import "fmt"

// Reason says why a file gives no document.
type Reason string

// The reasons.
const (
	Empty       Reason = "empty"
	Blank       Reason = "nothing but white space"
	Binary      Reason = "binary"
	TooLarge    Reason = "too large"
	Unreadable  Reason = "unreadable"
	Unsupported Reason = "unsupported format"
	Symlink     Reason = "symbolic link not followed"
	Special     Reason = "not a regular file"
	Duplicate   Reason = "id already taken"
	Encrypted   Reason = "encrypted"
	Damaged     Reason = "damaged"
	NoText      Reason = "no text, only pictures" // of pages that need OCR
	Hidden      Reason = "hidden"                 // sheets and slides that their author does not show
	TooDeep     Reason = "too many archives in each other"
	TooSlow     Reason = "too slow"
)

// Skip is the error of one file or folder that was passed over. The others are
// not affected.
type Skip struct {
	Path   string // as it was to be opened, or the name given to Parse
	Reason Reason
	Detail string // what was found and what to do; may be empty
	Err    error  // the cause, where another package reported one
}

func (s *Skip) Error() string { return fmt.Sprintf("skipped %q: %s", s.Path, s.Why()) }

// Why is the reason with all that is known.
func (s *Skip) Why() string {
	msg := string(s.Reason)
	if s.Detail != "" {
		msg += ": " + s.Detail
	}
	if s.Err != nil {
		msg += ": " + s.Err.Error()
	}
	return msg
}

func (s *Skip) Unwrap() error { return s.Err }
