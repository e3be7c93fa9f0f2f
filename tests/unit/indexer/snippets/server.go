// Package server answers requests.
package server

import (
	"context"
	"fmt"

	log "github.com/acme/logging"
	"github.com/acme/shop/store"
)

const (
	// DefaultPort is used when none is given.
	DefaultPort = 8080
	maxBody     = 1 << 20
)

var ErrClosed = errors.New("server: closed")

// Handler answers one request.
type Handler interface {
	Handle(ctx context.Context, req *Request) error
}

// HandlerFunc lets a function be a Handler.
type HandlerFunc func(ctx context.Context, req *Request) error

type (
	// Request is what a client asks.
	Request struct {
		Path string
		Body []byte
	}
	Code = int
)

// Server owns the listeners.
type Server struct {
	*Config
	store   store.Store
	handler Handler
}

// New returns a server that is not started.
func New(cfg *Config, opts ...Option) *Server {
	s := &Server{Config: cfg}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, req *Request) error {
	return f(ctx, req)
}

func (s *Server) Serve(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("server: %v", r)
		}
	}()
	log.Info("serving", DefaultPort)
	return s.loop(ctx)
}

func Map[K comparable, V any](m map[K]V, f func(V) V) map[K]V {
	out := make(map[K]V, len(m))
	for k, v := range m {
		out[k] = f(v)
	}
	return out
}

func (l *List[T]) Push(v T) { l.items = append(l.items, v) }
