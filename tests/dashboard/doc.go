// Package dashboard tests what docs/ gives a user to look at minipg with: it starts Prometheus on docs/prometheus.yml
// and asks it for the expression of every panel of docs/grafana/minipg.json.
package dashboard
