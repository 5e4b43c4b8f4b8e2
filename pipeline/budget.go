package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/waymark-rag/waymark/internal/prose"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

// messageTokens is what a chat template adds to each message.
const messageTokens = 4

// estimateTokens counts tokens on the safe side: models make one token of about
// four bytes of English, and of one character of Chinese, which has three.
func estimateTokens(text string) int { return (len(text) + 2) / 3 }

// budget is how many tokens a prompt may take.
type budget struct {
	context int
	answer  int
	count   func(string) int
}

func newBudget(o AnswerOptions) (budget, error) {
	b := budget{cmp.Or(o.ContextTokens, 4096), o.AnswerTokens, o.Count}
	if b.answer == 0 {
		b.answer = min(512, b.context/4)
	}
	if b.count == nil {
		b.count = estimateTokens
	}
	if b.context < 0 {
		return b, fmt.Errorf("context tokens %d: want 0 or more", o.ContextTokens)
	}
	if b.answer < 0 || b.answer >= b.context {
		return b, fmt.Errorf("answer tokens %d: want less than the context of %d", o.AnswerTokens, b.context)
	}
	return b, nil
}

func (b budget) cost(m llm.Message) int { return b.count(m.Text) + messageTokens }

// fitted is what a request was reduced to.
type fitted struct {
	messages []llm.Message
	passages []retriever.Hit // given, best first
	dropped  Dropped
}

// fit chooses what to send: always the system prompt and the question; then
// passages, best first and whole, only the first being cut at a sentence end if
// it is too long by itself, and those that touch another joined to it; then the
// newest messages of the history.
func (b budget) fit(p prompts, req AnswerRequest) (fitted, error) {
	system, err := p.renderSystem()
	if err != nil {
		return fitted{}, err
	}
	left := b.context - b.answer - b.cost(system)
	// question renders the last message and says what remains behind it.
	question := func(passages []retriever.Hit) (llm.Message, int, error) {
		msg, err := p.renderQuestion(req.Question, req.Query.Text, passages)
		return msg, left - b.cost(msg), err
	}
	last, rest, err := question(nil)
	if err != nil {
		return fitted{}, err
	}
	if rest < 0 {
		return fitted{}, b.tooSmall("the question", -rest)
	}
	f := fitted{}
	for _, hit := range req.Hits {
		if strings.TrimSpace(hit.Text) == "" {
			continue
		}
		passages := join(f.passages, hit)
		msg, after, err := question(passages)
		if err != nil {
			return fitted{}, err
		}
		if after < 0 && len(f.passages) == 0 {
			if hit, msg, after, err = b.cutFirst(hit, question); err != nil {
				return fitted{}, err
			}
			if after < 0 {
				return fitted{}, b.tooSmall("a sentence of the best passage", -after)
			}
			passages = []retriever.Hit{hit}
			f.dropped.Cut = true
		}
		if after < 0 {
			f.dropped.Passages++
			continue
		}
		f.passages, last, rest = passages, msg, after
	}
	history := b.newest(req.History, rest)
	f.dropped.History = len(req.History) - len(history)
	f.messages = append(f.messages, system)
	f.messages = append(f.messages, history...)
	f.messages = append(f.messages, last)
	return f, nil
}

// cutFirst shortens a passage to as many sentences as fit, at least one.
func (b budget) cutFirst(hit retriever.Hit, question func([]retriever.Hit) (llm.Message, int, error)) (
	retriever.Hit, llm.Message, int, error) {
	sentences := prose.Sentences(hit.Text)
	if len(sentences) == 0 {
		return hit, llm.Message{}, -1, nil
	}
	first := func(n int) retriever.Hit { return cutAt(hit, sentences[n-1].End) }
	var failed error
	fits := sort.Search(len(sentences), func(i int) bool {
		_, after, err := question([]retriever.Hit{first(i + 1)})
		if err != nil {
			failed = err
		}
		return after < 0
	})
	if failed != nil {
		return hit, llm.Message{}, 0, failed
	}
	cut := first(max(fits, 1))
	msg, after, err := question([]retriever.Hit{cut})
	return cut, msg, after, err
}

// newest returns the last messages that fit. The first of them is not an
// answer: its question would be missing.
func (b budget) newest(history []llm.Message, left int) []llm.Message {
	start := len(history)
	for start > 0 {
		left -= b.cost(history[start-1])
		if left < 0 {
			break
		}
		start--
	}
	for start < len(history) && history[start].Role == llm.Assistant {
		start++
	}
	return history[start:]
}

// ErrBudget says that not even the question, or with it one sentence of a passage,
// fits the context.
var ErrBudget = errors.New("the question is too long for the context")

func (b budget) tooSmall(what string, lacks int) error {
	return fmt.Errorf("%w: a context of %d tokens, %d of them kept for the answer, is %d too small for the prompt with %s: "+
		"allow a larger context, keep less for the answer or ask a shorter question", ErrBudget, b.context, b.answer, lacks, what)
}

// excerptBytes bounds the excerpt of a citation.
const excerptBytes = 300

// excerpt is the start of a passage in one line, cut between words.
func excerpt(text string) string {
	return shorten(strings.Join(strings.Fields(text), " "), excerptBytes)
}
