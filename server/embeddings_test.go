package server

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/landmark/landmarktest"
	"github.com/waymark-rag/waymark/retriever"
)

// vectorOf is what the model makes of a text.
func vectorOf(t *testing.T, text string, query bool) []float32 {
	t.Helper()
	m := landmarktest.New()
	if query {
		v, err := m.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v, err := m.EmbedDocuments(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

type floats struct {
	Object string
	Model  string
	Data   []struct {
		Index     int
		Embedding []float32
		Landmarks []struct {
			Start, End int
			Embedding  []float32
		}
	}
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	}
}

func TestEmbeddings(t *testing.T) {
	f := start(t, extractive(), nil)
	for _, body := range []string{
		`{"input":["a small cat","dogs"]}`,
		`{"input":["a small cat","dogs"],"model":"fake-model","encoding_format":null,"dimensions":256,"user":"me","new_field":{}}`,
		`{"input":["a small cat","dogs"],"encoding_format":"float","input_type":"document"}`,
	} {
		out := get[floats](t, f, 200, "POST", "/v1/embeddings", body)
		if out.Object != "list" || out.Model != "fake-model" || len(out.Data) != 2 || out.Data[1].Index != 1 || out.Usage.Prompt != 4 || out.Usage.Total != 4 {
			t.Fatalf("%s: %+v", body, out)
		}
		for i, text := range []string{"a small cat", "dogs"} {
			if !slices.Equal(out.Data[i].Embedding, vectorOf(t, text, false)) {
				t.Errorf("%s: vector %d is not the model's", body, i)
			}
		}
	}
	for _, kind := range []string{"query", "search_query"} {
		out := get[floats](t, f, 200, "POST", "/v1/embeddings", `{"input":"a small cat","input_type":"`+kind+`"}`)
		if !slices.Equal(out.Data[0].Embedding, vectorOf(t, "a small cat", true)) || out.Usage.Total != 3 {
			t.Errorf("%s: not the vector of a query, or %d tokens", kind, out.Usage.Total)
		}
	}
}

func TestEmbeddingsInBase64(t *testing.T) {
	f := start(t, extractive(), nil)
	_, body := f.call(t, "POST", "/v1/embeddings", `{"input":"cats","encoding_format":"base64"}`)
	var out struct{ Data []struct{ Embedding string } }
	mustDecode(t, body, &out)
	raw, err := base64.StdEncoding.DecodeString(out.Data[0].Embedding)
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	for i := 0; i < len(raw); i += 4 {
		got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
	}
	if !slices.Equal(got, vectorOf(t, "cats", false)) {
		t.Error("the vector is not the model's")
	}
}

func TestEmbeddingsWithLandmarks(t *testing.T) {
	f := start(t, extractive(), nil)
	text := strings.Repeat("one two three four five six seven eight ", 5) // 40 tokens, chunks of 16
	data, _ := json.Marshal(map[string]any{"input": text, "landmarks": true})
	out := get[floats](t, f, 200, "POST", "/v1/embeddings", string(data))
	want, err := landmarktest.New().EmbedLandmarks(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	got := out.Data[0].Landmarks
	if len(got) != 3 || got[0].Start != 0 || got[2].End != len(text) || got[1].Start != got[0].End {
		t.Fatalf("landmarks %+v, want three that tile the text", got)
	}
	for i, l := range got {
		if !slices.Equal(l.Embedding, want[0].Landmarks[i]) {
			t.Errorf("landmark %d is not the model's", i)
		}
	}
}

func TestUnusableInputs(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { o.Limits.Inputs = 3 })
	for body, param := range map[string]string{
		`{}`:                                     "input",
		`{"input":[]}`:                           "input",
		`{"input":""}`:                           "input",
		`{"input":["x"," "]}`:                    "input",
		`{"input":["a","b","c","d"]}`:            "input",
		`{"input":[1,2,3]}`:                      "input",
		`{"input":[[1,2],[3]]}`:                  "input",
		`{"input":[null]}`:                       "input",
		`{"input":{"text":"x"}}`:                 "input",
		`{"input":null}`:                         "input",
		`{"input":"x","dimensions":128}`:         "dimensions",
		`{"input":"x","encoding_format":"int8"}`: "encoding_format",
		`{"input":"x","input_type":"image"}`:     "input_type",
		`{"input":"x","input_type":"query","landmarks":true}`: "landmarks",
	} {
		e := f.refused(t, 400, "invalid_value", "POST", "/v1/embeddings", body)
		if e.Error.Param != param {
			t.Errorf("%s: param %q, want %q", body, e.Error.Param, param)
		}
	}
	e := f.refused(t, 400, "invalid_value", "POST", "/v1/embeddings", `{"input":[[101,2023]]}`)
	if !strings.Contains(e.Error.Hint, "check_embedding_ctx_length=False") {
		t.Errorf("hint %q does not tell LangChain's users what to set", e.Error.Hint)
	}
	f.refused(t, 404, "model_not_found", "POST", "/v1/embeddings", `{"input":"x","model":"text-embedding-3-small"}`)
}

func TestRerank(t *testing.T) {
	f := start(t, extractive(), nil)
	for _, path := range []string{"/v1/rerank", "/v2/rerank"} {
		out := get[rerankResponse](t, f, 200, "POST", path, `{"model":"fake-model","query":"small cat","documents":["dogs bark",{"text":"a small cat"},"the small cat sleeps all day long"],"return_documents":true}`)
		var order []int
		for _, r := range out.Results {
			order = append(order, r.Index)
		}
		if !slices.Equal(order, []int{1, 2, 0}) || out.Results[0].Document["text"] != "a small cat" {
			t.Errorf("%s: results %+v", path, out.Results)
		}
		want := (1 + retriever.Dot(vectorOf(t, "small cat", true), vectorOf(t, "a small cat", false))) / 2
		if math.Abs(out.Results[0].Score-want) > 1e-6 || out.Usage.Total != 14 {
			t.Errorf("%s: score %v, want %v; usage %+v", path, out.Results[0].Score, want, out.Usage)
		}
		if top := get[rerankResponse](t, f, 200, "POST", path, `{"query":"small cat","documents":["dogs","cat"],"top_n":1}`); len(top.Results) != 1 || top.Results[0].Index != 1 {
			t.Errorf("%s: top 1 is %+v", path, top.Results)
		}
	}
	// A text is as good as its best chunk.
	long := strings.Repeat("filler words that say nothing of interest here at all today ", 6) + "small cat"
	data, _ := json.Marshal(map[string]any{"query": "small cat", "documents": []string{strings.Repeat("filler words that say nothing of interest here at all today ", 6), long}})
	if out := get[rerankResponse](t, f, 200, "POST", "/v1/rerank", string(data)); out.Results[0].Index != 1 {
		t.Errorf("results %+v, want the text with the cat first", out.Results)
	}
	for body, param := range map[string]string{
		`{"documents":["x"]}`: "query", `{"query":"x"}`: "documents", `{"query":"x","documents":["x"],"top_n":0}`: "top_n",
		`{"query":"x","documents":[{"title":"x"}]}`: "documents", `{"query":"x","documents":[3]}`: "documents",
	} {
		if e := f.refused(t, 400, "invalid_value", "POST", "/v1/rerank", body); e.Error.Param != param {
			t.Errorf("%s: param %q, want %q", body, e.Error.Param, param)
		}
	}
}

func TestTEI(t *testing.T) {
	f := start(t, extractive(), nil)
	one := get[[][]float32](t, f, 200, "POST", "/embed", `{"inputs":"a small cat","truncate":true,"normalize":true}`)
	two := get[[][]float32](t, f, 200, "POST", "/embed", `{"inputs":["a small cat","dogs"],"prompt_name":"query"}`)
	if !slices.Equal(one[0], vectorOf(t, "a small cat", false)) || len(two) != 2 || !slices.Equal(two[0], vectorOf(t, "a small cat", true)) {
		t.Error("the vectors are not the model's")
	}
	text := strings.Repeat("one two three four five six seven eight ", 5)
	all := get[[][][]float32](t, f, 200, "POST", "/embed_all", `{"inputs":["`+text+`","dogs"]}`)
	if len(all) != 2 || len(all[0]) != 3 || len(all[1]) != 1 || len(all[0][0]) != 256 {
		t.Errorf("the landmarks are %d and %d, want 3 and 1", len(all[0]), len(all[1]))
	}
	type score struct {
		Index int
		Score float64
		Text  *string
	}
	ranked := get[[]score](t, f, 200, "POST", "/rerank", `{"query":"small cat","texts":["dogs","a small cat"],"raw_scores":true,"return_text":true}`)
	plain := get[[]score](t, f, 200, "POST", "/rerank", `{"query":"small cat","texts":["dogs","a small cat"]}`)
	if ranked[0].Index != 1 || *ranked[0].Text != "a small cat" || plain[0].Text != nil || math.Abs(plain[0].Score-(1+ranked[0].Score)/2) > 1e-9 {
		t.Errorf("ranked %+v and %+v", ranked, plain)
	}
	info := get[map[string]any](t, f, 200, "GET", "/info", "")
	if info["model_id"] != "fake-model" || info["max_client_batch_size"] != 2048.0 || info["auto_truncate"] != false {
		t.Errorf("info %v", info)
	}
	resp, _ := f.call(t, "POST", "/embed", `{"inputs":"Wärme 🔋"}`)
	if h := resp.Header; h.Get("X-Compute-Characters") != "7" || h.Get("X-Compute-Tokens") != "2" || h.Get("X-Compute-Type") != "cpu" {
		t.Errorf("headers %v", h)
	}
	for _, test := range []struct {
		path, body string
		status     int
		kind       string
	}{
		{"/embed", `{"inputs":[]}`, 422, "validation"}, {"/embed", `{"inputs":[[1]]}`, 422, "validation"}, {"/embed", `{`, 400, "validation"},
		{"/embed", `{"inputs":"x","normalize":false}`, 422, "validation"}, {"/embed", `{"inputs":"x","dimensions":2}`, 422, "validation"},
		{"/embed_all", `{"inputs":"x","prompt_name":"query"}`, 422, "validation"}, {"/rerank", `{"query":"","texts":["x"]}`, 422, "validation"},
	} {
		e := get[map[string]string](t, f, test.status, "POST", test.path, test.body)
		if e["error_type"] != test.kind || e["error"] == "" {
			t.Errorf("%s %s: %v", test.path, test.body, e)
		}
	}
}
