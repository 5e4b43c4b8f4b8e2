package langchain

import (
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/internal/prose"
)

// standalone makes of a question that follows on a conversation one that stands by
// itself: in front of a question that leans on what was said come the earlier
// questions, back to the last that does not. The words of both are then searched for.
func standalone(history, question string) string {
	if !leans(question) {
		return question
	}
	asked := questions(history)
	from := len(asked)
	for from > 0 {
		from--
		if !leans(asked[from]) {
			break
		}
	}
	return strings.Join(append(slices.Clone(asked[from:]), question), " ")
}

var (
	// follows starts a question that goes on from another.
	follows = regexp.MustCompile(`(?i)^\s*(and|but|or|so|also|then|why|how come|what about|how about|what else|anything else)\b`)
	// refers is a word that stands for something said before.
	refers = regexp.MustCompile(`(?i)\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|these|those|this|the (same|former|latter)|(an)?other ones?|ones)\b|` +
		`\b(is|was|about|of|for|with|in|on|by|like|after|before|does|did|do)\s+that\b|\bthat\s*[?.!]*\s*$`)
)

// A question of few words of its own leans on what was said before if anything in it
// points there; one of more is likely to say itself what its pronouns mean.
const fewWords = 3

// leans reports whether a question needs what was said before it.
func leans(question string) bool {
	words := len(prose.Content(question))
	return words == 0 || words <= fewWords && (follows.MatchString(question) || refers.MatchString(question))
}

// turn starts a message of a conversation as langchaingo's memories write it.
var turn = regexp.MustCompile(`(?m)^([\pL\pN_][\pL\pN_ -]{0,30}): `)

// questions returns what the person who speaks first has said, oldest first.
func questions(history string) []string {
	turns := turn.FindAllStringSubmatchIndex(history, -1)
	var out []string
	for i, t := range turns {
		if history[t[2]:t[3]] != history[turns[0][2]:turns[0][3]] {
			continue
		}
		end := len(history)
		if i+1 < len(turns) {
			end = turns[i+1][0]
		}
		if text := strings.Join(strings.Fields(history[t[1]:end]), " "); text != "" {
			out = append(out, text)
		}
	}
	return out
}
