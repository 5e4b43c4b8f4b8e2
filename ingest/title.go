package ingest

import "regexp"

// Titles that programs give to files when nobody does.
var (
	programTitle = regexp.MustCompile(`(?i)^(microsoft (word|excel|powerpoint)( -.*)?|powerpoint[- ]pr[aäeé]s[ea]nta[a-zç]*|(untitled|unbenannt|sans titre)[ _-]*\d*|title|titel|titre|` +
		`(document|dokument|doc|book|mappe|workbook|presentation|präsentation|slide|folie|page|scan)[ _-]*\d*|no title|print|template|[\pP\pS\s]*)$`)
	fileTitle = regexp.MustCompile(`(?i)^\S.*\.(docx?|docm|dotx?|rtf|odt|xlsx?|pptx?|pdf|indd|tex|dvi|ps|eps|qxd|qxp|fm|pmd|p65|wpd|pages|html?|txt|jpe?g|png|tiff?)$`)
)

// realTitle is a title that somebody gave to a file, in a line; empty for one that a
// program made up of nothing or of a file's name.
func realTitle(title string) string {
	if title = oneLine(title); programTitle.MatchString(title) || fileTitle.MatchString(title) {
		return ""
	}
	return title
}
