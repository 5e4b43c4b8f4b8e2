package retriever

// Filter restricts a search to documents whose metadata matches.
type Filter struct {
	All []Condition `json:"all,omitempty"`
}

// Condition is one test of one metadata key.
type Condition struct {
	Key   string `json:"key"`
	Op    Op     `json:"op"`
	Value any    `json:"value"`
}

// Op is how a condition compares.
type Op string
