package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what Prometheus reads. They carry no names of tenants, collections or
// documents.
type metrics struct {
	handler http.Handler

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	texts    prometheus.Counter
	tokens   prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waymark_http_requests_total", Help: "Requests by route, method and status."}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waymark_http_request_duration_seconds", Help: "How long requests took, streams until their end.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waymark_refused_total", Help: "Requests answered with 429, by what was full."}, []string{"reason"}),
		texts:    prometheus.NewCounter(prometheus.CounterOpts{Name: "waymark_embedded_texts_total", Help: "Texts encoded for the endpoints of embeddings and rerank."}),
		tokens:   prometheus.NewCounter(prometheus.CounterOpts{Name: "waymark_embedded_tokens_total", Help: "Tokens of those texts."}),
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(m.requests, m.duration, m.refusals, m.texts, m.tokens,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for name, q := range map[string]*queue{"work": s.work, "answers": s.answers, "quotes": s.quotes, "jobs": s.jobs.queue} {
		labels := prometheus.Labels{"queue": name}
		reg.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "waymark_running", Help: "What is worked on, by queue.", ConstLabels: labels}, func() float64 {
				running, _ := q.counts()
				return float64(running)
			}),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "waymark_waiting", Help: "What waits, by queue.", ConstLabels: labels}, func() float64 {
				_, waiting := q.counts()
				return float64(waiting)
			}))
	}
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg})
	return m
}

// served counts a request.
func (m *metrics) served(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(route).Observe(took.Seconds())
}

// refused counts a 429.
func (m *metrics) refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

// embedded counts texts.
func (m *metrics) embedded(vectors []embedded) {
	m.texts.Add(float64(len(vectors)))
	for _, v := range vectors {
		m.tokens.Add(float64(v.tokens))
	}
}
