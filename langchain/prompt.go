package langchain

import (
	"fmt"
	"regexp"
	"strings"
)

// task is a question and what it is to be answered from.
type task struct {
	question string
	sources  []string
	numbered bool // the sources are passages that an answer may cite by number
}

// contextTask makes a task of a question and the text in which a chain has put its
// documents.
func contextTask(question, text string) task {
	t := task{question: strings.TrimSpace(question), sources: labelled(text)}
	if t.numbered = t.sources != nil; !t.numbered {
		t.sources = []string{text}
	}
	return t
}

// The prompt of chains.LoadStuffQA around context and question.
const (
	stuffBefore  = "Use the following pieces of context to answer the question at the end. If you don't know the answer, just say that you don't know, don't try to make up an answer.\n\n"
	stuffBetween = "\n\nQuestion: "
	stuffAfter   = "\nHelpful Answer:"
)

// anyTask is a prompt that names its parts, with at most a cue such as "Answer:" at
// the end.
var anyTask = regexp.MustCompile(`(?s)^(?:.*?\n)?Context:[ \t]*\n?(.*)\nQuestion:[ \t]*(.*?)(?:\n[^\n]*:)?$`)

// parseTask finds the question and the sources in a prompt.
func parseTask(prompt string) (task, bool) {
	if inner, ok := between(prompt, stuffBefore, stuffAfter); ok {
		// A passage may hold such a line, a question hardly.
		if at := strings.LastIndex(inner, stuffBetween); at >= 0 {
			return contextTask(inner[at+len(stuffBetween):], inner[:at]), true
		}
	}
	if t, ok := parsePassages(prompt); ok {
		return t, true
	}
	if m := anyTask.FindStringSubmatch(strings.TrimSpace(prompt)); m != nil {
		return contextTask(m[2], m[1]), true
	}
	return task{}, false
}

func between(s, before, after string) (string, bool) {
	s, ok1 := strings.CutPrefix(s, before)
	s, ok2 := strings.CutSuffix(strings.TrimRight(s, " \n"), after)
	return s, ok1 && ok2
}

var passagesLine = regexp.MustCompile(`^Passages, each between two lines "([^"\n]*)":\n\n`)

// parsePassages reads the prompt of package pipeline: numbered passages between lines
// that are in no passage, and the question.
func parsePassages(prompt string) (task, bool) {
	t := task{numbered: true}
	rest := prompt
	if m := passagesLine.FindStringSubmatch(prompt); m != nil {
		rest = prompt[len(m[0]):]
		fence := "\n" + m[1] + "\n"
		for n := 1; strings.HasPrefix(rest, fmt.Sprintf("[%d]", n)); n++ {
			head, after, ok1 := strings.Cut(rest, fence)
			text, after, ok2 := strings.Cut(after, fence)
			if !ok1 || !ok2 {
				return task{}, false
			}
			_, name, _ := strings.Cut(head, "]")
			t.sources = append(t.sources, "# "+strings.TrimSpace(name)+"\n\n"+text)
			rest = strings.TrimLeft(after, "\n")
		}
	}
	question, ok := strings.CutPrefix(rest, "Question: ")
	t.question = strings.TrimSpace(question)
	return t, ok && len(t.sources) > 0
}

// The prompt of chains.LoadCondenseQuestionGenerator around history and question.
const (
	condenseBefore  = "Given the following conversation and a follow up question, rephrase the follow up question to be a standalone question, in its original language.\n\nChat History:\n"
	condenseBetween = "\nFollow Up Input: "
	condenseAfter   = "\nStandalone question:"
)

// parseCondense finds a conversation and the question that follows on it.
func parseCondense(prompt string) (history, question string, ok bool) {
	inner, ok := between(prompt, condenseBefore, condenseAfter)
	at := strings.LastIndex(inner, condenseBetween)
	if !ok || at < 0 {
		return "", "", false
	}
	return inner[:at], strings.TrimSpace(inner[at+len(condenseBetween):]), true
}

// agentTask is where a one-shot agent stands.
type agentTask struct {
	tool        string // the first it may call
	question    string
	called      bool
	observation string // what the tool returned
}

const (
	agentThought = "Thought: The documents may say.\n"
	finalAnswer  = "Thought: I now know the final answer\nFinal Answer: "
)

// agentPrompt is the prompt of agents.NewOneShotAgent from the names of its tools on.
var agentPrompt = regexp.MustCompile(`(?s)\nAction: the action to take, should be one of \[ ([^,\]\n]+?)(?:,[^\]\n]*)? \]\n.*?\n\nBegin!\n\nQuestion: (.*)$`)

// parseAgent reads the prompt of a one-shot agent.
func parseAgent(prompt string) (agentTask, bool) {
	m := agentPrompt.FindStringSubmatch(prompt)
	if m == nil {
		return agentTask{}, false
	}
	question, steps, _ := strings.Cut(m[2], "\n"+agentThought)
	_, observation, called := strings.Cut(steps, "\nObservation: ")
	return agentTask{m[1], strings.TrimSpace(question), called, strings.TrimSpace(observation)}, true
}

// action is the reply that has the agent call its tool.
func (a agentTask) action() string {
	return fmt.Sprintf("%sAction: %s\nAction Input: %s", agentThought, a.tool, a.question)
}
