package provision

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Meters count what a loop does. They name logins nowhere, so that there are few of them however many consumers there are.
type Meters struct {
	registry  *prometheus.Registry
	consumers *prometheus.GaugeVec
	passes    prometheus.Counter
	changes   prometheus.Counter
	announced *prometheus.CounterVec
	last      prometheus.Gauge
	read      prometheus.Gauge

	mu     sync.Mutex
	passed time.Duration // of the clock
}

// NewMeters makes the meters of one loop.
func NewMeters(kind, provider string) *Meters {
	labels := prometheus.Labels{"kind": kind, "provider": provider}
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "meshc_provision", Name: name, Help: help, ConstLabels: labels}
	}
	m := &Meters{
		registry:  prometheus.NewRegistry(),
		consumers: prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("consumers", "Logins, by where they stand.")), []string{"state"}),
		passes:    prometheus.NewCounter(prometheus.CounterOpts(opts("passes_total", "How often the list was looked at."))),
		changes:   prometheus.NewCounter(prometheus.CounterOpts(opts("changes_total", "Calls that changed the server."))),
		announced: prometheus.NewCounterVec(prometheus.CounterOpts(opts("announcements_total", "Announcements, by event.")), []string{"event"}),
		last:      prometheus.NewGauge(prometheus.GaugeOpts(opts("last_pass_timestamp_seconds", "When the list was looked at last."))),
		read:      prometheus.NewGauge(prometheus.GaugeOpts(opts("list_read", "1 if the list could be read."))),
	}
	m.registry.MustRegister(m.consumers, m.passes, m.changes, m.announced, m.last, m.read)
	for _, s := range states {
		m.consumers.WithLabelValues(string(s))
	}
	return m
}

var states = []State{Holds, Applied, Failing, Frozen, Withdrawing}

// Passed notes a pass and where everything stands after it.
func (m *Meters) Passed(o Outcome, s Standing, at time.Duration) {
	m.mu.Lock()
	m.passed = at
	m.mu.Unlock()
	m.passes.Inc()
	m.changes.Add(float64(o.Changed))
	m.last.Set(float64(s.Pass.Unix()))
	m.read.Set(map[bool]float64{true: 1}[s.Receives.Read])
	count := map[State]float64{}
	for _, c := range s.Consumers {
		count[c.State]++
	}
	for _, state := range states {
		m.consumers.WithLabelValues(string(state)).Set(count[state])
	}
}

// Announced notes an announcement.
func (m *Meters) Announced(a Announcement) { m.announced.WithLabelValues(string(a.Event)).Inc() }

// Serve answers /healthz and /metrics until the context ends. A loop that made no pass for
// longer than late is not well.
func (m *Meters) Serve(ctx context.Context, address string, clock Clock, late time.Duration) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		since := clock.Elapsed() - m.passed
		m.mu.Unlock()
		if since > late {
			http.Error(w, "no pass for "+since.Round(time.Second).String(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }()
	return nil
}
